// A peer that speaks the worker protocol and reports what it likes: for trials that are not its own, of observations out of
// order, below zero and past the target, with epochs that are over or that never were. The core must lose nothing by it.
#pragma once

#include <functional>

#include "scheduler/scheduler.hpp"
#include "tests/rows/row_store.hpp"
#include "tests/simulation/draw.hpp"
#include "tests/simulation/faults.hpp"
#include "tests/simulation/simulated_clock.hpp"

namespace tuneband::test {

class LyingPeer {
 public:
  using Say = std::function<void(const WorkerSynced&)>;

  // `rows`: where it finds the epochs of others.
  LyingPeer(SimulatedClock& clock, Draw& draw, const Faults& faults, const RowStore& rows, Say say);
  void begin() { lie_later(); }  // until faults.lies is 0

 private:
  void lie_later();
  WorkerSynced lie();
  Epoch some_epoch();
  ReportedObservation some_observation();

  SimulatedClock& clock_;
  Draw& draw_;
  const Faults& faults_;
  const RowStore& rows_;
  Say say_;
};

}  // namespace tuneband::test

// Time for the core: the wall clock, but never going back, neither within a run nor below what stands in the rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "core/time.hpp"

namespace tuneband::server {

Timestamp read_wall_clock();

// When the wall clock falls behind what was already given out, time goes on from there at the wall clock's pace, so that leases
// and limits still run out.
class MonotonicClock {
 public:
  explicit MonotonicClock(std::function<Timestamp()> wall_clock) : wall_clock_(std::move(wall_clock)) {}

  Timestamp now() {
    const std::int64_t wall_ms = wall_clock_().ms;
    if (wall_ms + ahead_ms_ < last_.ms) ahead_ms_ = last_.ms - wall_ms;
    last_.ms = wall_ms + ahead_ms_;
    return last_;
  }

  void not_before(Timestamp floor) { last_ = std::max(last_, floor); }

 private:
  std::function<Timestamp()> wall_clock_;
  Timestamp last_{0};
  std::int64_t ahead_ms_ = 0;  // of the wall clock
};

}  // namespace tuneband::server

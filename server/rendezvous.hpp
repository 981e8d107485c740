// Tells the tracker which groups will come: those of the distributed trials that run.
#pragma once

#include <map>
#include <span>

#include "scheduler/rows.hpp"
#include "server/tracker.hpp"

namespace tuneband::server {

class Rendezvous {
 public:
  explicit Rendezvous(Tracker& tracker) : tracker_(tracker) {}

  // After each commit, before anybody hears of it.
  void on_committed(std::span<const Write> writes);
  void restore(const Snapshot& snapshot);

 private:
  void see(const TrialRow& trial);

  Tracker& tracker_;
  std::map<TrialId, Epoch> expected_;  // a group is named after the epoch with which its session began
};

}  // namespace tuneband::server

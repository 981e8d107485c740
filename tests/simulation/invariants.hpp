// What must hold after every step of the core, whatever happened. Fed with each batch of writes, it throws a Broken with a
// sentence.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>

#include "scheduler/job_spec.hpp"
#include "scheduler/rows.hpp"
#include "scheduler/scheduler.hpp"
#include "tests/rows/row_store.hpp"

namespace tuneband::test {

class Broken : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Invariants {
 public:
  // What workers say of their checkpoints and values is not to be relied on.
  void peers_lie() { peers_lie_ = true; }

  // `before`: the rows before these writes, which are those of one step.
  void check_step(const RowStore& before, std::span<const Write> writes);

  // No worker is free while a running job within its limits has something to do.
  void check_no_idle_worker(const RowStore& rows, const Scheduler& scheduler) const;

  // Of a job that has ended: its counters and bests are what its rows say.
  void check_ended_job(const RowStore& rows, JobId job) const;

 private:
  struct JobFacts {
    JobSpec spec;
    std::map<std::pair<int, int>, int> arrivals;  // by bracket, rung
    std::set<int> running;
    bool held = false;                    // as of the last row
    int max_parallel_trials = 0;          // likewise
    std::set<std::pair<int, int>> begun;  // (trial, rung) that had a segment
    std::optional<std::int64_t> planned;  // resource, where the plan is exact
    std::set<int> in_vain;                // brackets with a result that cannot be the best
    std::map<int, int> substitutes;       // by bracket, of synchronous schedulers: how often a trial went on in the place of such
    std::int64_t reached = 0;             // sum over trials of the resource they are known to have
    std::int64_t repeated = 0;            // trained again after a loss
  };

  void check_job(const JobRow* before, const JobRow& after);
  void check_trial(const TrialRow* before, const TrialRow& after, std::int64_t seen_in_step);
  void check_decision(const DecisionRow* before, const DecisionRow& after);
  static void check_segments(const RowStore& rows, const TrialRow& ended_trial);

  std::map<JobId, JobFacts> jobs_;
  std::map<WorkerId, TrialId> executing_;
  std::set<Epoch> epochs_;
  bool peers_lie_ = false;
};

}  // namespace tuneband::test

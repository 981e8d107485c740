// What a job has had of the workers, for its share of them.
#pragma once

#include <cstdint>

#include "scheduler/rows.hpp"

namespace tuneband {

class WorkerUse {
 public:
  // Worker-milliseconds of segments, and one for each start.
  struct Sum {
    std::int64_t worker_ms = 0;
    std::int64_t segments = 0;  // each counts once a rank
    std::int64_t mean_ms() const { return segments == 0 ? 0 : worker_ms / segments; }
    Sum& operator+=(const Sum& more);
  };
  const Sum& over() const { return over_; }  // of segments that are over

  // Worker-milliseconds at `now`. A segment under way counts as `typical_ms`, or as it has lasted where that is more.
  // `workers_more`: as if so many more were begun.
  std::int64_t at(Timestamp now, std::int64_t typical_ms, int workers_more) const;

  // A trial as it was stored.
  void recall(const TrialRow& trial);
  // Its segment, since begun_at(trial).
  void begin(const TrialRow& trial);
  void end(const TrialRow& trial, std::int64_t lasted_ms);
  // A segment that was over goes on: the same start.
  void go_on(const TrialRow& trial);

 private:
  Sum over_;
  int busy_ = 0;                    // workers, now
  std::int64_t busy_since_ms_ = 0;  // the sum over busy_
};

Timestamp begun_at(const TrialRow& trial);

}  // namespace tuneband

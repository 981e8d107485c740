// Of a job with more trials than are wanted: the best, those that raised the best so far, and others evenly by number; and what
// the job had cost when the value of each came, which its own row does not tell: others had been trained meanwhile, and itself
// more than once where rungs begin anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/ids.hpp"
#include "core/time.hpp"
#include "db/connection.hpp"
#include "scheduler/job_spec.hpp"

namespace tuneband {

// At most `trials_max` (1 or more) numbers of the job's trials, in their order; all when they are so few. A quarter is for the
// best; `also` are among them, as many as there is room for.
std::vector<int> choose_trials(Connection& connection, JobId job, Goal goal, std::size_t trials_max,
                               std::span<const int> also = {});

struct Spent {
  std::int64_t resource = 0;
  std::int64_t worker_ms = 0;  // training time of all workers
};

// A result that was better than all before it, or than those of them from its resource on.
struct RaisedBest {
  Timestamp at;
  int trial = 0;
  double value = 0;
  std::int64_t resource = 0;
  Spent spent;  // by the whole job until then
};

struct CostSoFar {
  std::map<int, Timestamp> arrived;  // when each trial last came to its rung, or to the end
  // By trial that was started: of all segments that were over when it last came to its rung or to the end, or, where it came to
  // neither, ended. Those under way come last.
  std::unordered_map<int, Spent> until;
  std::vector<RaisedBest> raised;  // in the order in which they came
};
CostSoFar cost_so_far(Connection& connection, JobId job, const Objective& objective);

}  // namespace tuneband

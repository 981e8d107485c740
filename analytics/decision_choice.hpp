// Of a job with more decisions than are shown: of each rung the best, the worst and the quantiles between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/time.hpp"
#include "scheduler/rows.hpp"

namespace tuneband {

// A decision without what explains it in words.
struct DecisionShown {
  int trial = 0;
  int bracket = 0;
  int rung = 0;
  std::int64_t resource = 0;
  std::optional<double> value;
  double violation = 0;
  Verdict verdict = Verdict::waiting;
  int rank = 0;
  int filled = 0;
  int slots = 0;
  int keep = 0;
  std::optional<double> cutoff;
  Timestamp at;
};

// All as they are where they are no more than `max`; else by rung, and there by value, those without one last: of each rung its
// share of `max`, but two where it has them.
std::vector<DecisionShown> thinned(std::vector<DecisionShown> all, std::size_t max);

}  // namespace tuneband

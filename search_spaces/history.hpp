// What a job has seen so far, as a sampler may use it: every trial and its results, in the order in which they came. A pure
// function of the job's rows: rebuilt from them after a restart it is the same.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "search_spaces/value.hpp"

namespace tuneband {

class History {
 public:
  struct Result {
    int trial = 0;
    int level = 0;    // index into levels()
    double cost = 0;  // the lesser the better: the objective's value, negated when it is maximised; NaN or infinite: diverged
  };
  struct Trial {
    Configuration configuration;
    std::vector<Result> results;  // by level, ascending
    bool open = true;             // more results may come: it runs or waits
    bool failed = false;          // ended by a failure
  };

  History() = default;
  // The resources at which trials are compared, ascending; the last one is max_resource.
  explicit History(std::vector<std::int64_t> levels) : levels_(std::move(levels)) {}

  const std::vector<std::int64_t>& levels() const { return levels_; }
  // By trial number; enqueued ones are among them.
  const std::vector<Trial>& trials() const { return trials_; }
  // In the order in which they came.
  const std::vector<Result>& results() const { return results_; }

  void add_trial(Configuration configuration);
  // `resource` need not be a level: it counts for the highest level that is not above it, or the lowest one.
  void add_result(int trial, std::int64_t resource, double cost);
  void end_trial(int trial, bool failed);

 private:
  std::vector<std::int64_t> levels_;
  std::vector<Trial> trials_;
  std::vector<Result> results_;
};

}  // namespace tuneband

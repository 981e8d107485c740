// What a job has seen so far, as a sampler may use it: every trial and its results, in the order in which they came. A pure
// function of the job's rows: rebuilt from them after a restart it is the same.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "search_spaces/value.hpp"

namespace tuneband {

// A result as samplers compare it: one that is no number is worse than any other, one that violates constraints worse than any
// that meets them and the better the less it does (Deb, "An efficient constraint handling method for genetic algorithms", 2000).
struct Loss {
  double cost = 0;       // the lesser the better: the objective's value, negated when it is maximised; NaN or infinite: diverged
  double violation = 0;  // of the constraints, 0 or more, not NaN; 0: all are met
  constexpr Loss(double of_cost = 0, double of_violation = 0) : cost(of_cost), violation(of_violation) {}
  bool finite() const { return std::isfinite(cost); }
  bool feasible() const { return finite() && violation == 0; }
  bool operator<(const Loss& other) const;
};

inline constexpr Loss kWorstLoss{std::numeric_limits<double>::infinity(), 0};

// Of each loss its normal score: Phi^-1((rank - 1/2) / n), equal ones at their mean rank.
std::vector<double> normal_scores(const std::vector<Loss>& losses);

// What an earlier job of the same or an overlapping space has seen. Costs are compared within that job alone.
struct PriorObservation {
  Configuration configuration;
  double resource_share = 1;  // of that job's max_resource, in (0, 1]
  double score = 0;           // the normal score of its cost among all results of that job: the lesser the better
  double level_score = 0;     // the same among those at its level
  bool counts = true;         // the trial did not fail there, its value is finite and within the constraints
};

inline constexpr std::size_t kPriorsMax =
    1000;  // of one earlier job, the best ones; what a job is given in all is its caller's choice

class History {
 public:
  struct Result {
    int trial = 0;
    int level = 0;  // index into levels()
    Loss loss;
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
  const std::vector<PriorObservation>& priors() const { return priors_; }
  // In the order in which they came.
  const std::vector<Result>& results() const { return results_; }
  // Trials that go on with another configuration than they began with, in the order in which they were changed.
  const std::vector<int>& reconfigured() const { return reconfigured_; }

  void add_trial(Configuration configuration);
  // `resource` need not be a level: it counts for the highest level that is not above it, or the lowest one.
  void add_result(int trial, std::int64_t resource, Loss loss);
  void end_trial(int trial, bool failed);
  // It goes on with another one, and what it had counts as this one's.
  void reconfigure(int trial, Configuration configuration);
  // Before the first suggestion.
  void add_priors(const std::vector<PriorObservation>& priors);

 private:
  std::vector<std::int64_t> levels_;
  std::vector<Trial> trials_;
  std::vector<Result> results_;
  std::vector<PriorObservation> priors_;
  std::vector<int> reconfigured_;
};

// What another job can learn from this one: of each trial all results, the best kPriorsMax of all. Failed trials count as the
// worst at the level that they did not come to.
std::vector<PriorObservation> priors_of(const History& earlier);

}  // namespace tuneband

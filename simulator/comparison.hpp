// Several ways to search, side by side over the same tables: regret of the best trial so far, by resource spent and by time.
#pragma once

#include <string>
#include <vector>

#include "scheduler/job_spec.hpp"
#include "simulator/chart.hpp"
#include "simulator/curve_table.hpp"
#include "simulator/simulation.hpp"

namespace tuneband {

struct SearchMethod {
  std::string name;
  JobSpec spec;  // its sampler's seed is the base of the seeds of its runs
};

struct ComparisonOptions {
  int workers = 1;
  int seeds = 10;   // runs of each method
  int threads = 1;  // real ones; the result does not depend on them
  // In trainings until max_resource. On the time axis: as long as the workers would need for so many average trainings, each with
  // all its replicas, if none was ever idle.
  std::vector<double> budgets{1, 3, 6, 10, 20, 30, 40};
};

inline constexpr int kSeedsMax = 10'000;

struct MethodRuns {
  std::string name;
  std::vector<SimulationResult> runs;                   // by seed
  std::vector<std::vector<double>> regret_by_resource;  // by budget, then seed
  std::vector<std::vector<double>> regret_by_time;      // by budget, then seed
};

// A mean with half the width of its 95 % interval (Student's t over seeds; 0 for a single one).
struct Estimate {
  double mean = 0;
  double half_width = 0;
};
Estimate estimate(const std::vector<double>& sample);

// By limit, then run: the regret of the best trial when so many units of resource were spent, or so many seconds had passed: of
// its best value then, or of the one that it has at max_resource if that is better.
enum class RegretAxis { resource, seconds };
std::vector<std::vector<double>> regret_at(const std::vector<SimulationResult>& runs, const Regret& regret, RegretAxis axis,
                                           const std::vector<double>& limits);

// Before its first result a run's regret counts as 1, that of the median configuration.
std::vector<MethodRuns> compare(const std::vector<SearchMethod>& methods, const CurveTable& table,
                                const ComparisonOptions& options);

// The mean regret of each method with its interval, by resource spent in units of max_resource.
std::vector<ChartLine> regret_lines(const std::vector<MethodRuns>& methods, const Regret& regret, double max_resource,
                                    double budget);

// Lines "table,method,workers,seed,axis,budget,regret", with a header.
std::string comparison_csv(const std::vector<MethodRuns>& methods, const CurveTable& table, const ComparisonOptions& options);

}  // namespace tuneband

// Recorded learning curves: what each of a fixed set of configurations reached at each resource, and what a unit of it cost.
//
// A table is a CSV file, one line a configuration, its columns in any order:
//   config          an id of the line; needed only where the hyperparameters are in a file of their own
//   <metric>_<r>    the metric at resource r = 1, 2, ...; not every r need be there. An empty cell: not measured; nan: diverged
//   a cost, one of  seconds_per_unit | seconds_<r> | time_<r> | cpu_s_R: of one unit, or of a training until r (R: the last one).
//                   Of several the one of the longest training that the line has it of
//   state           optional; `failed`: the trial failed after its last measured value
//   anything else that is not of the form <name>_<number>: a hyperparameter. An empty cell: it was not active, or was the empty
//   text where a search space has that. With a search space its parameters are hyperparameters, whatever their names are like,
//   and with a wanted metric `time` or `seconds` so are its columns that metric's
//   parameter:<name>, metric:<metric>_<r>: those, whatever the name is like
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/json.hpp"
#include "scheduler/job_spec.hpp"
#include "search_spaces/value.hpp"

namespace tuneband {

struct Curve {
  Configuration configuration;
  std::vector<std::pair<std::int64_t, double>>
      points;  // (resource, value) as measured, by resource; never empty but for failures
  double seconds_per_unit = 1;
  bool failed = false;  // after its last point

  std::int64_t measured_until() const { return points.empty() ? 0 : points.back().first; }
  bool measured_at(std::int64_t resource) const;
  // The value at `resource`; where it was not measured the last one before it. Nothing: all that was measured is of a later one.
  std::optional<double> at(std::int64_t resource) const;
};

struct CurveTable {
  std::string name;
  std::string metric;
  std::vector<std::string> parameters;
  std::string configurations_path;  // of the file that has them; "": the table itself
  std::vector<Curve> curves;
  std::int64_t max_resource = 0;  // the highest that any curve was measured at
  int left_out = 0;               // lines without a single value, that did not fail either

  int measured_at(std::int64_t resource) const;          // how many curves
  std::optional<std::int64_t> measured_from() const;     // the lowest resource that any curve was measured at
  double seconds_of_training(std::int64_t until) const;  // the mean over curves
};

// The column of a hyperparameter, and of a metric at a resource, with the prefix that says so where the name needs it.
std::string parameter_column(const std::string& parameter);
std::string metric_column(const std::string& metric, std::int64_t resource);

struct CurveTableOptions {
  std::string metric;               // "": the only one there is
  std::string configurations_path;  // the hyperparameters, when they are in another file; "": configs.csv(.gz) beside it
  std::string name;                 // "": the file's, without its extensions
  // Cells of its categorical and fixed parameters become those of its values that they are the text of. Without one the cells of
  // a column are integers, numbers or texts, all of them.
  std::optional<SearchSpace> space = std::nullopt;
};

// Errors: what read_csv() says, no curve of that metric, cells that are no numbers, no hyperparameter, a line whose `config` the
// other file does not have, or has twice with different hyperparameters.
Result<CurveTable> load_curve_table(const std::string& path, const CurveTableOptions& options);

// The space that the table's columns span, as a job document writes it: numbers from their least to their greatest value, on the
// scale (linear or logarithmic) in whose middle their median is closer; texts as categories; one value throughout is fixed.
Json space_of(const CurveTable& table);

// Leaves out the curves whose configuration is outside of `space`, and says how many. Numbers become what their domain is.
int keep_within(CurveTable& table, const SearchSpace& space);

// Makes each value the best until there: what a trial has that keeps its best round.
void keep_best_so_far(CurveTable& table, Goal goal);

// How good a configuration or a model is, by what configurations have at `max_resource` (the final value): 0 is the table's best
// one, 1 its median one.
class Regret {
 public:
  Regret(const CurveTable& table, Goal goal, std::int64_t max_resource);

  // Of a curve by index: (final - best) / (median - best), at most 1, so that one that diverged does not rule a mean. One that
  // failed, or was measured only beyond max_resource, counts as one that diverged.
  double of(std::size_t curve) const { return normalised(costs_[curve]); }
  // Of a value that was found at any rung, in the same way; 0 too where it is better than all final ones.
  double of_value(double value) const;
  double best() const { return value_of(best_cost_, goal_); }
  double median() const { return value_of(median_cost_, goal_); }

 private:
  double normalised(double cost) const;

  Goal goal_;
  std::vector<double> costs_;  // by curve; the less the better
  double best_cost_ = 0;
  double median_cost_ = 0;
};

}  // namespace tuneband

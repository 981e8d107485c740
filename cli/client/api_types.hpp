// What the server says (docs/api.md), as far as the command line shows it. Reading is lenient: a field that is missing or of
// another type gets its default, so that an older or newer server can be talked to.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/json.hpp"

namespace tuneband::cli {

struct BestInfo {
  int trial = 0;
  std::optional<double> value;
  std::int64_t resource = 0;
  Json configuration;
  std::optional<double> test_value = {};  // of its model
};

struct TrialCounts {
  std::int64_t created = 0;
  std::int64_t pending = 0;
  std::int64_t running = 0;
  std::int64_t paused = 0;
  std::int64_t completed = 0;
  std::int64_t stopped = 0;
  std::int64_t failed = 0;
  std::int64_t cancelled = 0;
  std::optional<std::int64_t> planned;
  std::int64_t ended() const { return completed + stopped + failed + cancelled; }
};

// A bound on a metric from one side or both.
struct ConstraintInfo {
  std::string metric;
  std::optional<double> min;
  std::optional<double> max;
};

struct JobInfo {
  std::int64_t id = 0;
  std::string name;
  std::string state;
  std::string reason;
  std::optional<std::int64_t> created_ms;
  std::optional<std::int64_t> ended_ms;
  std::string metric;
  bool maximize = true;
  std::vector<std::string> more_metrics;  // of the objectives after the first
  std::vector<ConstraintInfo> constraints;
  std::string scheduler;
  std::int64_t max_resource = 0;
  std::string resource_name;   // "rounds"
  bool rungs_compare = false;  // trials keep the best of all rungs, and are compared by it
  TrialCounts trials;
  std::optional<BestInfo> best;           // at max_resource; where rungs_compare, at any
  std::optional<BestInfo> best_anywhere;  // at any rung
  std::int64_t resource_spent = 0;
  double training_seconds = 0;
  std::optional<double> expected_improvement;                 // of the last suggestion, in the unit of the metric
  std::vector<std::pair<std::string, std::int64_t>> waiting;  // what trials wait for, and how many at least

  std::optional<std::int64_t> queue_position;  // among the jobs that have something to run, from 1

  // What may be changed while it runs.
  bool held = false;
  double weight = 1;
  std::int64_t max_parallel_trials = 0;
  std::optional<double> max_runtime_seconds;

  // As it is shown: a running job that is held, or of which nothing has run yet, says so.
  std::string state_word() const {
    if (state != "running") return state;
    return held ? "held" : trials.created == 0 ? "queued" : state;
  }
  bool ended() const { return state == "completed" || state == "stopped" || state == "failed"; }
  const std::optional<BestInfo>& best_known() const { return best ? best : best_anywhere; }
  // Whatever is finite is better than what is not.
  bool better(double a, double b) const {
    if (!std::isfinite(a) || !std::isfinite(b)) return std::isfinite(a);
    return maximize ? a > b : a < b;
  }
  // From its start to its end, or to `now`.
  double seconds(std::int64_t now) const;
};

struct RungInfo {
  int bracket = 0;
  int rung = 0;
  std::int64_t resource = 0;
  std::optional<std::int64_t> planned;  // nothing: how many come depends on the order of arrival
  std::int64_t reached = 0;
  std::int64_t promoted = 0;
  std::int64_t stopped = 0;
  std::int64_t waiting = 0;
  std::int64_t failed = 0;  // on the way here
};

struct PlanInfo {
  std::vector<std::int64_t> ladder;
  std::vector<RungInfo> actual;  // by bracket, rung
  std::int64_t total_resource = 0;
  std::int64_t front_resource = 0;  // that several objectives may add at most
  std::int64_t total_resource_without_stopping = 0;
  bool restarts = false;  // each rung is a training of its own
  bool exact = false;
  bool bounded = false;  // total_resource is of the whole job, not of one pass of it
};

struct TrialInfo {
  int number = 0;
  std::string state;
  Json configuration;
  std::string origin;
  int bracket = 0;
  int rung = 0;
  std::int64_t resource = 0;
  std::int64_t until_resource = 0;
  std::optional<double> objective;
  std::vector<double> more_objectives;  // of the objectives after the first
  double violation = 0;                 // of the constraints; 0: all are met
  std::int64_t objective_resource = 0;
  std::optional<double> kept_value;  // of the trial's model, where it is that of its best round
  std::int64_t kept_resource = 0;
  std::optional<double> standard_error;  // of kept_value, or else of the objective, where it is a mean
  int attempts = 0;
  int segments = 0;
  int replicas = 1;  // workers of its latest segment
  std::string worker;
  std::string exit_class;  // "" when it did not fail
  std::string message;
  double training_seconds = 0;
  double queue_seconds = 0;
  std::int64_t refit_rounds = 0;  // 0: not told
  Json refit_parameters;
  bool refit_exact = false;

  bool ended() const { return state != "pending" && state != "running" && state != "paused"; }
};

struct SummaryInfo {
  std::int64_t resource_spent = 0;
  double training_seconds = 0;
  double wall_seconds = 0;
  std::int64_t resource_without_stopping = 0;
  std::int64_t resource_saved = 0;
  double training_seconds_saved = 0;
  std::int64_t trials_measured = 0;
  std::int64_t trials_not_finite = 0;  // NaN or infinite
  std::int64_t first_not_finite = 0;   // the number of one, where there is one
  std::int64_t trials_violating = 0;   // of trials_measured: outside of the constraints

  // No result is finite and meets the constraints.
  bool none_counts() const { return trials_not_finite + trials_violating >= trials_measured; }
};

struct BestOfReplicas {
  int trial = 0;
  double objective = 0;
  double training_seconds = 0;
  double worker_seconds = 0;
};

struct ReplicasTotals {
  int replicas = 1;
  std::int64_t trials = 0;
  double worker_seconds = 0;
  std::optional<BestOfReplicas> best;  // at max_resource
};

struct ReplicasReport {
  std::vector<ReplicasTotals> totals;
  std::vector<int> fastest;   // trials that are not dominated in quality and training time
  std::vector<int> cheapest;  // trials that are not dominated in quality and worker time
};

// A trial that none dominates under several objectives.
struct ParetoInfo {
  int trial = 0;
  std::vector<double> values;  // by objective
};

// Failed trials of one class: how many, an example with its message, and what to do.
struct FailureGroup {
  std::string exit_class;
  std::int64_t trials = 0;
  int example = 0;
  std::string message;
  std::string advice;
};

// The best trials crowd at an end of a parameter's range.
struct CrowdedBoundInfo {
  std::string parameter;
  std::string end;  // "min" or "max"
  Json bound;
  std::int64_t trials = 0;
  std::int64_t of = 0;
};

// How a rule of the debugger stands over the job's trials.
struct RuleOfJobInfo {
  std::string rule;
  std::string status;
  std::string details;
  std::int64_t found = 0;               // trials
  std::int64_t judged = 0;              // that are over, and in which it judged and found nothing
  std::int64_t not_judged = 0;          // that are over
  std::optional<std::int64_t> example;  // the first trial of that status
};

struct JobSummary {
  JobInfo job;
  std::optional<TrialInfo> best;
  std::string model;                 // of the best: a path; "" when there is no model file
  std::optional<double> test_value;  // of the best
  PlanInfo plan;
  std::int64_t brackets_left_out = 0;  // of plan.actual
  std::vector<FailureGroup> failures;
  ReplicasReport replicas;
  std::vector<ParetoInfo> pareto;
  std::int64_t pareto_left_out = 0;
  std::vector<CrowdedBoundInfo> crowded_bounds;
  bool importance_known = false;  // there are results enough to ask which parameters matter
  SummaryInfo costs;
  std::vector<RuleOfJobInfo> rules;
};

struct LackInfo {
  std::optional<std::int64_t> job;  // nothing: every one
  std::string message;
};

struct WorkerInfo {
  std::string id;
  std::string name;
  std::string state;
  std::optional<std::int64_t> job;
  std::optional<std::int64_t> trial;
  std::optional<std::int64_t> rank;  // in a distributed trial
  std::optional<std::int64_t> last_seen_ms;
  std::int64_t data_keys = 0;
  std::vector<LackInfo> lacks;
};

JobInfo job_from_json(const Json& json);
PlanInfo plan_from_json(const Json& json);
TrialInfo trial_from_json(const Json& json);
JobSummary job_summary_from_json(const Json& json);
WorkerInfo worker_from_json(const Json& json);

// The elements of json[field], where that is an array; else none.
template <class T>
std::vector<T> list_from_json(const Json& json, const char* field, T (*read)(const Json&)) {
  std::vector<T> items;
  if (!json.is_object() || !json.contains(field) || !json[field].is_array()) return items;
  for (const Json& item : json[field]) items.push_back(read(item));
  return items;
}

}  // namespace tuneband::cli

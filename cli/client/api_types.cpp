#include "cli/client/api_types.hpp"

#include <algorithm>
#include <limits>

#include "cli/format.hpp"
#include "core/time.hpp"

namespace tuneband::cli {

namespace {

std::optional<std::int64_t> maybe_integer(const Json& json, const char* name) {
  const Json& value = member(json, name);
  if (!value.is_number_integer()) return std::nullopt;
  return value.get<std::int64_t>();
}

int int_of(const Json& json, const char* name) {
  constexpr std::int64_t kIntMax = std::numeric_limits<int>::max();
  return static_cast<int>(std::clamp<std::int64_t>(integer_of(json, name), -kIntMax, kIntMax));
}

bool boolean_of(const Json& json, const char* name) {
  const Json& value = member(json, name);
  return value.is_boolean() && value.get<bool>();
}

std::string metric_from_json(const Json& json) { return text_of(json, "metric"); }
double finite_from_json(const Json& json) { return number_from_json(json).value_or(0); }

ConstraintInfo constraint_from_json(const Json& json) {
  return {text_of(json, "metric"), number_of(json, "min"), number_of(json, "max")};
}

std::optional<std::int64_t> time_of(const Json& json, const char* name) { return parse_time(text_of(json, name)); }

std::optional<BestInfo> best_of(const Json& json, const char* name) {
  const Json& value = member(json, name);
  if (!value.is_object()) return std::nullopt;
  BestInfo best;
  best.trial = int_of(value, "trial");
  best.value = number_of(value, "value");
  best.resource = integer_of(value, "resource");
  best.configuration = member(value, "configuration");
  best.test_value = number_of(value, "test_value");
  return best;
}

TrialCounts counts_of(const Json& json) {
  TrialCounts counts;
  counts.created = integer_of(json, "created");
  counts.pending = integer_of(json, "pending");
  counts.running = integer_of(json, "running");
  counts.paused = integer_of(json, "paused");
  counts.completed = integer_of(json, "completed");
  counts.stopped = integer_of(json, "stopped");
  counts.failed = integer_of(json, "failed");
  counts.cancelled = integer_of(json, "cancelled");
  counts.planned = maybe_integer(json, "planned");
  return counts;
}

RungInfo rung_from_json(const Json& json) {
  RungInfo rung;
  rung.bracket = int_of(json, "bracket");
  rung.rung = int_of(json, "rung");
  rung.resource = integer_of(json, "resource");
  rung.planned = maybe_integer(json, "planned");
  rung.reached = integer_of(json, "reached");
  rung.promoted = integer_of(json, "promoted");
  rung.stopped = integer_of(json, "stopped");
  rung.waiting = integer_of(json, "waiting");
  rung.failed = integer_of(json, "failed");
  return rung;
}

template <class Integer>
std::vector<Integer> integers_of(const Json& json, const char* name) {
  std::vector<Integer> values;
  const Json& list = member(json, name);
  if (!list.is_array()) return values;
  for (const Json& value : list) {
    if (value.is_number()) values.push_back(value.get<Integer>());
  }
  return values;
}

}  // namespace

double JobInfo::seconds(std::int64_t now) const {
  if (!created_ms) return 0;
  return seconds_of(std::max<std::int64_t>(0, ended_ms.value_or(now) - *created_ms));
}

JobInfo job_from_json(const Json& json) {
  JobInfo job;
  job.id = integer_of(json, "id");
  job.name = text_of(json, "name");
  job.state = text_of(json, "state");
  job.reason = text_of(json, "reason");
  job.created_ms = time_of(json, "created_at");
  job.ended_ms = time_of(json, "ended_at");
  job.metric = text_of(member(json, "objective"), "metric");
  job.maximize = text_of(member(json, "objective"), "goal") != "minimize";
  job.more_metrics = list_from_json(json, "more_objectives", metric_from_json);
  job.constraints = list_from_json(json, "constraints", constraint_from_json);
  job.scheduler = text_of(json, "scheduler");
  job.max_resource = integer_of(json, "max_resource");
  job.resource_name = text_of(json, "resource_name");
  if (job.resource_name.empty()) job.resource_name = "units";
  job.rungs_compare = boolean_of(json, "rungs_compare");
  job.trials = counts_of(member(json, "trials"));
  job.best = best_of(json, "best");
  job.best_anywhere = best_of(json, "best_anywhere");
  job.resource_spent = integer_of(json, "resource_spent");
  job.training_seconds = number_of(json, "training_seconds").value_or(0);
  job.expected_improvement = number_of(json, "expected_improvement");
  job.held = boolean_of(json, "held");
  job.weight = number_of(json, "weight").value_or(0);
  job.max_parallel_trials = integer_of(json, "max_parallel_trials");
  job.max_runtime_seconds = number_of(json, "max_runtime_seconds");
  if (member(json, "queue_position").is_number_integer()) job.queue_position = integer_of(json, "queue_position");
  const Json& waiting = member(json, "waiting");
  for (auto reason = waiting.begin(); reason != waiting.end(); ++reason) {
    if (waiting.is_object() && reason->is_number_integer()) job.waiting.emplace_back(reason.key(), reason->get<std::int64_t>());
  }
  return job;
}

PlanInfo plan_from_json(const Json& json) {
  PlanInfo plan;
  plan.ladder = integers_of<std::int64_t>(json, "ladder");
  plan.actual = list_from_json(json, "actual", rung_from_json);
  plan.total_resource = integer_of(json, "total_resource");
  plan.front_resource = integer_of(json, "front_resource");
  plan.total_resource_without_stopping = integer_of(json, "total_resource_without_stopping");
  plan.restarts = boolean_of(json, "restarts");
  plan.exact = boolean_of(json, "exact");
  plan.bounded = member(json, "trials").is_number();
  return plan;
}

TrialInfo trial_from_json(const Json& json) {
  TrialInfo trial;
  trial.number = int_of(json, "number");
  trial.state = text_of(json, "state");
  trial.configuration = member(json, "configuration");
  trial.origin = text_of(json, "origin");
  trial.bracket = int_of(json, "bracket");
  trial.rung = int_of(json, "rung");
  trial.resource = integer_of(json, "resource");
  trial.until_resource = integer_of(json, "until_resource");
  trial.objective = number_of(json, "objective");
  trial.more_objectives = list_from_json(json, "more_objectives", finite_from_json);
  trial.violation = number_of(json, "violation").value_or(0);
  trial.objective_resource = integer_of(json, "objective_resource");
  trial.kept_value = number_of(json, "kept_value");
  trial.kept_resource = integer_of(json, "kept_resource");
  trial.standard_error = number_of(json, "standard_error");
  trial.attempts = int_of(json, "attempts");
  trial.segments = int_of(json, "segments");
  trial.replicas = int_of(json, "replicas");
  trial.worker = text_of(json, "worker");
  trial.exit_class = text_of(json, "exit_class");
  trial.message = text_of(json, "message");
  trial.training_seconds = number_of(json, "training_seconds").value_or(0);
  trial.queue_seconds = number_of(json, "queue_seconds").value_or(0);
  const Json& refit = member(json, "refit");
  trial.refit_rounds = integer_of(refit, "rounds");
  trial.refit_parameters = member(refit, "parameters");
  trial.refit_exact = boolean_of(refit, "exact");
  return trial;
}

namespace {

SummaryInfo summary_from_json(const Json& json) {
  SummaryInfo summary;
  summary.resource_spent = integer_of(json, "resource_spent");
  summary.training_seconds = number_of(json, "training_seconds").value_or(0);
  summary.wall_seconds = number_of(json, "wall_seconds").value_or(0);
  summary.resource_without_stopping = integer_of(json, "resource_without_stopping");
  summary.resource_saved = integer_of(json, "resource_saved");
  summary.training_seconds_saved = number_of(json, "training_seconds_saved").value_or(0);
  summary.trials_measured = integer_of(json, "trials_measured");
  summary.trials_not_finite = integer_of(json, "trials_not_finite");
  summary.first_not_finite = integer_of(json, "first_not_finite");
  summary.trials_violating = integer_of(json, "trials_violating");
  return summary;
}

ReplicasTotals replicas_totals_from_json(const Json& json) {
  ReplicasTotals totals;
  totals.replicas = static_cast<int>(integer_of(json, "replicas"));
  totals.trials = integer_of(json, "trials");
  totals.worker_seconds = number_of(json, "worker_seconds").value_or(0);
  if (json.contains("best") && json["best"].is_object()) {
    const Json& best = json["best"];
    totals.best = {static_cast<int>(integer_of(best, "trial")), number_of(best, "objective").value_or(0),
                   number_of(best, "training_seconds").value_or(0), number_of(best, "worker_seconds").value_or(0)};
  }
  return totals;
}

int trial_number_from_json(const Json& json) { return json.is_number_integer() ? json.get<int>() : -1; }

}  // namespace

ParetoInfo pareto_from_json(const Json& json) {
  return {int_of(json, "trial"), list_from_json(json, "values", finite_from_json)};
}

namespace {

FailureGroup failures_from_json(const Json& json) {
  return {text_of(json, "exit_class"), integer_of(json, "trials"), int_of(json, "example"), text_of(json, "message"),
          text_of(json, "advice")};
}

CrowdedBoundInfo crowded_bound_from_json(const Json& json) {
  return {text_of(json, "parameter"), text_of(json, "end"), member(json, "bound"), integer_of(json, "trials"),
          integer_of(json, "of")};
}

RuleOfJobInfo rule_of_job_from_json(const Json& json) {
  const Json& trials = member(json, "trials");
  return {text_of(json, "rule"),
          text_of(json, "status"),
          text_of(json, "details"),
          integer_of(trials, "issues_found"),
          integer_of(trials, "no_issues_found") + integer_of(trials, "stopped"),
          integer_of(trials, "not_judged"),
          maybe_integer(json, "example")};
}

ReplicasReport replicas_from_json(const Json& json) {
  ReplicasReport replicas;
  replicas.totals = list_from_json(json, "totals", replicas_totals_from_json);
  replicas.fastest = list_from_json(json, "non_dominated_by_training_seconds", trial_number_from_json);
  replicas.cheapest = list_from_json(json, "non_dominated_by_worker_seconds", trial_number_from_json);
  return replicas;
}

}  // namespace

JobSummary job_summary_from_json(const Json& json) {
  JobSummary summary;
  summary.job = job_from_json(member(json, "job"));
  if (const Json& best = member(json, "best"); best.is_object()) {
    summary.best = trial_from_json(member(best, "trial"));
    summary.model = text_of(best, "model");
    summary.test_value = number_of(best, "test_value");
  }
  summary.plan = plan_from_json(member(json, "plan"));
  summary.brackets_left_out = integer_of(member(json, "plan"), "actual_brackets_left_out");
  summary.failures = list_from_json(json, "failures", failures_from_json);
  summary.replicas = replicas_from_json(member(json, "replicas"));
  summary.pareto = list_from_json(json, "pareto", pareto_from_json);
  summary.pareto_left_out = integer_of(json, "pareto_left_out");
  summary.crowded_bounds = list_from_json(json, "crowded_bounds", crowded_bound_from_json);
  const Json& importance = member(json, "importance");
  const std::int64_t needed = integer_of(importance, "results_needed");
  summary.importance_known = needed > 0 && integer_of(importance, "results") >= needed;
  summary.costs = summary_from_json(member(json, "summary"));
  summary.rules = list_from_json(json, "rules", rule_of_job_from_json);
  return summary;
}

LackInfo lack_from_json(const Json& json) { return {maybe_integer(json, "job"), text_of(json, "message")}; }

WorkerInfo worker_from_json(const Json& json) {
  WorkerInfo worker;
  worker.id = text_of(json, "id");
  worker.name = text_of(json, "name");
  worker.state = text_of(json, "state");
  worker.job = maybe_integer(json, "job");
  worker.trial = maybe_integer(json, "trial");
  worker.rank = maybe_integer(json, "rank");
  worker.last_seen_ms = time_of(json, "last_seen_at");
  worker.data_keys = integer_of(json, "data_keys");
  worker.lacks = list_from_json(json, "lacks", lack_from_json);
  return worker;
}

}  // namespace tuneband::cli

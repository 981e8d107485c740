#include "scheduler/trial_values.hpp"

#include <cmath>
#include <limits>

namespace tuneband {

namespace {

// As its trainer tells it beside the objective, under the objective's name with kStandardErrorEnding. Nothing: it does not.
std::optional<double> standard_error(const JobSpec& spec, const Metrics& metrics) {
  const auto found = find_metric(metrics, spec.objective.metric + kStandardErrorEnding);
  return found && std::isfinite(*found) && *found >= 0 ? found : std::nullopt;
}

}  // namespace

void note_objectives(const JobSpec& spec, TrialRow& trial, const Metrics& metrics) {
  if (!spec.keeps_best) trial.standard_error = standard_error(spec, metrics);
  trial.violation = spec.violation(metrics);
  trial.more_objectives.clear();
  for (const Objective& objective : spec.more_objectives) {
    const auto value = find_metric(metrics, objective.metric);
    trial.more_objectives.push_back(value.value_or(std::numeric_limits<double>::quiet_NaN()));
  }
}

void take_model(const JobSpec& spec, TrialRow& trial, const AssignmentReport& report) {
  if (!spec.keeps_best && trial.objective_resource == trial.until_resource) trial.test_value = report.test_value;
  if (spec.keeps_best && report.kept) keep(spec, trial, *report.kept, report.test_value);
}

std::optional<double> value_to_better(const JobSpec& spec, const TrialRow& trial) {
  const bool in_full = trial.until_resource == spec.scheduler.max_resource;
  return in_full && spec.full_alone() ? std::nullopt : trial.kept_value;
}

std::optional<double> value_of_kept(const JobSpec& spec, const TrialRow& trial, const ReportedObservation& kept) {
  const auto value = find_metric(kept.metrics, spec.objective.metric);
  const bool counts = value && std::isfinite(*value) && kept.resource >= 1 && kept.resource <= trial.resource;
  return counts ? value : std::nullopt;
}

void keep(const JobSpec& spec, TrialRow& trial, const ReportedObservation& kept, std::optional<double> test_value) {
  const auto value = value_of_kept(spec, trial, kept);
  if (!value || trial.objective_resource != trial.until_resource) return;
  trial.objective = value;
  trial.best_resource = kept.resource;
  const auto before = value_to_better(spec, trial);
  if (before && !spec.objective.better(*value, *before)) return;
  trial.kept_value = value;
  trial.kept_resource = kept.resource;
  trial.kept_until_resource = trial.until_resource;
  trial.kept_eta.reset();
  trial.test_value = test_value;
  trial.standard_error = standard_error(spec, kept.metrics);
}

bool meets_target(const JobSpec& spec, const Metrics& metrics) {
  const Objective& objective = spec.objective;
  const auto value = find_metric(metrics, objective.metric);
  return objective.target && value && std::isfinite(*value) && !objective.better(*objective.target, *value) &&
         spec.violation(metrics) == 0;
}

}  // namespace tuneband

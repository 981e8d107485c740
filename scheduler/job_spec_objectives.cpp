// Objectives and constraints of a job's document.
#include <algorithm>
#include <set>

#include "core/text.hpp"
#include "scheduler/job_spec_parts.hpp"
#include "scheduler/plan.hpp"

namespace tuneband {

namespace {

Constraint read_constraint(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  Constraint constraint;
  ObjectReader reader(json, path, diagnostics);
  reader.require_present("metric");
  constraint.metric = reader.text_or("metric", "", {1, kMetricNameSizeMax});
  constraint.min = reader.number("min");
  constraint.max = reader.number("max");
  reader.finish();
  if (json.is_object() && !json.contains("min") && !json.contains("max")) {
    diagnostics.error(path, "bounds nothing", "give `min`, `max` or both");
  } else if (constraint.min && constraint.max && *constraint.min > *constraint.max) {
    diagnostics.error(reader.path_to("min"),
                      "expected at most max (" + format_number(*constraint.max) + "), got " + format_number(*constraint.min));
  }
  return constraint;
}

void read_constraints(const Json& json, const std::string& path, std::vector<Constraint>& constraints, Diagnostics& diagnostics) {
  if (!json.is_array() || json.empty() || json.size() > kConstraintsMax) {
    const std::string got = json.is_array() ? std::to_string(json.size()) + " of them" : excerpt(json);
    diagnostics.error(path, "expected a list of 1 to " + std::to_string(kConstraintsMax) + " constraints, got " + got);
    return;
  }
  for (std::size_t i = 0; i < json.size(); ++i) {
    constraints.push_back(read_constraint(json[i], join_path(path, i), diagnostics));
    const std::string& metric = constraints.back().metric;
    const bool twice = std::any_of(constraints.begin(), constraints.end() - 1,
                                   [&](const Constraint& earlier) { return !metric.empty() && earlier.metric == metric; });
    if (twice) {
      diagnostics.error(join_path(join_path(path, i), "metric"), excerpt(metric) + " is bounded already",
                        "give min and max together");
    }
  }
}

// Its constraints are added to those there are.
Objective read_objective(const Json& json, const std::string& path, std::vector<Constraint>& constraints,
                         Diagnostics& diagnostics) {
  static const std::vector<std::string> kGoals{"maximize", "minimize"};
  Objective objective;
  ObjectReader reader(json, path, diagnostics);
  reader.also_called("metric", {"name", "metric_name", "objective_metric"});
  reader.also_called("goal", {"direction", "mode", "type"});
  reader.require_present("metric");
  reader.require_present("goal");
  objective.metric = reader.text_or("metric", "", {1, kMetricNameSizeMax});
  objective.goal = static_cast<Goal>(reader.word("goal", kGoals).value_or(0));
  objective.target = reader.number("target");
  if (const Json* bounds = reader.find("constraints")) {
    read_constraints(*bounds, reader.path_to("constraints"), constraints, diagnostics);
  }
  reader.finish();
  return objective;
}

}  // namespace

void read_objectives(ObjectReader& reader, JobSpec& spec) {
  Diagnostics& diagnostics = reader.diagnostics();
  const Json* several = reader.find("objectives");
  if (several == nullptr) {
    const Json* one = reader.require("objective", "an object with `metric` and `goal`");
    if (one != nullptr) spec.objective = read_objective(*one, "objective", spec.constraints, diagnostics);
    return;
  }
  if (reader.has("objective")) {
    diagnostics.error("objectives", "stands beside `objective`", "give one of both");
    return;
  }
  if (!several->is_array() || several->size() < 2 || several->size() > kObjectivesMax) {
    const std::string got = several->is_array() ? std::to_string(several->size()) + " of them" : excerpt(*several);
    diagnostics.error("objectives", "expected a list of 2 to " + std::to_string(kObjectivesMax) + " objectives, got " + got);
    return;
  }
  std::set<std::string> metrics;
  for (std::size_t i = 0; i < several->size(); ++i) {
    const std::string path = join_path("objectives", i);
    Objective objective = read_objective((*several)[i], path, spec.constraints, diagnostics);
    if (objective.target) {
      diagnostics.error(join_path(path, "target"),
                        "has no meaning with several objectives: a trial may reach it and be far from "
                        "the others",
                        "leave it out");
    }
    if (!objective.metric.empty() && !metrics.insert(objective.metric).second) {
      diagnostics.error(join_path(path, "metric"), excerpt(objective.metric) + " is an objective already");
    }
    if (i == 0) {
      spec.objective = std::move(objective);
    } else {
      spec.more_objectives.push_back(std::move(objective));
    }
  }
}

void check_objectives(JobSpec& spec, Diagnostics& diagnostics) {
  const SchedulerType type = spec.scheduler.type;
  const std::string named = "`" + std::string(to_string(type)) + "`";
  if (!spec.constraints.empty() && type == SchedulerType::median_stopping) {
    diagnostics.error("scheduler.type", named + " compares averages of values, which cannot say how constraints are met",
                      "use `auto`");
  }
  if (spec.scheduler.early_end && (!spec.constraints.empty() || !spec.more_objectives.empty())) {
    diagnostics.error("scheduler.early_end", "is by one value, and here constraints or other objectives count too",
                      "leave it out");
  }
  if (spec.keeps_best && (!spec.constraints.empty() || !spec.more_objectives.empty())) {
    diagnostics.error("trainer.keep", "a best round is by one value, and here constraints or other objectives count too",
                      "use last");
  }
  if (spec.more_objectives.empty()) return;
  for (const Objective& objective : spec.more_objectives) spec.scheduler.more_goals.push_back(objective.goal);
  const bool differences =
      type == SchedulerType::median_stopping || type == SchedulerType::pasha || type == SchedulerType::async_hyperband;
  if (differences) {
    diagnostics.error("scheduler.type", named + " compares values, and there is no single one with several objectives",
                      "use `auto`, `asha_promotion`, `asha_stopping`, `hyperband` or `successive_halving`");
  }
  if (type == SchedulerType::automatic) {
    spec.scheduler.rung_audit = false;
    spec.scheduler.promotion = Promotion::value;
  }
  if (spec.scheduler.promotion == Promotion::prediction) {
    diagnostics.error("scheduler.promotion", "`prediction` is of one value, and there is no single one with several objectives",
                      "use `value`");
  }
  if (type == SchedulerType::asha_delayed && spec.scheduler.rung_audit) {
    diagnostics.error("scheduler.rung_audit", "compares values, and there is no single one with several objectives",
                      "leave it out");
  }
  if (spec.limits.convergence) {
    diagnostics.error("limits.convergence", "needs a single objective, in whose unit its tolerance is", "leave it out");
  }
  const auto bound = trials_bound(spec);
  if (!bound || *bound > kTrialsOfSeveralObjectivesMax) {
    diagnostics.error("limits.max_trials",
                      "with several objectives a job starts at most " + std::to_string(kTrialsOfSeveralObjectivesMax) + " trials",
                      "give max_trials");
  }
}

}  // namespace tuneband

#include "analytics/row_json.hpp"

#include <algorithm>

#include "db/row_columns.hpp"

namespace tuneband {

namespace {

void write_objective(JsonWriter& json, const Objective& objective) {
  json.begin_object().field("metric", objective.metric);
  json.field("goal", objective.goal == Goal::minimize ? "minimize" : "maximize").end_object();
}

void write_objectives(JsonWriter& json, const ParsedJob* parsed) {
  json.key("objective");
  write_objective(json, parsed ? parsed->spec.objective : Objective());
  json.key("more_objectives").begin_array();
  if (parsed) {
    for (const Objective& objective : parsed->spec.more_objectives) write_objective(json, objective);
  }
  json.end_array();
  json.key("constraints").begin_array();
  if (parsed) {
    for (const Constraint& constraint : parsed->spec.constraints) {
      json.begin_object()
          .field("metric", constraint.metric)
          .field("min", constraint.min)
          .field("max", constraint.max)
          .end_object();
    }
  }
  json.end_array();
}

void write_counts(JsonWriter& json, const JobRow& row, const JobSurroundings& around) {
  json.key("trials").begin_object();
  json.field("created", row.trials_created);
  json.field("pending", around.pending);
  json.field("running", around.running);
  json.field("paused", around.paused);
  json.field("completed", row.trials_completed);
  json.field("stopped", row.trials_stopped);
  json.field("failed", row.trials_failed);
  json.field("cancelled", row.trials_cancelled);
  json.field("planned", around.parsed ? around.parsed->plan.trials : std::nullopt);
  json.end_object();
}

void write_best(JsonWriter& json, std::string_view name, const std::optional<BestRow>& best, std::string_view configuration) {
  json.key(name);
  if (!best) {
    json.null();
    return;
  }
  json.begin_object().field("trial", best->trial).field("value", best->value).field("resource", best->resource);
  json.key("configuration").raw(configuration).end_object();
}

}  // namespace

std::int64_t queue_ms(const TrialRow& trial, Timestamp now) {
  std::int64_t with_worker_ms = trial.assigned_ms;
  if (trial.assigned_at) with_worker_ms += now - *trial.assigned_at;
  return std::max<std::int64_t>(0, trial.ended_at.value_or(now) - trial.created_at - with_worker_ms);
}

void write_job_fields(JsonWriter& json, const JobRow& row, const JobSurroundings& around) {
  const ParsedJob* parsed = around.parsed.get();
  json.field("id", row.id.value);
  json.field("name", row.name);
  json.field("state", to_string(row.state));
  json.field("reason", row.reason);
  json.field("created_at", row.created_at);
  json.field("ended_at", row.ended_at);
  write_objectives(json, parsed);
  json.field("scheduler", parsed ? to_string(parsed->spec.scheduler.type) : "");
  json.field("max_resource", parsed ? parsed->spec.scheduler.max_resource : 0);
  json.field("resource_name", parsed ? parsed->resource_name : "units");
  write_counts(json, row, around);
  write_best(json, "best", row.best, around.best_configuration);
  write_best(json, "best_anywhere", row.best_anywhere, around.best_anywhere_configuration);
  json.field("resource_spent", row.resource_spent);
  json.field("training_seconds", seconds(row.training_ms));
  json.field("expected_improvement", row.expected_improvement);
  json.field("note", around.note);
}

void write_trial(JsonWriter& json, const TrialRow& row, std::string_view configuration_json, Timestamp now,
                 const std::optional<std::string>& note, std::string_view would_fit) {
  json.begin_object();
  json.field("job", row.id.job.value);
  json.field("number", row.id.number);
  json.field("state", to_string(row.state));
  json.key("configuration").raw(configuration_json);
  json.field("origin", row.origin);
  json.field("bracket", row.bracket);
  json.field("rung", row.rung);
  json.field("resource", row.resource);
  json.field("until_resource", row.until_resource);
  json.field("objective", row.objective);
  json.field("objective_resource", row.objective_resource);
  json.field("kept_value", row.kept_value);
  json.field("kept_resource", row.kept_resource);
  json.field("violation", row.violation);
  json.key("more_objectives").raw(values_text(row.more_objectives));
  json.field("attempts", attempts_shown(row));
  json.field("segments", row.attempts_in_all);
  json.field("worker", row.worker.value);
  json.field("replicas", row.replicas());
  json.key("workers").begin_array();
  for (const WorkerId& worker : row.ranks()) {
    if (!worker.value.empty()) json.value(worker.value);
  }
  json.end_array();
  json.field("exit_class", word_of(row.exit_class));
  json.field("message", row.message);
  json.field("advice", row.state == TrialState::failed && row.exit_class ? advice_on(*row.exit_class, would_fit) : "");
  json.field("created_at", row.created_at);
  json.field("started_at", row.started_at);
  json.field("ended_at", row.ended_at);
  json.field("training_seconds", seconds(row.training_ms));
  json.field("queue_seconds", seconds(queue_ms(row, now)));
  if (note) json.field("note", *note);
  json.end_object();
}

std::string advice_on(ExitClass exit_class, std::string_view would_fit) {
  return std::string(would_fit) + (would_fit.empty() ? "" : " ") + std::string(advice(exit_class));
}

void write_decision(JsonWriter& json, const DecisionRow& row) {
  json.begin_object();
  json.field("trial", row.trial.number);
  json.field("bracket", row.bracket);
  json.field("rung", row.rung);
  json.field("resource", row.resource);
  json.field("value", row.value);
  json.field("violation", row.violation);
  json.key("more_values").raw(values_text(row.more_values));
  json.field("verdict", to_string(row.verdict));
  json.field("rank", row.rank);
  json.field("filled", row.filled);
  json.field("slots", row.slots);
  json.field("keep", row.keep);
  json.field("cutoff", row.cutoff);
  json.key("ahead").begin_array();
  for (const int trial : row.ahead) json.value(trial);
  json.end_array();
  json.field("rule", row.rule);
  json.field("at", row.at);
  json.end_object();
}

std::string trial_json(const TrialRow& row, Timestamp now) {
  std::string text;
  JsonWriter json(text);
  write_trial(json, row, configuration_text(row.configuration), now);
  return text;
}

void write_finding(JsonWriter& json, const FindingRow& row) {
  json.begin_object().field("trial", row.trial.number).field("rule", row.rule).field("tensor", row.tensor);
  json.field("step", row.step).field("value", row.value).field("threshold", row.threshold).field("message", row.message);
  json.field("remedy", row.remedy).field("action", row.action).field("at", row.at);
  json.field("webhook", row.webhook.empty() ? std::nullopt : std::optional(row.webhook)).end_object();
}

std::string finding_json(const FindingRow& row) {
  std::string text;
  JsonWriter json(text);
  write_finding(json, row);
  return text;
}

std::string decision_json(const DecisionRow& row) {
  std::string text;
  JsonWriter json(text);
  write_decision(json, row);
  return text;
}

std::string observation_json(const ObservationRow& row) {
  std::string text;
  JsonWriter json(text);
  json.begin_object().field("trial", row.trial.number).field("resource", row.resource).field("objective", row.objective);
  json.key("metrics").begin_object();
  for (const auto& [name, value] : row.metrics) json.field(name, value);
  json.end_object().field("at", row.at).end_object();
  return text;
}

}  // namespace tuneband

#include "analytics/row_json.hpp"

#include <algorithm>

#include "core/time.hpp"
#include "db/row_columns.hpp"

namespace tuneband {

std::string_view to_string(Goal goal) { return goal == Goal::minimize ? "minimize" : "maximize"; }

void write_json(JsonWriter& json, const Value& value) { json.raw(to_json(value).dump()); }

std::int64_t queue_ms(const TrialRow& trial, Timestamp now) {
  std::int64_t with_worker_ms = trial.assigned_ms;
  if (trial.assigned_at) with_worker_ms += now - *trial.assigned_at;
  return std::max<std::int64_t>(0, trial.ended_at.value_or(now) - trial.created_at - with_worker_ms);
}

views::Trial trial_view(const TrialRow& row, Timestamp now) {
  return {row, {configuration_text(row.configuration)}, now, std::nullopt, ""};
}

void write_json(JsonWriter& json, const views::Trial& trial) {
  const TrialRow& row = trial.row;
  json.begin_object();
  json.field("job", row.id.job);
  json.field("number", row.id.number);
  json.field("state", row.state);
  json.field("configuration", trial.configuration);
  json.field("origin", row.origin);
  json.field("bracket", row.bracket);
  json.field("rung", row.rung);
  json.field("resource", row.resource);
  json.field("until_resource", row.until_resource);
  json.field("objective", row.objective);
  json.field("objective_resource", row.objective_resource);
  json.field("kept_value", row.kept_value);
  json.field("kept_resource", row.kept_resource);
  json.field("standard_error", row.standard_error);
  json.field("violation", row.violation);
  json.key("more_objectives").raw(values_text(row.more_objectives));
  json.field("attempts", attempts_shown(row));
  json.field("segments", row.attempts_in_all);
  json.field("worker", row.worker);
  json.field("replicas", row.replicas());
  json.key("workers").begin_array();
  for (const WorkerId& worker : row.ranks()) {
    if (!worker.value.empty()) json.value(worker.value);
  }
  json.end_array();
  json.field("exit_class", row.exit_class);
  json.field("message", row.message);
  json.field("advice", advice_on(row, trial.would_fit));
  json.field("created_at", row.created_at);
  json.field("started_at", row.started_at);
  json.field("ended_at", row.ended_at);
  json.field("training_seconds", seconds_of(row.training_ms));
  json.field("queue_seconds", seconds_of(queue_ms(row, trial.now)));
  if (trial.note) json.field("note", *trial.note);
  if (trial.refit) json.field("refit", *trial.refit);
  json.end_object();
}

void write_json(JsonWriter& json, const views::TableTrial& trial) {
  const TrialRow& row = trial.row;
  json.begin_object();
  json.field("number", row.id.number);
  json.key("parameters").raw(trial.configuration);
  json.field("state", row.state);
  json.field("bracket", row.bracket);
  json.field("rung", row.rung);
  json.field("objective", row.objective);
  json.field("objective_resource", row.objective_resource);
  json.field("violation", row.violation);
  json.key("more_objectives").raw(values_text(row.more_objectives));
  json.field("resource", row.resource);
  json.field("started_at", row.started_at);
  json.field("ended_at", row.ended_at);
  json.field("training_seconds", seconds_of(row.training_ms));
  json.field("worker_seconds", seconds_of(row.training_ms * row.replicas()));
  json.field("queue_seconds", seconds_of(queue_ms(row, trial.now)));
  json.field("attempts", attempts_shown(row));
  json.field("segments", row.attempts_in_all);
  json.field("worker", row.worker);
  json.field("replicas", row.replicas());
  json.end_object();
}

std::string advice_on(const TrialRow& trial, std::string_view would_fit) {
  return trial.state == TrialState::failed && trial.exit_class ? advice_on(*trial.exit_class, would_fit) : "";
}

std::string advice_on(ExitClass exit_class, std::string_view would_fit) {
  return std::string(would_fit) + (would_fit.empty() ? "" : " ") + std::string(advice(exit_class));
}

void write_json(JsonWriter& json, const DecisionRow& row) {
  json.begin_object();
  json.field("trial", row.trial.number);
  json.field("bracket", row.bracket);
  json.field("rung", row.rung);
  json.field("resource", row.resource);
  json.field("value", row.value);
  json.field("violation", row.violation);
  json.key("more_values").raw(values_text(row.more_values));
  json.field("verdict", row.verdict);
  json.field("rank", row.rank);
  json.field("filled", row.filled);
  json.field("slots", row.slots);
  json.field("keep", row.keep);
  json.field("cutoff", row.cutoff);
  json.field("ahead", row.ahead);
  json.field("rule", row.rule);
  json.field("note", row.note);
  json.field("at", row.at);
  json.end_object();
}

void write_json(JsonWriter& json, const FindingRow& row) {
  json.begin_object().field("trial", row.trial.number).field("rule", row.rule).field("tensor", row.tensor);
  if (!row.mode.empty()) json.field("mode", row.mode);
  json.field("step", row.step).field("value", row.value).field("threshold", row.threshold).field("message", row.message);
  json.field("remedy", row.remedy).field("action", row.action).field("at", row.at);
  json.field("webhook", row.webhook.empty() ? std::nullopt : std::optional(row.webhook)).end_object();
}

void write_json(JsonWriter& json, const RuleOfJob& rule) {
  json.begin_object().field("rule", rule.rule).field("type", rule.type).field("action", rule.action);
  json.field("status", rule.status).field("details", rule.details).field("changed_at", rule.changed_at);
  json.key("trials").begin_object();
  for (const auto& [word, trials] : rule.trials) json.field(to_string(word), trials);
  json.end_object().field("example", rule.example).end_object();
}

void write_json(JsonWriter& json, const ObservationRow& row) {
  json.begin_object().field("trial", row.trial.number).field("resource", row.resource).field("objective", row.objective);
  json.field("metrics", row.metrics).field("at", row.at).end_object();
}

void write_json(JsonWriter& json, const views::TrialObservation& one) {
  json.begin_object().field("trial", one.trial);
  write_members(json, one.observation);
  json.end_object();
}

void write_json(JsonWriter& json, const views::PlanAndActual& one) {
  const Json plan = to_json(one.plan);
  json.begin_object();
  for (const auto& [name, value] : plan.items()) json.key(name).raw(value.dump());
  json.field("actual", one.actual).end_object();
}

}  // namespace tuneband

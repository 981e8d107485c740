// The columns of each table of which there is a row struct, listed once: key first.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

#include "scheduler/rows.hpp"

namespace tuneband {

template <class Row, class Like>
concept RowOf = std::is_same_v<std::remove_const_t<Row>, Like>;

// field: a column. number: two, for a value that may be NaN. best: three. metrics: text, left out where the objective is all.
template <RowOf<JobRow> Row, class Columns>
void list_columns(Row& row, Columns& columns) {
  columns.field("id", row.id);
  columns.field("name", row.name);
  columns.field("state", row.state);
  columns.field("reason", row.reason);
  columns.field("starts_no_more", row.starts_no_more);
  columns.field("created_at", row.created_at);
  columns.field("ended_at", row.ended_at);
  columns.field("trials_created", row.trials_created);
  columns.field("trials_completed", row.trials_completed);
  columns.field("trials_stopped", row.trials_stopped);
  columns.field("trials_failed", row.trials_failed);
  columns.field("trials_cancelled", row.trials_cancelled);
  columns.best("best", row.best);
  columns.best("best_anywhere", row.best_anywhere);
  columns.field("resource_spent", row.resource_spent);
  columns.field("training_ms", row.training_ms);
  columns.field("trials_since_improvement", row.trials_since_improvement);
  columns.field("failures_in_a_row", row.failures_in_a_row);
  columns.field("failing_with", row.failing_with);
  columns.field("ending_as", row.ending_as);
  columns.field("last_epoch", row.last_epoch);
  columns.field("expected_improvement", row.expected_improvement);
  columns.field("suggestions_below", row.suggestions_below);
  columns.field("weight", row.weight);
  columns.field("max_parallel_trials", row.max_parallel_trials);
  columns.field("max_runtime_ms", row.max_runtime_ms);
  columns.field("held", row.held);
  columns.field("share_start", row.share_start);
}

template <RowOf<TrialRow> Row, class Columns>
void list_columns(Row& row, Columns& columns) {
  columns.field("job", row.id.job);
  columns.field("number", row.id.number);
  columns.field("state", row.state);
  columns.field("configuration", row.configuration);
  columns.field("origin", row.origin);
  columns.field("bracket", row.bracket);
  columns.field("rung", row.rung);
  columns.field("resource", row.resource);
  columns.field("checkpoint_resource", row.checkpoint_resource);
  columns.field("until_resource", row.until_resource);
  columns.number("objective", row.objective);
  columns.field("objective_resource", row.objective_resource);
  columns.field("attempts", row.attempts);
  columns.field("attempts_in_all", row.attempts_in_all);
  columns.field("epoch", row.epoch);
  columns.field("worker", row.worker);
  columns.field("peers", row.peers);
  columns.field("exit_class", row.exit_class);
  columns.field("message", row.message);
  columns.field("created_at", row.created_at);
  columns.field("started_at", row.started_at);
  columns.field("ended_at", row.ended_at);
  columns.field("assigned_at", row.assigned_at);
  columns.field("training_ms", row.training_ms);
  columns.field("segment_training_ms", row.segment_training_ms);
  columns.field("assigned_ms", row.assigned_ms);
  columns.field("violation", row.violation);
  columns.field("more_objectives", row.more_objectives);
  columns.field("kept_value", row.kept_value);
  columns.field("kept_resource", row.kept_resource);
  columns.field("files_epoch", row.files_epoch);
  columns.field("crash", row.crash);
  columns.field("test_value", row.test_value);
  columns.field("standard_error", row.standard_error);
  columns.field("rules", row.rules);
  columns.field("curve", row.curve);
  columns.field("best_resource", row.best_resource);
  columns.field("kept_until_resource", row.kept_until_resource);
  columns.field("kept_eta", row.kept_eta);
}

template <RowOf<SegmentRow> Row, class Columns>
void list_columns(Row& row, Columns& columns) {
  columns.field("job", row.trial.job);
  columns.field("trial", row.trial.number);
  columns.field("epoch", row.epoch);
  columns.field("attempt", row.attempt);
  columns.field("worker", row.worker);
  columns.field("peers", row.peers);
  columns.field("from_resource", row.from_resource);
  columns.field("until_resource", row.until_resource);
  columns.field("resource", row.resource);
  columns.field("began_at", row.began_at);
  columns.field("ended_at", row.ended_at);
  columns.field("outcome", row.outcome);
}

template <RowOf<ObservationRow> Row, class Columns>
void list_columns(Row& row, Columns& columns) {
  columns.field("job", row.trial.job);
  columns.field("trial", row.trial.number);
  columns.field("resource", row.resource);
  columns.number("objective", row.objective);
  columns.metrics("metrics", row.metrics, row.objective.has_value());
  columns.field("at", row.at);
}

template <RowOf<DecisionRow> Row, class Columns>
void list_columns(Row& row, Columns& columns) {
  columns.field("job", row.trial.job);
  columns.field("trial", row.trial.number);
  columns.field("rung", row.rung);
  columns.field("bracket", row.bracket);
  columns.field("resource", row.resource);
  columns.field("sequence", row.sequence);
  columns.number("value", row.value);
  columns.field("verdict", row.verdict);
  columns.field("rank", row.rank);
  columns.field("filled", row.filled);
  columns.field("slots", row.slots);
  columns.field("keep", row.keep);
  columns.number("cutoff", row.cutoff);
  columns.field("ahead", row.ahead);
  columns.field("rule", row.rule);
  columns.field("at", row.at);
  columns.field("violation", row.violation);
  columns.field("more_values", row.more_values);
  columns.field("note", row.note);
}

template <RowOf<FindingRow> Row, class Columns>
void list_columns(Row& row, Columns& columns) {
  columns.field("job", row.trial.job);
  columns.field("trial", row.trial.number);
  columns.field("rule", row.rule);
  columns.field("sequence", row.sequence);
  columns.field("tensor", row.tensor);
  columns.field("step", row.step);
  columns.number("value", row.value);
  columns.number("threshold", row.threshold);
  columns.field("message", row.message);
  columns.field("remedy", row.remedy);
  columns.field("action", row.action);
  columns.field("at", row.at);
  columns.field("webhook", row.webhook);
  columns.field("mode", row.mode);
}

template <RowOf<EventRow> Row, class Columns>
void list_columns(Row& row, Columns& columns) {
  columns.field("id", row.id);
  columns.field("kind", row.kind);
  columns.field("job", row.job);
  columns.field("trial", row.trial);
  columns.field("worker", row.worker);
  columns.field("resource", row.resource);
  columns.field("value", row.value);
  columns.field("exit_class", row.exit_class);
  columns.field("message", row.message);
  columns.field("at", row.at);
}

template <class Row>
struct Table;
template <>
struct Table<JobRow> {
  static constexpr std::string_view name = "jobs";
  static constexpr std::size_t key_columns = 1;
};
template <>
struct Table<TrialRow> {
  static constexpr std::string_view name = "trials";
  static constexpr std::size_t key_columns = 2;
};
template <>
struct Table<SegmentRow> {
  static constexpr std::string_view name = "segments";
  static constexpr std::size_t key_columns = 3;
};
template <>
struct Table<ObservationRow> {
  static constexpr std::string_view name = "observations";
  static constexpr std::size_t key_columns = 3;
};
template <>
struct Table<DecisionRow> {
  static constexpr std::string_view name = "decisions";
  static constexpr std::size_t key_columns = 3;
};
template <>
struct Table<FindingRow> {
  static constexpr std::string_view name = "findings";
  static constexpr std::size_t key_columns = 3;
};
template <>
struct Table<EventRow> {
  static constexpr std::string_view name = "events";
  static constexpr std::size_t key_columns = 1;
};

}  // namespace tuneband

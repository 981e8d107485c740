// Rows as JSON, in the shapes of docs/api.md. Pure: what stands elsewhere (configurations, notes) comes with them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "analytics/views.hpp"
#include "core/json_writer.hpp"
#include "scheduler/rows.hpp"

namespace tuneband {

// From creation to the end, or to `now`, less the time it was with a worker.
std::int64_t queue_ms(const TrialRow& trial, Timestamp now);

// 1 and how often a segment had to be started again, whatever for; 0: never started. A trial heads for `rung` after one segment
// for each rung below, so what was started beyond those are attempts; before that of its rung is started there may be none.
inline int attempts_shown(const TrialRow& trial) {
  return trial.attempts_in_all == 0 ? 0 : std::max(1, trial.attempts_in_all - trial.rung);
}

// Of a trial that failed so; `would_fit` stands first. Of one that did not fail: "".
std::string advice_on(ExitClass exit_class, std::string_view would_fit);
std::string advice_on(const TrialRow& trial, std::string_view would_fit);

// A trial as live updates tell of it, without its note.
views::Trial trial_view(const TrialRow& row, Timestamp now);

void write_json(JsonWriter& json, const views::Trial& trial);
void write_json(JsonWriter& json, const views::TableTrial& trial);
void write_json(JsonWriter& json, const DecisionRow& row);
void write_json(JsonWriter& json, const FindingRow& row);
void write_json(JsonWriter& json, const RuleOfJob& rule);
// {"trial": number, "resource", "objective", "metrics", "at"}.
void write_json(JsonWriter& json, const ObservationRow& row);
void write_json(JsonWriter& json, const views::TrialObservation& one);
// The fields of the plan, and "actual".
void write_json(JsonWriter& json, const views::PlanAndActual& one);

}  // namespace tuneband

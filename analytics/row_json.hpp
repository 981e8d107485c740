// Rows as JSON, in the shapes of docs/api.md. Pure: what stands elsewhere (counts, other trials' configurations) is passed in.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/json_writer.hpp"
#include "jobs/parsed_job.hpp"
#include "scheduler/rows.hpp"

namespace tuneband {

inline double seconds(std::int64_t ms) { return static_cast<double>(ms) / 1000.0; }

// From creation to the end, or to `now`, less the time it was with a worker.
std::int64_t queue_ms(const TrialRow& trial, Timestamp now);

// 1 and how often a segment had to be started again, after a lost worker or a crash; 0: never started. A trial heads for `rung`
// after one segment for each rung below, so what was started beyond those are attempts.
inline int attempts_shown(const TrialRow& trial) { return trial.attempts_in_all - (trial.attempts_in_all > 0 ? trial.rung : 0); }

// What a Job shows besides its row.
struct JobSurroundings {
  std::shared_ptr<const ParsedJob> parsed;  // nothing: this version cannot read the job's document
  int pending = 0;
  int running = 0;
  int paused = 0;
  std::string best_configuration = "{}";  // JSON
  std::string best_anywhere_configuration = "{}";
  std::string note;
};

// The fields of a Job, without the braces, so that a caller can add some.
void write_job_fields(JsonWriter& json, const JobRow& row, const JobSurroundings& around);

// `note`: nothing: it is left out. `would_fit`: what else there is to advise one that ran out of memory.
void write_trial(JsonWriter& json, const TrialRow& row, std::string_view configuration_json, Timestamp now,
                 const std::optional<std::string>& note = std::nullopt, std::string_view would_fit = "");
// Of a trial that failed so; `would_fit` stands first.
std::string advice_on(ExitClass exit_class, std::string_view would_fit);
void write_decision(JsonWriter& json, const DecisionRow& row);
void write_finding(JsonWriter& json, const FindingRow& row);

// For live updates: Trial without its note, Decision, and {"trial": number, "resource", "objective", "metrics", "at"}.
std::string trial_json(const TrialRow& row, Timestamp now);
std::string decision_json(const DecisionRow& row);
std::string observation_json(const ObservationRow& row);
std::string finding_json(const FindingRow& row);

}  // namespace tuneband

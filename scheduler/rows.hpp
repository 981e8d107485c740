// The rows that a job consists of. The core writes whole rows, the store keeps them, restore() reads them back: there is no
// other state. db/ maps each struct to one table, field by field, under the same names.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/ids.hpp"
#include "core/metrics.hpp"
#include "core/time.hpp"
#include "debugger/rule_standing.hpp"
#include "scheduler/job_spec.hpp"
#include "search_spaces/value.hpp"

namespace tuneband {

enum class JobState { running, stopping, completed, stopped, failed };
enum class TrialState { pending, running, paused, completed, stopped, failed, cancelled };

// How a segment of a trial ended.
enum class ExitClass {
  completed,  // reached until_resource
  stopped,    // because the server desired something else, or the worker was told to end; may be resumed
  out_of_memory,
  nan_metric,
  invalid_parameters,
  data_unreadable,
  no_metric,
  crashed,
  timed_out,
  worker_lost,
  stalled,          // the worker's own call to a file never came back
  stopped_by_rule,  // a rule of the job's debugger stopped it
};

std::string_view to_string(JobState state);
std::string_view to_string(TrialState state);
std::string_view to_string(ExitClass exit_class);
std::optional<JobState> job_state_from(std::string_view text);
std::optional<TrialState> trial_state_from(std::string_view text);
std::optional<ExitClass> exit_class_from(std::string_view text);

bool ended(JobState state);
bool ended(TrialState state);

// Whether another attempt, from the last checkpoint, can help.
bool retryable(ExitClass exit_class);
// What a user can do about it, one sentence.
std::string_view advice(ExitClass exit_class);

// The best value seen and where; by the objective's goal, ties to the lower trial number.
struct BestRow {
  int trial = 0;
  std::int64_t resource = 0;
  double value = 0;
  bool operator==(const BestRow&) const = default;
};

struct JobRow {
  JobId id;
  std::string name;
  std::string spec_json;  // as submitted; written once
  JobState state = JobState::running;
  std::string reason;           // why it is stopping or ended, one sentence; while running: why it starts no more trials
  bool starts_no_more = false;  // while running: new trials are not worth their while; those there are go on
  Timestamp created_at;
  std::optional<Timestamp> ended_at;
  int trials_created = 0;
  int trials_completed = 0;
  int trials_stopped = 0;
  int trials_failed = 0;
  int trials_cancelled = 0;
  std::optional<BestRow> best;           // at max_resource; where trials keep their best round, at any rung
  std::optional<BestRow> best_anywhere;  // at any rung
  std::int64_t resource_spent = 0;       // repeated segments included
  std::int64_t training_ms = 0;          // of all workers together; repeated segments included
  int trials_since_improvement = 0;      // had their first result since `best_anywhere` was last bettered
  int failures_in_a_row = 0;             // trials that failed with `failing_with`, none with a value in between
  std::optional<ExitClass> failing_with;
  std::optional<JobState> ending_as;           // while stopping: completed, stopped or failed
  std::optional<double> expected_improvement;  // of the last suggestion, as the sampler's model sees it; finite, 0 or more
  int suggestions_below = 0;                   // in a row that were below the limit on convergence
  std::int64_t last_epoch = 0;                 // the highest that an assignment of this job had; 0: none yet
  // Of its document, until a user changes them (scheduler/job_changes.hpp).
  double weight = 1;
  int max_parallel_trials = kParallelTrialsDefault;
  std::optional<std::int64_t> max_runtime_ms;
  bool held = false;             // while running: nothing of it runs
  std::int64_t share_start = 0;  // where its share time begins: Job::share_time()
  bool operator==(const JobRow&) const = default;
};

// How far a rule of the job's debugger is in a trial, as its worker said.
struct RuleState {
  debugger::RuleStanding standing;
  Timestamp at;  // since when it says so
  bool operator==(const RuleState&) const = default;
};

// TrialRow::origin.
inline constexpr const char* kOfSampler = "sampler";
inline constexpr const char* kEnqueued = "enqueued";

struct TrialRow {
  TrialId id;
  TrialState state = TrialState::pending;
  Configuration configuration;
  std::string origin;                    // kOfSampler or kEnqueued
  int bracket = 0;                       // index into the plan's brackets
  int rung = 0;                          // the rung it is heading for, or stands at when paused or ended
  std::int64_t resource = 0;             // trained so far, as far as the server knows; back at the checkpoint after a loss
  std::int64_t checkpoint_resource = 0;  // where the next segment starts; 0: from nothing
  Epoch files_epoch;                     // whose segment's directory has its checkpoint and model; 0: none yet
  std::int64_t until_resource = 0;       // the level of `rung`
  std::optional<double> objective;       // at `objective_resource`, the highest rung reached; nothing: none yet; may be NaN
  std::int64_t objective_resource = 0;
  std::optional<double> kept_value;      // of the model that the trial has, the best of its rungs; nothing: keeps the last
  std::int64_t kept_resource = 0;        // the resource that this value and the model are of
  std::int64_t kept_until_resource = 0;  // that their training was to come to; 0: none, or not known
  std::optional<double> kept_eta;        // its learning rate, where it is not that of `configuration` any more
  std::int64_t best_resource = 0;        // that the best value of its latest training is of, where the best counts; 0: not told
  std::optional<double> test_value;  // of that model, on rows that no search sees: nothing may be decided by it; nothing: none
  std::optional<double> standard_error;  // of kept_value, or of the objective where the last is kept; nothing: not told
  double violation = 0;                  // of the constraints, at `objective_resource`; 0: all are met, or there are none
  std::vector<double> more_objectives;   // the values of the objectives after the first, at `objective_resource`
  int attempts = 0;                      // starts of the current segment; 0 after a rung was reached
  int attempts_in_all = 0;               // segments started
  Epoch epoch;                           // of the assignment under way, or of the last one; 0: none yet
  WorkerId worker;                       // that executes or executed it last, of a group rank 0; "": none yet
  std::vector<WorkerId> peers;           // of a group: ranks 1, 2, ...
  std::optional<ExitClass> exit_class;   // why it failed, or why its last attempt did
  std::string message;                   // what the trainer said of it
  std::string crash;                     // how and where its last attempt crashed: "signal 11 at resource 3"; "": it did not
  Timestamp created_at;
  std::optional<Timestamp> started_at;  // first assigned
  std::optional<Timestamp> ended_at;
  std::optional<Timestamp> assigned_at;    // of the assignment under way
  std::int64_t training_ms = 0;            // as workers measured it, of a group one rank; repeated segments included
  std::int64_t segment_training_ms = 0;    // the part of it that is of the assignment under way
  std::int64_t assigned_ms = 0;            // wall time under assignments that are over
  std::vector<RuleState> rules{};          // how far each is; empty: nothing was said of them
  std::vector<double> curve{};             // of jobs that end full trainings early: scheduler/early_end.hpp
  bool operator==(const TrialRow&) const;  // NaN objective equals NaN

  int replicas() const { return 1 + static_cast<int>(peers.size()); }  // of the last assignment
  std::vector<WorkerId> ranks() const;
};

// What one assignment had of a trial: who trained it, from when until when. Keyed by (trial, epoch); written when it begins and
// when it is over, and once more when a worker that was thought lost goes on with it.
struct SegmentRow {
  TrialId trial;
  Epoch epoch;
  int attempt = 0;  // TrialRow::attempts
  WorkerId worker;  // of a group rank 0
  std::vector<WorkerId> peers;
  std::int64_t from_resource = 0;
  std::int64_t until_resource = 0;
  std::int64_t resource = 0;  // where it came to; while it is under way where it began
  Timestamp began_at;
  std::optional<Timestamp> ended_at;
  std::optional<std::string> outcome;  // "reached_rung", "completed", "cancelled", "given_back", or the exit class that ended it
  bool operator==(const SegmentRow&) const = default;
};

// First report for (trial, resource) counts, but for one that `replaces` what an earlier segment of the trial had there.
struct ObservationRow {
  TrialId trial;
  std::int64_t resource = 0;
  std::optional<double> objective;  // nothing: the objective's metric was not in this report
  Metrics metrics;                  // the others, and the objective too
  Timestamp at;
  bool replaces = false;  // not stored
};

// Why, of jobs and trials.
inline constexpr const char* kStoppedByTheUser = "stopped by the user";
// JobRow::reason of a job that starts no more because somebody wanted that.
inline constexpr const char* kNoMoreForTheUser = "the user wants no more trials";

enum class Verdict { waiting, promoted, stopped, completed };
std::string_view to_string(Verdict verdict);
std::optional<Verdict> verdict_from(std::string_view text);

// One filled slot of a rung, and the decision on it with what explains it. Keyed by (trial, rung).
struct DecisionRow {
  TrialId trial;
  int bracket = 0;
  int rung = 0;
  std::int64_t resource = 0;        // the rung's level
  std::int64_t sequence = 0;        // order of arrival in the job, 0, 1, 2...
  std::optional<double> value;      // nothing: the trial failed before this rung
  double violation = 0;             // of the constraints; 0: all are met
  std::vector<double> more_values;  // of the objectives after the first
  Verdict verdict = Verdict::waiting;
  int rank = 0;                  // 1 = best, among `filled` when decided; 0: it waits, or was withdrawn while it did
  int filled = 0;                // slots with a result when decided
  int slots = 0;                 // slots of the rung; 0: unbounded (asynchronous)
  int keep = 0;                  // how many the rule lets go on
  std::optional<double> cutoff;  // the value of the last one that goes on, where there is one
  std::vector<int> ahead;        // up to kAheadMax trials ranked before it, best first
  std::string rule;              // the rule in words, one sentence
  std::string note;              // what of the trial is changed as it goes on, one sentence; "": nothing
  Timestamp at;                  // of the verdict; of arrival while waiting
  bool operator==(const DecisionRow&) const;

  bool withdrawn() const { return verdict == Verdict::stopped && rank == 0; }
};
inline constexpr std::size_t kAheadMax = 10;

// FindingRow::webhook.
inline constexpr const char* kWebhookPending = "pending";
inline constexpr const char* kWebhookDelivered = "delivered";
inline constexpr const char* kWebhookFailed = "failed";

// What a rule of the job's debugger found in a trial, the first time. Keyed by (trial, rule).
struct FindingRow {
  TrialId trial;
  std::string rule;           // its name in the job
  std::int64_t sequence = 0;  // order of arrival in the job, 0, 1, 2...
  std::string tensor;
  std::string mode;  // of the tensor: "train", "validation", "predict"; "": none, or not known
  std::int64_t step = 0;
  std::optional<double> value;      // may be NaN
  std::optional<double> threshold;  // that it was held against
  std::string message;
  std::string remedy;
  std::string action;   // "note", "stop_trial", "stop_job"
  std::string webhook;  // "": the rule has none; "pending", "delivered", "failed": written around the core once it is known
  Timestamp at;
  bool operator==(const FindingRow&) const;
};

struct DeleteJob {
  JobId job;
};

enum class EventKind {
  job_submitted,       // message: its name
  job_improved,        // trial, resource, value: better than all before it, at any rung
  job_changed,         // message: what the user changed
  job_starts_no_more,  // message: why
  job_stopping,        // message: why
  job_completed,       // message: why, as of the two that follow
  job_stopped,
  job_failed,
  job_deleted,  // message: its name
  trial_created,
  trial_started,  // a segment, on its worker (of a group rank 0), from `resource`
  trial_paused,   // reached its rung, and waits for the verdict
  trial_promoted,
  trial_stopped,
  trial_completed,
  trial_failed,      // exit_class, message
  trial_requeued,    // its attempt ended with exit_class and message: it is tried again
  trial_given_back,  // its worker wanted to end, never began or lacks something, or its job is held: it is started again, at no
                     // charge
  trial_reclaimed,   // its worker was not lost after all, and goes on
  trial_cancelled,
  finding,              // message: "rule: what it found"
  worker_connected,     // message: its name
  worker_disconnected,  // an idle one
  worker_lost,          // message: how; trial: what it had
  worker_released,      // it was told to end, or wanted to
  server_started,
};
std::string_view to_string(EventKind kind);

// One row of the log: what happened, in the commit that made it true. Numbered 1, 2, 3... without gaps, and never changed; the
// oldest go, the newest stays. There is none for an observation.
struct EventRow {
  std::int64_t id = 0;
  EventKind kind = EventKind::server_started;
  std::optional<JobId> job;
  std::optional<int> trial;
  WorkerId worker;                       // "": none
  std::optional<std::int64_t> resource;  // where the trial is
  std::optional<double> value;           // finite
  std::optional<ExitClass> exit_class;
  std::string message;  // of more than kEventMessageSizeMax bytes so many, and "..."
  Timestamp at;
  bool operator==(const EventRow&) const = default;
};
inline constexpr std::size_t kEventMessageSizeMax = 500;

// A job row's spec_json is stored on insert only; later writes of the same job update everything else.
using Write = std::variant<JobRow, TrialRow, SegmentRow, ObservationRow, DecisionRow, FindingRow, EventRow, DeleteJob>;

// Everything restore() needs. Ended jobs come without their documents, trials, segments, decisions and findings. No observations:
// the trials' resources imply them.
struct Snapshot {
  std::vector<JobRow> jobs;
  std::vector<TrialRow> trials;      // by job, number
  std::vector<SegmentRow> segments;  // by job, number: the last one of a trial that runs, or is pending since its worker was lost
  std::vector<DecisionRow> decisions;              // by job, sequence
  std::vector<FindingRow> findings;                // by job, sequence
  std::map<JobId, std::uint64_t> ended_documents;  // of each ended job the stable_hash() of its document
  std::int64_t last_job_id = 0;                    // the highest ever given, deleted jobs included: ids are not used twice
  std::int64_t last_event_id = 0;                  // of the newest row of the log
  Timestamp last_event_at;
};

// The latest moment that the rows tell of: a restored core's time does not begin before it.
Timestamp newest_timestamp(const Snapshot& snapshot);

}  // namespace tuneband

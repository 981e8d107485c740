// What can happen to the core, and what comes out of it: scheduler/scheduler.hpp is the door between the two.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/error.hpp"
#include "core/ids.hpp"
#include "core/metrics.hpp"
#include "core/time.hpp"
#include "debugger/finding.hpp"
#include "debugger/rule_standing.hpp"
#include "scheduler/job_changes.hpp"
#include "scheduler/job_spec.hpp"
#include "scheduler/rows.hpp"
#include "scheduler/suggester.hpp"

namespace tuneband {

// ---- events -------------------------------------------------------------------------------------------------------------------

struct JobSubmitted {
  JobSpec spec;           // valid: parsed without a fault
  std::string spec_json;  // canonical dump of the document; the same name with the same text is the same job
};

struct JobStopRequested {
  JobId job;
};

// Refused with a conflict when the job is being stopped or has ended.
struct JobChangeRequested {
  JobId job;
  JobChanges changes;
};

// One trial of a job that goes on. Refused with a conflict when the trial has ended.
struct TrialStopRequested {
  TrialId trial;
};

// Running: refused with a conflict. Ended: its rows go.
struct JobDeleteRequested {
  JobId job;
};

struct ReportedObservation {
  std::int64_t resource = 0;
  Metrics metrics;
};

// What the worker says of the assignment it has or had.
struct AssignmentReport {
  Epoch epoch;
  std::vector<ReportedObservation> observations;  // unacknowledged ones, in order; repeats are harmless
  std::int64_t checkpoint_resource = 0;           // a checkpoint at this resource is on disk; 0: none
  std::int64_t training_ms = 0;                   // spent in this assignment so far
  std::optional<ExitClass> exit;                  // nothing: executing
  std::string message;                            // of the exit; executing: what is waited for on the worker's machine
  std::int64_t began_resource = 0;                // where the training under way began: what it had in memory, or found
  std::optional<ReportedObservation> kept{};      // with exit: what counts, of the best resource; nothing: of the last
  std::optional<double> test_value{};             // with exit: TrialRow::test_value of the model that the segment leaves
  std::string crash;  // of a crash: its status or signal, as it is told each time it comes again; "": it may not come again
  Epoch files_epoch;  // in whose directory the segment writes: its own, or that of the one that it goes on from in memory
  std::vector<debugger::Finding> findings{};    // unacknowledged ones; repeats are harmless
  std::vector<debugger::RuleStanding> rules{};  // how far they are; empty: no news
};

// What a worker's machine lacks for a job, as the worker says: its directories, its data. It is given none of it until it says so
// no more.
struct Lack {
  std::optional<JobId> job;  // nothing: for every job
  std::string what;          // of scheduler/waiting.hpp
  std::string message;       // a sentence, with the machine

  friend bool operator==(const Lack&, const Lack&) = default;
};

struct WorkerSynced {
  WorkerId worker;
  std::string name;                        // for people
  std::vector<std::string> data_keys;      // parsed data it holds
  std::string address;                     // where the ranks of a group reach it; "": nowhere
  int free_port = 0;                       // free there a moment ago
  std::optional<AssignmentReport> report;  // nothing: idle
  bool draining = false;                   // it wants to end: gives back its trial and is given nothing more
  std::vector<Lack> lacks{};
};

struct WorkerLost {  // its process or connection ended; a lease that ran out is found by TimePassed
  WorkerId worker;
  std::string message;
  bool told = true;                         // false: nobody told it of an assignment that it has not confirmed
  std::string crash = {};                   // as AssignmentReport::crash, when its process did
  ExitClass exit = ExitClass::worker_lost;  // of the segment that it had: out_of_memory where it is known to have ended of that
};

// What a SuggestionWanted asked for.
struct SuggestionMade {
  JobId job;
  int trial = 0;
  Suggestion suggestion;
};

struct TimePassed {};
// Time went on without the server, which was paused, or its clock was set: nobody could be heard, so every lease begins anew.
struct TimeLeapt {};

using Event = std::variant<JobSubmitted, JobChangeRequested, JobStopRequested, TrialStopRequested, JobDeleteRequested,
                           WorkerSynced, WorkerLost, SuggestionMade, TimePassed, TimeLeapt>;

// ---- what comes out -----------------------------------------------------------------------------------------------------------

// One trial segment given to one worker, or to each rank of a group: train from `from_resource` (a checkpoint; 0: from nothing)
// until `until_resource`.
struct Assignment {
  Epoch epoch;
  TrialId trial;
  Configuration configuration;
  std::int64_t from_resource = 0;
  std::int64_t until_resource = 0;
  std::int64_t max_resource = 0;
  std::optional<double> kept_value;  // TrialRow::kept_value
  std::optional<double> best_value;  // that of JobRow::best
  Epoch files_epoch;                 // in whose directory that checkpoint is; 0: as before epochs had directories
  int attempt = 1;
  int rank = 0;
  int world_size = 1;
  std::int64_t session = 0;    // of a group: the epoch with which these workers began, in these ranks, without a failure since
  std::string master_address;  // of rank 0
  int master_port = 0;
  std::shared_ptr<const JobSpec> job;
};

// What this worker should be doing. Always given in answer to a WorkerSynced with a report; to an idle worker only when there is
// work or it may go (the driver holds its call); and unasked when it changes for a worker whose call is held.
struct WorkerReply {
  enum class Desired { idle, execute, drain };
  WorkerId worker;
  Desired desired = Desired::idle;
  std::optional<Assignment> assignment;  // for execute
  bool waits = false;  // its segment is over, and the other ranks' are not: the driver holds the call, as an idle worker's
};

struct JobReply {  // to JobSubmitted and what is requested of a job or trial
  Result<JobId> job;
  bool created = false;  // false: the same job was there already
};

// A trial's configuration is to be computed, which may take a second: while it is, steps go on. The driver calls `make` once, on
// any thread, and hands in a SuggestionMade; it may begin before the commit. It is not told again: what a restart leaves unmade
// is wanted anew, of the history as the rows then have it.
struct SuggestionWanted {
  JobId job;
  int trial = 0;  // the number that it is for
  std::function<Suggestion()> make;
};

using Notice = std::variant<WorkerReply, JobReply, SuggestionWanted>;

struct Outcome {
  std::vector<Write> writes;
  std::vector<Notice> notices;
};

}  // namespace tuneband

// The core: one door. Everything that can happen is an event; everything that must happen is a write or a notice.
//
// The driver's duties, in this order, for each event:
//   1. read the clock once and call step(event, now)
//   2. commit the writes
//   3. deliver the notices
// Nothing is told to anyone before it is on disk. If a commit fails, the process ends and starts again from the rows.
//
// Pure: no clock, no thread, no file, no network. One thread calls it. restore() of what was written equals the state before,
// save for workers: those are known again when they sync or when their lease runs out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/error.hpp"
#include "core/ids.hpp"
#include "core/time.hpp"
#include "scheduler/job_spec.hpp"
#include "scheduler/rows.hpp"

namespace tuneband {

// ---- events -------------------------------------------------------------------------------------------------------------------

struct JobSubmitted {
  JobSpec spec;           // valid: parsed without a fault
  std::string spec_json;  // canonical dump of the document; the same name with the same text is the same job
};

struct JobStopRequested {
  JobId job;
};

// Running: refused with a conflict. Ended: its rows go.
struct JobDeleteRequested {
  JobId job;
};

struct ReportedObservation {
  std::int64_t resource = 0;
  std::vector<std::pair<std::string, double>> metrics;
};

// What the worker says of the assignment it has or had.
struct AssignmentReport {
  Epoch epoch;
  std::vector<ReportedObservation> observations;  // unacknowledged ones, in order; repeats are harmless
  std::int64_t checkpoint_resource = 0;           // a checkpoint at this resource is on disk; 0: none
  std::int64_t training_ms = 0;                   // spent in this assignment so far
  std::optional<ExitClass> exit;                  // nothing: executing
  std::string message;                            // of the exit
};

struct WorkerSynced {
  WorkerId worker;
  std::string name;                        // for people
  std::vector<std::string> data_keys;      // parsed data it holds
  std::string address;                     // where the ranks of a group reach it; "": nowhere
  int free_port = 0;                       // free there a moment ago
  std::optional<AssignmentReport> report;  // nothing: idle
  bool draining = false;                   // it wants to end: gives back its trial and is given nothing more
};

struct WorkerLost {  // its process or connection ended; a lease that ran out is found by TimePassed
  WorkerId worker;
  std::string message;
  bool told = true;  // false: nobody told it of an assignment that it has not confirmed
};

struct TimePassed {};
// Time went on without the server, which was paused, or its clock was set: nobody could be heard, so every lease begins anew.
struct TimeLeapt {};

using Event = std::variant<JobSubmitted, JobStopRequested, JobDeleteRequested, WorkerSynced, WorkerLost, TimePassed, TimeLeapt>;

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

struct JobReply {  // to JobSubmitted, JobStopRequested, JobDeleteRequested
  Result<JobId> job;
  bool created = false;  // false: the same job was there already
};

using Notice = std::variant<WorkerReply, JobReply>;

struct Outcome {
  std::vector<Write> writes;
  std::vector<Notice> notices;
};

struct WorkerView {
  WorkerId id;
  std::string name;
  std::optional<TrialId> trial;
  Epoch epoch;
  int rank = 0;
  int world_size = 1;
  Timestamp last_seen;
  bool draining = false;
  bool occupied = false;  // still ends something that is no longer its own: not free
  std::vector<std::string> data_keys;
};

struct SchedulerOptions {
  std::int64_t lease_ms = 15'000;  // a worker not heard of for so long is lost
  std::size_t jobs_running_max = 1000;
  std::size_t workers_max = 10'000;
  int ended_at_once = 2'000;  // trials that a job's end cancels or stops in one step; the others follow in the next ones
};

class Scheduler {
 public:
  explicit Scheduler(SchedulerOptions options = {});
  ~Scheduler();
  Scheduler(Scheduler&&) noexcept;
  Scheduler& operator=(Scheduler&&) noexcept;

  // Called once, before the first step. `specs`: parsed spec_json of every job of the snapshot that has not ended, by job id.
  void restore(const Snapshot& snapshot, const std::vector<std::pair<JobId, JobSpec>>& specs, Timestamp now);

  Outcome step(const Event& event, Timestamp now);

  // When TimePassed is due at the latest: a lease or a job's max_runtime runs out.
  std::optional<Timestamp> next_deadline() const;

  std::vector<WorkerView> workers() const;
  // Of the free ones: kept free for a group that needs more than there are.
  std::size_t workers_gathered() const;

  // Why a job has trials that wait, by reason ("no free worker", "max_parallel_trials", "rung not full"), for metrics and
  // describe. At least so many: new ones are made when there is a worker for them.
  std::vector<std::pair<std::string, int>> waiting_by_reason(JobId job) const;

  // Its whole state as rows, for tests: equals what was written, but for the documents of ended jobs, which it does not keep.
  Snapshot rows() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tuneband

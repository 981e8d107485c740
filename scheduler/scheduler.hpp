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
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/events.hpp"

namespace tuneband {

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
  // Until its segment is over: at its own pace, else as long as segments of the job usually take. Nothing: no word of either yet.
  std::optional<std::int64_t> left_ms;
  std::vector<std::string> data_keys;
  std::vector<Lack> lacks;  // of jobs that have not ended
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

  // Why a job has trials that wait, by reason (scheduler/waiting.hpp), for metrics and describe. At least so many: new ones are
  // made when there is a worker for them.
  std::vector<std::pair<std::string, int>> waiting_by_reason(JobId job) const;

  // A job's share of the workers against other jobs; 0: there is no such job that has not ended.
  double weight(JobId job) const;

  // Of a job that has something to run: how many jobs have a free worker before it, and itself; 1: the next one is its.
  std::optional<int> queue_position(JobId job) const;
  // Of all those jobs, at the cost of little more than one.
  std::map<JobId, int> queue_positions() const;

  // Of the jobs that have not ended.
  std::vector<std::shared_ptr<const JobSpec>> specs() const;

  // Its whole state as rows, for tests: equals what was written.
  Snapshot rows() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// One step with all the suggestions that it wants, made at once: for drivers whose time stands still meanwhile. Of several
// replies to one worker the last.
Outcome step_with_suggestions(Scheduler& scheduler, const Event& event, Timestamp now);

}  // namespace tuneband

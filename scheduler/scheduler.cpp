#include "scheduler/scheduler.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <unordered_map>

#include "core/check.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "scheduler/fleet.hpp"
#include "scheduler/job.hpp"
#include "scheduler/trial_values.hpp"

namespace tuneband {

namespace {

// A worker that is told of its trial so often and never begins cannot read what it is told: its trial goes to another.
constexpr int kUnawareCallsMax = 5;

// What a trial may wait for on its worker's machine; what else a worker says is told in general, so that reasons are few.
constexpr std::string_view kMachineFaults[] = {"room on a worker's disk",
                                               "a worker's disk that fails",
                                               "data that a worker cannot read",
                                               "file handles on a worker's machine",
                                               "processes on a worker's machine",
                                               "memory on a worker's machine",
                                               "a worker's machine"};

std::string_view known_fault(const std::string& said) {
  if (said.empty()) return "";
  const auto* const found = std::find(std::begin(kMachineFaults), std::end(kMachineFaults), said);
  return found == std::end(kMachineFaults) ? *std::prev(found) : *found;
}

Error job_error(ErrorCode code, std::string message, std::string path = {}, std::string hint = {}) {
  return {code, std::move(message), std::move(path), std::move(hint)};
}

Error no_such_job(JobId job) { return job_error(ErrorCode::not_found, "there is no job " + std::to_string(job.value)); }

// The least share time of those that contend for workers; the largest of all when none does.
class ShareStart {
 public:
  void add(std::int64_t time, bool contends) {
    if (contends) least_ = std::min(time, least_.value_or(time));
    most_ = std::max(time, most_);
  }
  std::int64_t time() const { return least_.value_or(most_); }

 private:
  std::optional<std::int64_t> least_;
  std::int64_t most_ = 0;
};

}  // namespace

struct Scheduler::State {
  // Every job that was not deleted, ended ones too: for names that are taken and the idempotent create.
  struct KnownJob {
    JobId id;
    std::string name;
    std::uint64_t fingerprint = 0;  // of the document
  };

  SchedulerOptions options;
  std::map<JobId, Job> jobs;  // not ended
  std::map<JobId, KnownJob> known;
  std::unordered_map<std::string, JobId> by_name;
  Fleet fleet;
  std::int64_t last_job_id = 0;
  std::int64_t last_event_id = 0;
  Timestamp last_event_at;
  std::vector<JobRow> ended_rows;  // for rows(); without their documents, which nothing asks for again
  std::optional<JobId> gathering;  // the next free workers are this job's, until they are enough for a group

  // Of the step under way.
  Timestamp now;
  std::set<WorkerId> to_answer;
  std::optional<TrialId> just_left;  // its workers have it in memory
  std::optional<JobReply> job_reply;
  std::vector<Write> deletions;
  std::vector<EventRow> events;      // what happened that no job tells of
  std::int64_t mean_segment_ms = 1;  // of all jobs

  Job* find_job(JobId id);
  EventRow& record(EventKind kind, std::optional<JobId> job, std::string message);
  EventRow& record(EventKind kind, const WorkerId& worker, std::string message = {});
  void remember(const JobRow& row);
  void restore_assignments(Job& job);

  void on(const JobSubmitted& event);
  void on(const JobChangeRequested& event);
  void on(const JobStopRequested& event);
  void on(const TrialStopRequested& event);
  void on(const JobDeleteRequested& event);
  void on(const WorkerSynced& event);
  void on(const WorkerLost& event);
  void on(const SuggestionMade& event);
  void on(const TimePassed&);
  void on(const TimeLeapt&);

  void report(Worker& worker, const AssignmentReport& report);
  void reclaim(Worker& worker, const AssignmentReport& report);
  std::optional<ExitClass> exit_of_group(const TrialRow& trial);
  void end_early(TrialId id);
  void end_at_target(TrialId id);
  void end_segment(TrialId id, ExitClass exit, const std::string& message, const std::string& crash = {});
  std::vector<WorkerId> release(const TrialRow& trial, bool unasked = false);
  void lose(const WorkerId& id, EventKind as, const Job::SegmentEnd& end);
  void give_back(Worker& worker);
  void end_sessions(const std::vector<WorkerId>& ranks);
  Assignment assignment_of(const Job& job, const TrialRow& trial) const;
  void assign(const Job& job, const TrialRow& trial, std::int64_t session);

  void note_mean_segment();
  std::int64_t typical_ms(const Job& job) const;
  std::optional<std::int64_t> left_ms(const Assignment& assignment);
  std::int64_t next_share_time(const Job& job) const;
  std::int64_t where_others_are(const Job& job) const;
  Job* neediest_job(const Worker* asking);
  std::size_t workers_kept() const;
  const WorkerId& best_idle_worker(const Job& job) const;
  bool all_idle(const std::vector<WorkerId>& ranks) const;
  std::vector<WorkerId> choose_group(const TrialRow& trial, std::size_t replicas);
  bool place_next(const Worker* asking);
  void answer_workers_of(const Job& job);
  bool may_execute(const Worker& worker) const;  // call only with an assignment
  WorkerReply reply_to(const Worker& worker) const;
  void flush_jobs(Outcome& outcome, std::vector<EventRow>& happened);
  void answer_workers(Outcome& outcome);
  Outcome finish_step();
};

Scheduler::Scheduler(SchedulerOptions options) : state_(std::make_unique<State>()) { state_->options = options; }
Scheduler::~Scheduler() = default;
Scheduler::Scheduler(Scheduler&&) noexcept = default;
Scheduler& Scheduler::operator=(Scheduler&&) noexcept = default;

// ---- restore ------------------------------------------------------------------------------------------------------------------

Job* Scheduler::State::find_job(JobId id) {
  const auto found = jobs.find(id);
  return found == jobs.end() ? nullptr : &found->second;
}

EventRow& Scheduler::State::record(EventKind kind, std::optional<JobId> job, std::string message) {
  EventRow& event = events.emplace_back();
  event.kind = kind;
  event.job = job;
  event.message = std::move(message);
  return event;
}

EventRow& Scheduler::State::record(EventKind kind, const WorkerId& worker, std::string message) {
  EventRow& event = record(kind, std::nullopt, std::move(message));
  event.worker = worker;
  return event;
}

void Scheduler::State::remember(const JobRow& row) {
  known[row.id] = {row.id, row.name, stable_hash(row.spec_json)};
  by_name[row.name] = row.id;
}

void Scheduler::State::restore_assignments(Job& job) {
  for (const int number : job.running_trials()) {
    const TrialRow& trial = job.trial(number);
    for (const WorkerId& id : trial.ranks()) fleet.seen(id, now);  // their leases begin anew
    assign(job, trial, trial.epoch.value);
    for (const WorkerId& id : trial.ranks()) fleet.find(id)->restored = true;
    // Which session they were of is not stored: the next group is set up anew.
    fleet.end_session(trial.epoch.value);
  }
}

void Scheduler::restore(const Snapshot& snapshot, const std::vector<std::pair<JobId, JobSpec>>& specs, Timestamp now) {
  State& state = *state_;
  TUNEBAND_CHECK(state.known.empty(), "restore comes first");
  state.now = now;
  state.last_job_id = snapshot.last_job_id;
  state.last_event_id = snapshot.last_event_id;
  state.last_event_at = snapshot.last_event_at;
  if (snapshot.last_event_id > 0) state.record(EventKind::server_started, std::nullopt, "");  // goes with the first step
  std::map<JobId, Job::Rows> rows;
  for (const TrialRow& trial : snapshot.trials) rows[trial.id.job].trials.push_back(trial);
  for (const SegmentRow& segment : snapshot.segments) rows[segment.trial.job].segments.push_back(segment);
  for (const DecisionRow& decision : snapshot.decisions) rows[decision.trial.job].decisions.push_back(decision);
  for (const FindingRow& finding : snapshot.findings) rows[finding.trial.job].findings.push_back(finding);
  for (const JobRow& row : snapshot.jobs) {
    state.remember(row);
    if (ended(row.state)) {
      state.ended_rows.push_back(row);
      std::string().swap(state.ended_rows.back().spec_json);
      continue;
    }
    const auto spec = std::find_if(specs.begin(), specs.end(), [&](const auto& entry) { return entry.first == row.id; });
    TUNEBAND_CHECK(spec != specs.end(), "every job that has not ended comes with its spec");
    Job job(row, std::make_shared<const JobSpec>(spec->second));
    job.restore(std::move(rows[row.id]));
    state.restore_assignments(state.jobs.emplace(row.id, std::move(job)).first->second);
  }
  state.note_mean_segment();
}

Snapshot Scheduler::rows() const {
  Snapshot snapshot;
  snapshot.last_job_id = state_->last_job_id;
  snapshot.last_event_id = state_->last_event_id;
  snapshot.last_event_at = state_->last_event_at;
  snapshot.jobs = state_->ended_rows;
  for (const auto& [id, job] : state_->jobs) {
    snapshot.jobs.push_back(job.row());
    snapshot.trials.insert(snapshot.trials.end(), job.trials().begin(), job.trials().end());
    for (const auto& [number, segment] : job.segments()) snapshot.segments.push_back(segment);
    snapshot.decisions.insert(snapshot.decisions.end(), job.decisions().begin(), job.decisions().end());
    snapshot.findings.insert(snapshot.findings.end(), job.findings().begin(), job.findings().end());
  }
  std::sort(snapshot.jobs.begin(), snapshot.jobs.end(), [](const JobRow& a, const JobRow& b) { return a.id < b.id; });
  return snapshot;
}

// ---- jobs ---------------------------------------------------------------------------------------------------------------------

void Scheduler::State::on(const JobSubmitted& event) {
  const auto taken = by_name.find(event.spec.name);
  if (taken != by_name.end()) {
    const bool same = known.at(taken->second).fingerprint == stable_hash(event.spec_json);
    job_reply = JobReply{same ? Result<JobId>(taken->second)
                              : Result<JobId>(job_error(ErrorCode::conflict, "another job has the name `" + event.spec.name + "`",
                                                        "name", "choose another name, or delete that job first")),
                         false};
    return;
  }
  if (jobs.size() >= options.jobs_running_max) {
    job_reply = JobReply{
        job_error(ErrorCode::unavailable, std::to_string(jobs.size()) + " jobs are running already", "", "try again later"),
        false};
    return;
  }
  JobRow row;
  row.id = JobId{++last_job_id};
  row.name = event.spec.name;
  row.spec_json = event.spec_json;
  row.weight = event.spec.weight;
  row.max_parallel_trials = event.spec.limits.max_parallel_trials;
  row.max_runtime_ms = event.spec.limits.max_runtime_ms;
  row.created_at = now;
  remember(row);
  const JobId id = row.id;
  Job job(std::move(row), std::make_shared<const JobSpec>(event.spec));
  job.join_others_at(where_others_are(job), 0);
  record(EventKind::job_submitted, id, job.row().name);
  jobs.emplace(id, std::move(job));
  job_reply = JobReply{id, true};
}

void Scheduler::State::on(const JobChangeRequested& event) {
  Job* job = find_job(event.job);
  job_reply = JobReply{event.job, false};
  if (job == nullptr && !known.contains(event.job)) {
    job_reply->job = no_such_job(event.job);
    return;
  }
  if (job == nullptr || job->row().state != JobState::running) {
    job_reply->job = job_error(ErrorCode::conflict, job == nullptr ? "the job has ended" : "the job is being stopped");
    return;
  }
  const bool was_held = job->row().held;
  job->change(event.changes);
  const bool held = job->row().held;
  if (held && !was_held) answer_workers_of(*job);
  if (was_held && !held) job->join_others_at(where_others_are(*job), job->share_time(now, typical_ms(*job), 0));
}

void Scheduler::State::on(const JobStopRequested& event) {
  if (Job* job = find_job(event.job)) {
    job->begin_stopping(JobState::stopped, kStoppedByTheUser);
  } else if (!known.contains(event.job)) {
    job_reply = JobReply{no_such_job(event.job), false};
    return;
  }
  job_reply = JobReply{event.job, false};
}

void Scheduler::State::on(const TrialStopRequested& event) {
  const auto& [job_id, number] = event.trial;
  Job* job = find_job(job_id);
  const bool known_trial = job != nullptr && number >= 0 && number < static_cast<int>(job->trials().size());
  const TrialRow* trial = known_trial ? &job->trial(number) : nullptr;
  job_reply = JobReply{job_id, false};
  if (trial == nullptr) {
    job_reply->job = job_error(ErrorCode::not_found, "no job that goes on has this trial");
  } else if (ended(trial->state)) {
    job_reply->job = job_error(ErrorCode::conflict, "the trial has ended");
  } else if (job->row().state == JobState::running) {  // else its job's end is under way, and its own with it
    if (trial->state == TrialState::running) end_sessions(release(*trial, true));
    job->stop_trial(number, now);
  }
}

void Scheduler::State::on(const JobDeleteRequested& event) {
  const auto found = known.find(event.job);
  if (found == known.end()) {
    job_reply = JobReply{no_such_job(event.job), false};
    return;
  }
  if (find_job(event.job) != nullptr) {
    job_reply = JobReply{
        job_error(ErrorCode::conflict, "the job has not ended", "", "stop it first, and wait until it has ended"), false};
    return;
  }
  record(EventKind::job_deleted, event.job, found->second.name);
  by_name.erase(found->second.name);
  known.erase(found);
  std::erase_if(ended_rows, [&](const JobRow& row) { return row.id == event.job; });
  deletions.emplace_back(DeleteJob{event.job});
  job_reply = JobReply{event.job, false};
}

// ---- workers ------------------------------------------------------------------------------------------------------------------

void Scheduler::State::on(const WorkerSynced& event) {
  if (fleet.find(event.worker) == nullptr && fleet.size() >= options.workers_max) return;  // its call is held: it tries again
  if (fleet.find(event.worker) == nullptr) record(EventKind::worker_connected, event.worker, event.name);
  Worker& worker = fleet.seen(event.worker, now);
  worker.name = event.name;
  worker.data_keys = event.data_keys;
  worker.address = event.address;
  worker.free_port = event.free_port;
  if (event.draining) fleet.set_draining(worker);

  if (event.report) {
    to_answer.insert(worker.id);
    report(worker, *event.report);
  } else if (worker.assignment && worker.confirmed) {
    end_segment(worker.assignment->trial, ExitClass::worker_lost, "the worker no longer knew of the trial");
  } else if (worker.assignment && worker.restored && worker.assignment->world_size > 1) {
    give_back(worker);  // its peers may have begun without it
  } else if (worker.assignment && ++worker.unaware_calls >= kUnawareCallsMax) {
    fleet.set_draining(worker);
  }
  // It has not heard of its assignment, and is not to hear of it any more.
  if (worker.assignment && !worker.confirmed && !may_execute(worker)) give_back(worker);
  const bool executes = event.report && !event.report->exit;
  const bool its_own = worker.assignment && executes && worker.assignment->epoch == event.report->epoch;
  fleet.set_occupied(worker, executes && !its_own);
  if (fleet.idle().contains(worker.id)) place_next(&worker);
  if (worker.assignment || worker.draining) to_answer.insert(worker.id);
}

void Scheduler::State::report(Worker& worker, const AssignmentReport& report) {
  if (!worker.assignment) reclaim(worker, report);
  if (!worker.assignment || worker.assignment->epoch != report.epoch) return;  // stale: the answer says what should be
  worker.confirmed = true;
  worker.files_epoch = report.files_epoch;
  const Assignment& assignment = *worker.assignment;
  Job& job = *find_job(assignment.trial.job);
  job.take_findings(assignment.trial.number, report.findings, now);
  if (assignment.rank == 0) job.take_rules(assignment.trial.number, report.rules, now);
  if (assignment.rank == job.spec()->metric_rank && job.report(assignment.trial.number, report, now)) {
    return end_at_target(assignment.trial);
  }
  worker.waits_for = report.exit ? "" : known_fault(report.message);
  if (!report.exit) return end_early(assignment.trial);
  const bool group = assignment.world_size > 1;
  worker.exit = report.exit;
  worker.exit_message = report.message;
  worker.exit_crash = report.crash;
  if (group && !report.message.empty()) worker.exit_message.insert(0, "rank " + std::to_string(assignment.rank) + ": ");
  const TrialId trial = assignment.trial;
  const auto exit = exit_of_group(job.trial(trial.number));
  if (!exit) return;
  const bool by_this = *exit == *report.exit;
  just_left = trial;
  end_segment(trial, *exit, by_this ? worker.exit_message : "", by_this ? worker.exit_crash : "");
}

// Of a trial that goes on, and will not be the best. Its workers end it when they hear so.
void Scheduler::State::end_early(TrialId id) {
  Job& job = *find_job(id.job);
  const auto word = job.will_not_be_best(id.number);
  if (!word) return;
  release(job.trial(id.number));
  job.end_early(id.number, *word, now);
}

// Of a trial whose value ends its job: its workers end it as above.
void Scheduler::State::end_at_target(TrialId id) {
  Job& job = *find_job(id.job);
  release(job.trial(id.number));
  job.end_at_target(id.number, now);
}

// How the segment has ended, now that one more rank has: by the first failure, or when all of them are done.
std::optional<ExitClass> Scheduler::State::exit_of_group(const TrialRow& trial) {
  std::optional<ExitClass> result = ExitClass::completed;
  for (const WorkerId& id : trial.ranks()) {
    const auto exit = fleet.find(id)->exit;
    if (exit && *exit != ExitClass::completed && *exit != ExitClass::stopped) return exit;
    if (!exit) result.reset();
    if (exit == ExitClass::stopped && result) result = exit;
  }
  return result;
}

void Scheduler::State::end_segment(TrialId id, ExitClass exit, const std::string& message, const std::string& crash) {
  Job& job = *find_job(id.job);
  const TrialRow& trial = job.trial(id.number);
  const Worker* first = fleet.find(trial.worker);
  const bool went_on = first != nullptr && first->assignment && trial.checkpoint_resource > first->assignment->from_resource;
  const Epoch files_epoch = first != nullptr ? first->files_epoch : Epoch{};
  // Before a restart it may have been told to stop: what for is not stored.
  const bool wanted_back = job.wants_back(id.number) || (first != nullptr && first->restored);
  const auto ranks = release(trial);
  const bool failed = exit != ExitClass::completed && exit != ExitClass::stopped;
  bool draining = false;
  for (const WorkerId& rank : ranks) {
    const Worker* worker = fleet.find(rank);
    if (failed && worker != nullptr) fleet.end_session(worker->session);
    draining = draining || (worker != nullptr && worker->draining);
  }
  if (exit == ExitClass::stopped && wanted_back) {
    job.given_back(id.number, now);
  } else if (exit == ExitClass::stopped && draining) {
    job.worker_wants_to_end(id.number, went_on, now);
  } else {
    job.segment_ended(id.number, {exit, message, crash, files_epoch}, now);
  }
}

// Takes the trial from its workers. A rank that is still at it ends when it hears so, and is occupied until then. `unasked`: none
// of them has called; else the call of a single one says what it is at.
std::vector<WorkerId> Scheduler::State::release(const TrialRow& trial, bool unasked) {
  const auto ranks = trial.ranks();
  for (const WorkerId& id : ranks) {
    Worker* worker = fleet.find(id);
    if (worker == nullptr || !worker->assignment || worker->assignment->epoch != trial.epoch) continue;
    const bool executes = (worker->confirmed || worker->restored) && !worker->exit;
    fleet.unassign(*worker);
    if (ranks.size() == 1 && !unasked) continue;
    fleet.set_occupied(*worker, executes);
    to_answer.insert(id);
  }
  return ranks;
}

// A worker was silent for longer than its lease, and comes back with the work that was taken from it: when nobody else has begun,
// it goes on. A segment that it has ended meanwhile counts when it reached its target; else the attempt is already written off.
void Scheduler::State::reclaim(Worker& worker, const AssignmentReport& report) {
  if (report.exit && *report.exit != ExitClass::completed) return;
  Job* job = find_job(job_of(report.epoch));
  if (job == nullptr) return;
  const auto number = job->reclaimable(worker.id, report.epoch);
  if (!number) return;
  job->reclaimed(*number, now);
  assign(*job, job->trial(*number), 0);
}

void Scheduler::State::give_back(Worker& worker) {
  const TrialId trial = worker.assignment->trial;
  Job& job = *find_job(trial.job);
  end_sessions(release(job.trial(trial.number)));
  job.given_back(trial.number, now);
}

void Scheduler::State::end_sessions(const std::vector<WorkerId>& ranks) {
  for (const WorkerId& rank : ranks) {
    if (const Worker* its = fleet.find(rank)) fleet.end_session(its->session);
  }
}

void Scheduler::State::on(const WorkerLost& event) {
  Worker* worker = fleet.find(event.worker);
  const bool unheard = worker != nullptr && worker->assignment && !worker->confirmed && !worker->restored;
  if (unheard && !event.told) give_back(*worker);
  const bool went = !event.told && worker != nullptr && !worker->assignment;
  const EventKind as = went ? EventKind::worker_disconnected : EventKind::worker_lost;
  lose(event.worker, as, {event.exit, event.message, event.crash});
}

// An attempt is charged even when the worker had not said a word of the assignment yet: it may have died of it, and a trial that
// kills every worker it is given to must come to an end.
void Scheduler::State::lose(const WorkerId& id, EventKind as, const Job::SegmentEnd& end) {
  const Worker* worker = fleet.find(id);
  if (worker == nullptr) return;
  const auto assignment = worker->assignment;
  EventRow& event = record(as, id, end.message);
  if (assignment) event.job = assignment->trial.job;
  if (assignment) event.trial = assignment->trial.number;
  fleet.remove(id);
  if (!assignment) return;
  const std::string rank = assignment->world_size > 1 ? "rank " + std::to_string(assignment->rank) + ": " : "";
  end_segment(assignment->trial, end.exit, rank + end.message, end.crash);
}

// Of a job that is gone, nothing comes of it.
void Scheduler::State::on(const SuggestionMade& event) {
  Job* job = find_job(event.job);
  if (job == nullptr || event.trial != static_cast<int>(job->trials().size())) return;
  job->suggested(event.suggestion);
  if (!gathering && job->replicas_at_least() > 1) gathering = event.job;  // its workers were kept
}

void Scheduler::State::on(const TimePassed&) {
  for (auto oldest = fleet.oldest(); oldest && now - oldest->first >= options.lease_ms; oldest = fleet.oldest()) {
    lose(oldest->second, EventKind::worker_lost,
         {ExitClass::worker_lost, "the worker was not heard of for " + std::to_string(options.lease_ms / 1000) + " s"});
  }
  for (auto& [id, job] : jobs) {
    const auto deadline = job.deadline();
    if (deadline && now >= *deadline) job.begin_stopping(JobState::completed, "max_runtime is over");
    if (job.has_some_to_end() && !job.began_stopping()) job.end_some_more(options.ended_at_once, now);
  }
}

void Scheduler::State::on(const TimeLeapt&) { fleet.all_seen(now); }

// ---- placement ----------------------------------------------------------------------------------------------------------------

void Scheduler::State::note_mean_segment() {
  WorkerUse::Sum all;
  for (const auto& [id, job] : jobs) all += job.use().over();
  mean_segment_ms = std::max<std::int64_t>(1, all.mean_ms());
}

// What a segment of this job lasts, in its own experience, or in that of all jobs.
std::int64_t Scheduler::State::typical_ms(const Job& job) const {
  return job.use().over().segments > 0 ? std::max<std::int64_t>(1, job.use().over().mean_ms()) : mean_segment_ms;
}

std::optional<std::int64_t> Scheduler::State::left_ms(const Assignment& assignment) {
  const Job& job = *find_job(assignment.trial.job);
  const TrialRow& trial = job.trial(assignment.trial.number);
  if (!trial.assigned_at) return std::nullopt;
  const std::int64_t lasted_ms = std::max<std::int64_t>(0, now - *trial.assigned_at);
  const std::int64_t done = trial.resource - assignment.from_resource;
  if (done > 0) {
    const auto to_do = static_cast<double>(std::max<std::int64_t>(0, assignment.until_resource - trial.resource));
    return static_cast<std::int64_t>(static_cast<double>(lasted_ms) * to_do / static_cast<double>(done));
  }
  if (job.use().over().segments == 0) return std::nullopt;
  return std::max<std::int64_t>(0, job.use().over().mean_ms() - lasted_ms);
}

// Once its next segment is begun.
std::int64_t Scheduler::State::next_share_time(const Job& job) const {
  return job.share_time(now, typical_ms(job), job.replicas_at_least());
}

// Where a job begins that has had nothing yet, or that was held: with the one that has had the least of those that would run more
// now, so that it neither waits for what they have had before it came nor has to be made up for it; with none, where the last of
// all others is.
std::int64_t Scheduler::State::where_others_are(const Job& job) const {
  ShareStart start;
  for (const auto& [id, other] : jobs) {
    if (&other != &job) start.add(other.share_time(now, typical_ms(other), 0), other.has_work(fleet.usable()));
  }
  return start.time();
}

// The one that would have had the least of the workers for its weight (weighted fair queueing: Demers, Keshav, Shenker, "Analysis
// and simulation of a fair queueing algorithm", SIGCOMM 1989), ties to the oldest. One whose data the worker that asks holds goes
// before, as long as that puts it ahead by no more than one of its segments.
Job* Scheduler::State::neediest_job(const Worker* asking) {
  Job* best = nullptr;
  Job* warm = nullptr;
  std::int64_t best_time = 0;
  std::int64_t warm_time = 0;
  for (auto& [id, job] : jobs) {
    if (!job.has_work(fleet.usable())) continue;
    const std::int64_t time = next_share_time(job);
    if (best == nullptr || time < best_time) {
      best = &job;
      best_time = time;
    }
    const bool holds = asking != nullptr && !job.spec()->data_key.empty() && asking->holds(job.spec()->data_key);
    if (holds && (warm == nullptr || time < warm_time)) {
      warm = &job;
      warm_time = time;
    }
  }
  const bool may_go_before = warm != nullptr && warm_time - best_time <= warm->by_weight(typical_ms(*warm));
  return may_go_before ? warm : best;
}

// Free ones that a job's turn came for whose next trial still waits for its configuration: were they given away meanwhile, slow
// samplers would never get a worker.
std::size_t Scheduler::State::workers_kept() const {
  int kept = 0;
  for (const auto& [id, job] : jobs) {
    if (job.keeps_workers()) kept += job.replicas_at_least();
  }
  return static_cast<std::size_t>(kept);
}

Assignment Scheduler::State::assignment_of(const Job& job, const TrialRow& trial) const {
  Assignment assignment;
  assignment.epoch = trial.epoch;
  assignment.trial = trial.id;
  assignment.configuration = trial.configuration;
  assignment.from_resource = trial.checkpoint_resource;
  assignment.files_epoch = trial.files_epoch;
  assignment.until_resource = trial.until_resource;
  assignment.max_resource = job.spec()->scheduler.max_resource;
  assignment.kept_value = value_to_better(*job.spec(), trial);
  assignment.attempt = trial.attempts;
  assignment.job = job.spec();
  return assignment;
}

// Each worker of the trial gets its rank; the others of a group are to answer to the first.
void Scheduler::State::assign(const Job& job, const TrialRow& trial, std::int64_t session) {
  const auto ranks = trial.ranks();
  Assignment assignment = assignment_of(job, trial);
  if (ranks.size() > 1) {
    const Worker& first = *fleet.find(ranks.front());
    assignment.world_size = static_cast<int>(ranks.size());
    assignment.session = session;
    assignment.master_address = first.address;
    assignment.master_port = first.free_port;
  }
  for (const WorkerId& id : ranks) {
    fleet.assign(*fleet.find(id), assignment);
    ++assignment.rank;
    to_answer.insert(id);
  }
  if (ranks.size() > 1) fleet.begin_session(session, ranks);
}

bool Scheduler::State::all_idle(const std::vector<WorkerId>& ranks) const {
  return std::all_of(ranks.begin(), ranks.end(), [&](const WorkerId& id) { return fleet.idle().contains(id); });
}

// One that holds the job's data; else one that is not warm for a group.
const WorkerId& Scheduler::State::best_idle_worker(const Job& job) const {
  const std::string& key = job.spec()->data_key;
  const WorkerId* best = nullptr;
  for (const WorkerId& id : fleet.idle()) {
    const Worker& worker = fleet.at(id);
    if (!key.empty() && worker.holds(key)) return id;
    if (best == nullptr && worker.session == 0) best = &id;
    if (best != nullptr && key.empty()) break;
  }
  return best != nullptr ? *best : *fleet.idle().begin();
}

// The trial's own workers, which have it in memory; else workers that are set up as a group of this size; else any.
std::vector<WorkerId> Scheduler::State::choose_group(const TrialRow& trial, std::size_t replicas) {
  const auto serves = [&](const std::vector<WorkerId>& ranks) { return ranks.size() == replicas && all_idle(ranks); };
  const auto& sessions = fleet.sessions();
  const Worker* first = fleet.find(trial.worker);
  const auto own = first == nullptr ? sessions.end() : sessions.find(first->session);
  if (own != sessions.end() && own->second == trial.ranks() && serves(own->second)) return own->second;
  const auto ready = std::find_if(sessions.begin(), sessions.end(), [&](const auto& entry) { return serves(entry.second); });
  if (ready != sessions.end()) return ready->second;
  std::vector<WorkerId> ids(fleet.idle().begin(), fleet.idle().end());
  std::stable_partition(ids.begin(), ids.end(), [&](const WorkerId& id) { return fleet.at(id).session == 0; });
  ids.resize(replicas);
  return ids;
}

// Gives the neediest job's next segment to free workers; `asking` is one that may have its data, or its trial, in memory. A job
// whose group is larger than what is free gets the workers that become free next, so that no narrower one can starve it.
bool Scheduler::State::place_next(const Worker* asking) {
  if (fleet.idle().empty() || fleet.idle().size() <= workers_kept()) return false;
  const int usable = fleet.usable();
  Job* job = gathering ? find_job(*gathering) : nullptr;
  gathering.reset();
  if (job == nullptr || !job->has_work(usable)) job = neediest_job(asking);
  if (job == nullptr) return false;
  const auto replicas = job->next_replicas(usable, now);
  if (!replicas) return true;  // it has to wait: others have their turn
  if (static_cast<std::size_t>(*replicas) > fleet.idle().size()) {
    gathering = job->row().id;
    return false;
  }
  const bool same_job = just_left && just_left->job == job->row().id;
  const auto taken = job->take(same_job ? std::optional(just_left->number) : std::nullopt, usable, now);
  if (!taken) return true;
  const int number = *taken;
  std::vector<WorkerId> ranks;
  if (*replicas > 1) {
    ranks = choose_group(job->trial(number), static_cast<std::size_t>(*replicas));
  } else {
    ranks = {asking != nullptr ? asking->id : best_idle_worker(*job)};
  }
  const Worker& first = fleet.at(ranks.front());
  const std::int64_t session = first.session;
  const bool set_up = session != 0 && fleet.sessions().at(session) == ranks;
  const bool in_memory = just_left == TrialId{job->row().id, number} && job->trial(number).ranks() == ranks;
  job->start(number, ranks, in_memory || first.holds(job->spec()->data_key), now);
  assign(*job, job->trial(number), set_up ? session : job->trial(number).epoch.value);
  return true;
}

// ---- answers ------------------------------------------------------------------------------------------------------------------

void Scheduler::State::answer_workers_of(const Job& job) {
  for (const int number : job.running_trials()) {
    for (const WorkerId& id : job.trial(number).ranks()) to_answer.insert(id);
  }
}

bool Scheduler::State::may_execute(const Worker& worker) const {
  return !worker.draining && jobs.at(worker.assignment->trial.job).goes_on();
}

WorkerReply Scheduler::State::reply_to(const Worker& worker) const {
  WorkerReply reply;
  reply.worker = worker.id;
  if (worker.assignment) {
    if (worker.exit || may_execute(worker)) {
      reply.desired = WorkerReply::Desired::execute;
      reply.assignment = worker.assignment;
      reply.waits = worker.exit.has_value();
    }
  } else if (worker.draining) {
    reply.desired = WorkerReply::Desired::drain;
  }
  return reply;
}

void Scheduler::State::flush_jobs(Outcome& outcome, std::vector<EventRow>& happened) {
  for (auto entry = jobs.begin(); entry != jobs.end();) {
    Job& job = entry->second;
    if (job.began_stopping()) answer_workers_of(job);
    const bool has_ended = job.end_if_done(options.ended_at_once, now);
    if (has_ended) {
      ended_rows.push_back(job.row());
      std::string().swap(ended_rows.back().spec_json);  // its memory too
    }
    if (auto wanted = job.take_wanted()) outcome.notices.emplace_back(std::move(*wanted));
    job.flush(outcome.writes, happened);
    entry = has_ended ? jobs.erase(entry) : std::next(entry);
  }
}

void Scheduler::State::answer_workers(Outcome& outcome) {
  for (const WorkerId& id : to_answer) {
    const Worker* worker = fleet.find(id);
    if (worker == nullptr) continue;
    outcome.notices.emplace_back(reply_to(*worker));
    if (!worker->draining || worker->assignment) continue;
    record(EventKind::worker_released, id);
    fleet.remove(id);
  }
}

// The log tells what happened to workers and jobs before what came of it for trials, and who was let go last.
Outcome Scheduler::State::finish_step() {
  while (place_next(nullptr)) {
  }
  Outcome outcome;
  std::vector<EventRow> happened = std::exchange(events, {});
  flush_jobs(outcome, happened);
  outcome.writes.insert(outcome.writes.end(), deletions.begin(), deletions.end());
  answer_workers(outcome);
  if (job_reply) outcome.notices.emplace_back(*job_reply);
  std::move(events.begin(), events.end(), std::back_inserter(happened));
  events.clear();
  for (EventRow& event : happened) {
    event.id = ++last_event_id;
    event.at = last_event_at = now;
    event.message = shortened(std::move(event.message), kEventMessageSizeMax);
    outcome.writes.emplace_back(std::move(event));
  }
  return outcome;
}

// ---- the door -----------------------------------------------------------------------------------------------------------------

Outcome step_with_suggestions(Scheduler& scheduler, const Event& event, Timestamp now) {
  Outcome all;
  std::deque<Event> events = {event};
  for (; !events.empty(); events.pop_front()) {
    Outcome outcome = scheduler.step(events.front(), now);
    std::move(outcome.writes.begin(), outcome.writes.end(), std::back_inserter(all.writes));
    for (Notice& notice : outcome.notices) {
      if (const auto* wanted = std::get_if<SuggestionWanted>(&notice)) {
        events.push_back(SuggestionMade{wanted->job, wanted->trial, wanted->make()});
        continue;
      }
      const auto* reply = std::get_if<WorkerReply>(&notice);
      std::erase_if(all.notices, [&](const Notice& earlier) {
        const auto* other = std::get_if<WorkerReply>(&earlier);
        return reply != nullptr && other != nullptr && other->worker == reply->worker;
      });
      all.notices.push_back(std::move(notice));
    }
  }
  return all;
}

Outcome Scheduler::step(const Event& event, Timestamp now) {
  State& state = *state_;
  state.now = now;
  state.to_answer.clear();
  state.just_left.reset();
  state.job_reply.reset();
  state.deletions.clear();
  state.note_mean_segment();
  std::visit([&](const auto& what) { state.on(what); }, event);
  return state.finish_step();
}

std::optional<Timestamp> Scheduler::next_deadline() const {
  std::optional<Timestamp> next;
  const auto sooner = [&](Timestamp time) {
    if (!next || time < *next) next = time;
  };
  if (const auto oldest = state_->fleet.oldest()) sooner(oldest->first.plus_ms(state_->options.lease_ms));
  for (const auto& [id, job] : state_->jobs) {
    if (const auto deadline = job.deadline()) sooner(*deadline);
    if (job.has_some_to_end()) sooner(state_->now);
  }
  return next;
}

std::vector<WorkerView> Scheduler::workers() const {
  std::vector<WorkerView> views = state_->fleet.views();
  for (WorkerView& view : views) {
    if (view.trial) view.left_ms = state_->left_ms(*state_->fleet.find(view.id)->assignment);
  }
  return views;
}

std::optional<int> Scheduler::queue_position(JobId id) const {
  const State& state = *state_;
  const auto waits = [&](const Job& job) { return job.has_work(std::max(1, state.fleet.usable())); };
  const Job* job = state_->find_job(id);
  if (job == nullptr || !waits(*job)) return std::nullopt;
  const std::int64_t time = state.next_share_time(*job);
  int position = 1;
  for (const auto& [other_id, other] : state.jobs) {
    if (other_id == id || !waits(other)) continue;
    const std::int64_t others = state.next_share_time(other);
    if (others < time || (others == time && other_id < id)) ++position;
  }
  return position;
}

std::size_t Scheduler::workers_gathered() const { return state_->gathering ? state_->fleet.idle().size() : 0; }

std::vector<std::shared_ptr<const JobSpec>> Scheduler::specs() const {
  std::vector<std::shared_ptr<const JobSpec>> specs;
  for (const auto& [id, job] : state_->jobs) specs.push_back(job.spec());
  return specs;
}

std::vector<std::pair<std::string, int>> Scheduler::waiting_by_reason(JobId id) const {
  const Job* job = state_->find_job(id);
  if (job == nullptr) return {};
  Fleet& fleet = state_->fleet;
  auto reasons = job->waiting_by_reason({fleet.usable(), static_cast<int>(fleet.idle().size()), state_->gathering});
  std::map<std::string_view, int> faults;
  for (const int number : job->running_trials()) {
    for (const WorkerId& worker : job->trial(number).ranks()) {
      const Worker* found = fleet.find(worker);
      if (found != nullptr && !found->waits_for.empty()) ++faults[found->waits_for];
    }
  }
  reasons.insert(reasons.end(), faults.begin(), faults.end());
  return reasons;
}

}  // namespace tuneband

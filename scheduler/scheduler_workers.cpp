// What workers say, and their silence.
#include <algorithm>
#include <iterator>

#include "core/check.hpp"
#include "core/text.hpp"
#include "scheduler/scheduler_state.hpp"
#include "scheduler/waiting.hpp"

namespace tuneband {

namespace {

// A worker that is told of its trial so often and never begins cannot read what it is told: its trial goes to another.
constexpr int kUnawareCallsMax = 5;

// What a trial may wait for on its worker's machine; what else a worker says is told in general, so that reasons are few.
constexpr std::string_view kMachineFaults[] = {waiting::kRoomOnDisk,   waiting::kFailingDisk,  waiting::kDataDirectory,
                                               waiting::kReadableData, waiting::kCommandParts, waiting::kFileHandles,
                                               waiting::kProcesses,    waiting::kMemory,       waiting::kMachine};

std::string_view known_fault(const std::string& said) {
  if (said.empty()) return "";
  const auto* const found = std::find(std::begin(kMachineFaults), std::end(kMachineFaults), said);
  return found == std::end(kMachineFaults) ? *std::prev(found) : *found;
}

// What is said of every fault is of the words that are known.
std::vector<Lack> in_known_words(std::vector<Lack> lacks) {
  for (Lack& lack : lacks) {
    const std::string_view known = known_fault(lack.what);
    lack.what = known.empty() ? waiting::kMachine : known;
  }
  return lacks;
}

std::string in_words(int rank) { return "rank " + std::to_string(rank) + ": "; }

std::string overdue_in_words(const JobSpec& spec) {
  return "it was still at work " + in_seconds(*spec.group_grace_ms) + " (trainer.grace_seconds, 10 at least) after rank " +
         std::to_string(spec.metric_rank) + " had ended, and was told to end";
}

}  // namespace

void Scheduler::State::on(const WorkerSynced& event) {
  if (fleet.find(event.worker) == nullptr && fleet.size() >= options.workers_max) return;  // its call is held: it tries again
  if (fleet.find(event.worker) == nullptr) record(EventKind::worker_connected, event.worker, event.name);
  Worker& worker = fleet.seen(event.worker, now);
  worker.name = event.name;
  worker.data_keys = event.data_keys;
  worker.address = event.address;
  worker.free_port = event.free_port;
  if (event.draining) fleet.set_draining(worker);
  fleet.set_lacks(worker, in_known_words(event.lacks));

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
  const bool unfit = worker.assignment && worker.lack_for(worker.assignment->trial.job) != nullptr;
  if (worker.assignment && !worker.confirmed && (unfit || !may_execute(worker))) give_back(worker);
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
  const bool counts = assignment.rank == job.spec()->metric_rank;
  if (assignment.rank == 0 || counts) job.take_rules(assignment.trial.number, report.rules, now);
  if (counts && job.report(assignment.trial.number, report, now)) {
    return end_at_target(assignment.trial);
  }
  worker.waits_for = report.exit ? "" : known_fault(report.message);
  if (!report.exit) return end_early(assignment.trial);
  const bool group = assignment.world_size > 1;
  const bool first_done = counts && !worker.exit && report.exit == ExitClass::completed;
  if (group && first_done && job.spec()->group_grace_ms) metric_rank_done[assignment.trial] = now;
  worker.exit = report.exit;
  worker.exit_message = report.message;
  worker.exit_crash = report.crash;
  const bool cut_off = was_cut_off(worker);
  if (cut_off && report.exit == ExitClass::stopped) worker.exit_message = overdue_in_words(*job.spec());
  if (group && !worker.exit_message.empty()) worker.exit_message.insert(0, in_words(assignment.rank));
  const TrialId trial = assignment.trial;
  const auto exit = exit_of_group(job.trial(trial.number));
  if (!exit) return;
  const bool by_this = *exit == *report.exit || cut_off;
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

// Told to end because the others are done, or at the end of its own time by then. Before a restart it may have been told: what a
// rank was told then is not stored.
bool Scheduler::State::was_cut_off(const Worker& worker) const {
  if (worker.exit == ExitClass::timed_out) return metric_rank_is_done(worker);
  if (worker.exit != ExitClass::stopped) return false;
  if (worker.overdue) return true;
  return worker.restored && !worker.draining && metric_rank_is_done(worker);
}

// Of the group that the worker is of.
bool Scheduler::State::metric_rank_is_done(const Worker& worker) const {
  const TrialId id = worker.assignment->trial;
  const Job& job = jobs.at(id.job);
  const auto ranks = job.trial(id.number).ranks();
  const Worker& counts = fleet.at(ranks.at(static_cast<std::size_t>(job.spec()->metric_rank)));
  return job.spec()->group_grace_ms && counts.exit == ExitClass::completed;
}

// How the segment has ended, now that one more rank has: by the first failure, or when all of them are done. One that was cut off
// is done, too.
std::optional<ExitClass> Scheduler::State::exit_of_group(const TrialRow& trial) {
  std::optional<ExitClass> result = ExitClass::completed;
  for (const WorkerId& id : trial.ranks()) {
    const Worker& worker = *fleet.find(id);
    const auto exit = worker.exit;
    if (!exit) result.reset();
    if (!exit || *exit == ExitClass::completed || was_cut_off(worker)) continue;
    if (*exit != ExitClass::stopped || worker.lack_for(trial.id.job) != nullptr) return exit;
    if (result) result = exit;
  }
  return result;
}

// When the next group has ranks that have had their time since its metric rank was done.
std::optional<Timestamp> Scheduler::State::group_ends_at() const {
  std::optional<Timestamp> next;
  for (const auto& [trial, since] : metric_rank_done) {
    const Timestamp end = since.plus_ms(*jobs.at(trial.job).spec()->group_grace_ms);
    if (!next || end < *next) next = end;
  }
  return next;
}

// What counts of their trial is there. One that hangs, in its last call to a rank that is gone, say, would hold it for ever.
void Scheduler::State::end_overdue_ranks() {
  std::erase_if(metric_rank_done, [this](const auto& done) {
    const auto& [trial, since] = done;
    const Job& job = jobs.at(trial.job);
    if (now - since < *job.spec()->group_grace_ms) return false;
    for (const WorkerId& id : job.trial(trial.number).ranks()) {
      Worker& worker = *fleet.find(id);
      if (worker.exit) continue;
      worker.overdue = true;
      to_answer.insert(id);
    }
    return true;
  });
}

// One of its workers stopped because its machine lacks something for the job.
bool Scheduler::State::is_unfit_for(const TrialRow& trial) {
  const auto ranks = trial.ranks();
  return std::any_of(ranks.begin(), ranks.end(), [&](const WorkerId& id) {
    const Worker* worker = fleet.find(id);
    return worker != nullptr && worker->exit == ExitClass::stopped && worker->lack_for(trial.id.job) != nullptr;
  });
}

void Scheduler::State::end_segment(TrialId id, ExitClass exit, const std::string& message, const std::string& crash) {
  Job& job = *find_job(id.job);
  const TrialRow& trial = job.trial(id.number);
  const Worker* first = fleet.find(trial.worker);
  const bool went_on = first != nullptr && first->assignment && trial.checkpoint_resource > first->assignment->from_resource;
  const Epoch files_epoch = first != nullptr ? first->files_epoch : Epoch{};
  // Before a restart it may have been told to stop: what for is not stored.
  const bool wanted_back = job.wants_back(id.number) || (first != nullptr && first->restored);
  const bool unfit = exit == ExitClass::stopped && is_unfit_for(trial);
  const auto ranks = release(trial);
  const bool failed = exit != ExitClass::completed && exit != ExitClass::stopped;
  bool draining = false;
  for (const WorkerId& rank : ranks) {
    const Worker* worker = fleet.find(rank);
    if (failed && worker != nullptr) fleet.end_session(worker->session);
    draining = draining || (worker != nullptr && worker->draining);
  }
  if (unfit) {
    end_sessions(ranks);
    job.given_back(id.number, now, message);
  } else if (exit == ExitClass::stopped && wanted_back) {
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
  metric_rank_done.erase(trial.id);
  for (const WorkerId& id : ranks) {
    Worker* worker = fleet.find(id);
    if (worker == nullptr || !worker->assignment || worker->assignment->epoch != trial.epoch) continue;
    // A rank that has not said a word of it may have died of it, as its group broke: it is free when it calls.
    const bool executes = (worker->confirmed || worker->restored || ranks.size() > 1) && !worker->exit;
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
  const std::string rank = assignment->world_size > 1 ? in_words(assignment->rank) : "";
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
         {ExitClass::worker_lost, "the worker was not heard of for " + in_seconds(options.lease_ms)});
  }
  end_overdue_ranks();
  for (auto& [id, job] : jobs) {
    const auto deadline = job.deadline();
    if (deadline && now >= *deadline) job.begin_stopping(JobState::completed, "max_runtime_seconds is over");
    if (job.has_some_to_end() && !job.began_stopping()) job.end_some_more(options.ended_at_once, now);
  }
}

void Scheduler::State::on(const TimeLeapt&) {
  fleet.all_seen(now);
  for (auto& [trial, since] : metric_rank_done) since = now;
}

}  // namespace tuneband

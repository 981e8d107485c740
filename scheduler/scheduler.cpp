#include "scheduler/scheduler.hpp"

#include <algorithm>
#include <deque>
#include <iterator>

#include "core/check.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "scheduler/scheduler_state.hpp"

namespace tuneband {

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

void Scheduler::State::remember(const JobRow& row, std::uint64_t fingerprint) {
  known[row.id] = {row.name, fingerprint};
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
    if (ended(row.state)) {
      state.remember(row, snapshot.ended_documents.at(row.id));
      state.ended_rows.push_back(row);
      continue;
    }
    state.remember(row, stable_hash(row.spec_json));
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
  for (const JobRow& row : state_->ended_rows) snapshot.ended_documents[row.id] = state_->known.at(row.id).fingerprint;
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
    const bool goes_on = may_execute(worker) && !(worker.overdue && worker.confirmed);
    if (worker.exit || goes_on) {
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
  if (const auto end = state_->group_ends_at()) sooner(*end);
  for (const auto& [id, job] : state_->jobs) {
    if (const auto deadline = job.deadline()) sooner(*deadline);
    if (job.has_some_to_end()) sooner(state_->now);
  }
  return next;
}

std::vector<WorkerView> Scheduler::workers() const {
  std::vector<WorkerView> views = state_->fleet.views();
  for (WorkerView& view : views) {
    std::erase_if(view.lacks, [&](const Lack& lack) { return lack.job && state_->find_job(*lack.job) == nullptr; });
    if (view.trial) view.left_ms = state_->left_ms(*state_->fleet.find(view.id)->assignment);
  }
  return views;
}

std::map<JobId, int> Scheduler::queue_positions() const {
  std::vector<std::pair<std::int64_t, JobId>> waiting;
  for (const auto& [id, job] : state_->jobs) {
    if (job.has_work(std::max(1, state_->fleet.usable(id)))) waiting.emplace_back(state_->next_share_time(job), id);
  }
  std::sort(waiting.begin(), waiting.end());
  std::map<JobId, int> positions;
  int position = 0;
  for (const auto& [time, id] : waiting) positions[id] = ++position;
  return positions;
}

std::optional<int> Scheduler::queue_position(JobId id) const {
  if (state_->find_job(id) == nullptr) return std::nullopt;
  const auto positions = queue_positions();
  const auto found = positions.find(id);
  return found == positions.end() ? std::nullopt : std::optional(found->second);
}

double Scheduler::weight(JobId id) const {
  const Job* job = state_->find_job(id);
  return job == nullptr ? 0 : job->row().weight;
}

std::size_t Scheduler::workers_gathered() const { return state_->gathering ? state_->free_for(*state_->gathering) : 0; }

std::vector<std::shared_ptr<const JobSpec>> Scheduler::specs() const {
  std::vector<std::shared_ptr<const JobSpec>> specs;
  for (const auto& [id, job] : state_->jobs) specs.push_back(job.spec());
  return specs;
}

std::vector<std::pair<std::string, int>> Scheduler::waiting_by_reason(JobId id) const {
  const Job* job = state_->find_job(id);
  if (job == nullptr) return {};
  Fleet& fleet = state_->fleet;
  const Lack* lack = fleet.lack_for(id);
  auto reasons = job->waiting_by_reason({fleet.usable(id), lack == nullptr ? std::string_view() : std::string_view(lack->what),
                                         static_cast<int>(state_->idle_and_fit_for(id)), state_->gathering});
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

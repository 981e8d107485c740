#include "tests/simulation/simulated_server.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "tests/rows/row_text.hpp"

namespace tuneband::test {

namespace {

constexpr std::int64_t kHoldMs = 7'000;
constexpr std::int64_t kBatchAfterMs = 1;
constexpr std::int64_t kBatchEventsMax = 4;
constexpr std::int64_t kDownMsMax = 25'000;  // longer than a lease
constexpr std::int64_t kSuggestionMsMax = 3'000;
constexpr std::int64_t kJumpMsMax = 100'000;
// Jobs end in many steps, with deaths between them.
const SchedulerOptions kOptions{.ended_at_once = 2};
constexpr int kStepsBetweenComparisons = 16;  // of the live core with the rows: that takes longer than a step

WorkerReply idle_reply(const WorkerId& worker) { return {worker, WorkerReply::Desired::idle, std::nullopt}; }

}  // namespace

SimulatedServer::SimulatedServer(SimulatedClock& clock, Draw& draw, const Faults& faults, Story& story,
                                 const std::string& store_path)
    : clock_(clock),
      draw_(draw),
      faults_(faults),
      story_(story),
      scheduler_(std::in_place, kOptions),
      server_clock_(wall_clock()) {
  if (!store_path.empty()) store_.emplace(Store::open(store_path));
}

void SimulatedServer::sync(const WorkerSynced& message, WorkerReplied replied) { enqueue({message, std::move(replied), {}}); }
void SimulatedServer::ask(const Event& event, JobReplied replied) { enqueue({event, {}, std::move(replied)}); }
void SimulatedServer::tell(const Event& event) { enqueue({event, {}, {}}); }

void SimulatedServer::enqueue(Queued queued) {
  if (!scheduler_) return refuse(queued);
  queue_.push_back(std::move(queued));
  if (batch_scheduled_) return;
  batch_scheduled_ = true;
  clock_.after_ms(kBatchAfterMs, [this, life = life_] {
    if (life == life_) run_batch();
  });
}

void SimulatedServer::refuse(const Queued& queued) {
  if (queued.worker_replied) queued.worker_replied(std::nullopt);
  if (queued.job_replied) queued.job_replied(std::nullopt);
}

// ---- step, commit, deliver
// ------------------------------------------------------------------------------------------------------

void SimulatedServer::run_batch() {
  batch_scheduled_ = false;
  ++batches_;
  if (draw_.chance(faults_.clock_jumps)) jump();
  const Death death = drawn_death();
  const bool committed = death != Death::before_commit && death != Death::commit_fails;
  std::vector<Write> writes;
  const std::vector<Stepped> batch = step_queued(writes, committed);
  if (death == Death::commit_fails) fail_to_commit(std::move(writes));
  if (!committed) {
    for (const Stepped& stepped : batch) refuse(stepped.queued);
    return kill();
  }
  commit(writes);
  std::size_t delivered = batch.size();
  if (death == Death::after_commit) delivered = 0;
  if (death == Death::while_delivering)
    delivered = static_cast<std::size_t>(draw_.between(0, static_cast<std::int64_t>(batch.size())));
  deliver(batch, delivered);
  for (std::size_t i = delivered; i < batch.size(); ++i) refuse(batch[i].queued);
  if (death != Death::none) return kill();
  arm_deadline();
  if (queue_.empty() || batch_scheduled_) return;
  batch_scheduled_ = true;
  clock_.after_ms(kBatchAfterMs, [this, life = life_] {
    if (life == life_) run_batch();
  });
}

std::vector<SimulatedServer::Stepped> SimulatedServer::step_queued(std::vector<Write>& writes, bool committed) {
  std::vector<Stepped> batch;
  for (std::int64_t room = draw_.between(1, kBatchEventsMax); room > 0 && !queue_.empty(); --room) {
    Queued next = std::move(queue_.front());
    queue_.pop_front();
    Outcome outcome;
    if (committed) {
      step_checked(next.event, outcome);
    } else {
      outcome = scheduler_->step(next.event, now());  // nobody will hear of it
    }
    writes.insert(writes.end(), outcome.writes.begin(), outcome.writes.end());
    batch.push_back({std::move(next), std::move(outcome.notices)});
  }
  return batch;
}

void SimulatedServer::step_checked(const Event& event, Outcome& outcome) {
  story_.tell(clock_.now_ms(), [&] { return describe(event); });
  outcome = scheduler_->step(event, now());
  for (const Notice& notice : outcome.notices) {
    story_.tell(clock_.now_ms(), [&] { return "    " + describe(notice); });
  }
  invariants_.check_step(rows_, outcome.writes);
  std::vector<JobId> ended_jobs;
  for (const Write& write : outcome.writes) {
    const auto* job = std::get_if<JobRow>(&write);
    if (job == nullptr) continue;
    if (ended(job->state)) ended_jobs.push_back(job->id);
    story_.tell(clock_.now_ms(),
                [&] { return "    " + name_of(*job) + " is " + std::string(to_string(job->state)) + " " + job->reason; });
  }
  if (const std::string text = log_.take(outcome.writes); !text.empty())
    throw Broken("the log and the rows do not agree: " + text);
  rows_.commit(outcome.writes);
  invariants_.check_no_idle_worker(rows_, *scheduler_);
  for (const JobId job : ended_jobs) invariants_.check_ended_job(rows_, job);
  if (++steps_ % kStepsBetweenComparisons == 0) check_live_core();
}

void SimulatedServer::check_live_core() {
  if (const std::string text = difference(rows_.load(), scheduler_->rows()); !text.empty())
    throw Broken("the core holds other rows than it wrote: " + text);
}

void SimulatedServer::commit(const std::vector<Write>& writes) {
  if (store_) store_->commit(writes);
}

// The last row is one that the database refuses, so that everything before it was written when the commit fails.
void SimulatedServer::fail_to_commit(std::vector<Write> writes) {
  story_.tell(clock_.now_ms(), [] { return "THE DISK IS FULL"; });
  if (!store_) return;
  TrialRow of_no_job;
  of_no_job.id = {JobId{std::numeric_limits<std::int64_t>::max()}, 0};
  writes.emplace_back(of_no_job);
  try {
    store_->commit(writes);
  } catch (const SqliteError&) {
    return;
  }
  throw Broken("a commit that cannot succeed did not say so");
}

void SimulatedServer::deliver(const std::vector<Stepped>& batch, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const Stepped& stepped = batch[i];
    if (stepped.queued.job_replied) {
      for (const Notice& notice : stepped.notices) {
        if (const auto* reply = std::get_if<JobReply>(&notice)) stepped.queued.job_replied(*reply);
      }
    }
    if (stepped.queued.worker_replied) {
      const WorkerId& worker = std::get<WorkerSynced>(stepped.queued.event).worker;
      answer_held_at_last(worker);
      const WorkerReply* own = nullptr;
      for (const Notice& notice : stepped.notices) {
        const auto* reply = std::get_if<WorkerReply>(&notice);
        if (reply != nullptr && reply->worker == worker) own = reply;
      }
      if (own == nullptr || own->waits) {
        hold(stepped.queued.worker_replied, own == nullptr ? idle_reply(worker) : *own);
      } else {
        stepped.queued.worker_replied(*own);
      }
    }
    for (const Notice& notice : stepped.notices) {
      const auto* reply = std::get_if<WorkerReply>(&notice);
      if (reply != nullptr && !reply->waits) answer_held(reply->worker, *reply);
      if (const auto* wanted = std::get_if<SuggestionWanted>(&notice)) make_later(*wanted);
    }
  }
}

// Whenever it is made, it is what it would have been at once.
void SimulatedServer::make_later(const SuggestionWanted& wanted) {
  clock_.after_ms(draw_.between(0, kSuggestionMsMax), [this, wanted, life = life_] {
    if (life == life_) tell(SuggestionMade{wanted.job, wanted.trial, wanted.make()});
  });
}

void SimulatedServer::hold(WorkerReplied replied, WorkerReply at_last) {
  const WorkerId worker = at_last.worker;
  held_[worker] = {std::move(replied), std::move(at_last), ++held_sequence_};
  clock_.after_ms(kHoldMs, [this, worker, sequence = held_sequence_] {
    const auto held = held_.find(worker);
    if (held != held_.end() && held->second.sequence == sequence) answer_held_at_last(worker);
  });
}

void SimulatedServer::answer_held(const WorkerId& worker, const WorkerReply& reply) {
  const auto held = held_.find(worker);
  if (held == held_.end()) return;
  const WorkerReplied replied = std::move(held->second.replied);
  held_.erase(held);
  replied(reply);
}

void SimulatedServer::answer_held_at_last(const WorkerId& worker) {
  const auto held = held_.find(worker);
  if (held != held_.end()) answer_held(worker, WorkerReply(held->second.at_last));
}

void SimulatedServer::arm_deadline() {
  const auto deadline = scheduler_->next_deadline();
  const std::uint64_t armed = ++deadline_;
  if (!deadline) return;
  clock_.after_ms(std::max<std::int64_t>(1, *deadline - now()), [this, armed] {
    if (armed == deadline_ && scheduler_) tell(TimePassed{});
  });
}

// ---- death and restart
// ----------------------------------------------------------------------------------------------------------

void SimulatedServer::kill() {
  story_.tell(clock_.now_ms(), [] { return "THE SERVER IS KILLED"; });
  ++kills_;
  ++life_;
  ++deadline_;
  batch_scheduled_ = false;
  scheduler_.reset();
  for (const Queued& queued : std::exchange(queue_, {})) refuse(queued);
  for (const auto& [worker, held] : std::exchange(held_, {})) held.replied(std::nullopt);
  clock_.after_ms(draw_.between(1, kDownMsMax), [this] { restart(); });
}

Death SimulatedServer::drawn_death() {
  if (batches_ == planned_death_.first) return planned_death_.second;
  if (draw_.chance(faults_.disk_full)) return Death::commit_fails;
  if (!draw_.chance(faults_.server_killed)) return Death::none;
  return draw_.one_of(Death::before_commit, Death::after_commit, Death::while_delivering, Death::after_delivery);
}

void SimulatedServer::jump() {
  const std::int64_t jump_ms = draw_.between(-kJumpMsMax, kJumpMsMax);
  jumped_ms_ += jump_ms;
  if (draw_.chance(0.5)) queue_.push_front({TimeLeapt{}, {}, {}});
  story_.tell(clock_.now_ms(), [&] { return "the clock jumps by " + std::to_string(jump_ms) + " ms"; });
}

std::function<Timestamp()> SimulatedServer::wall_clock() const {
  return [this] { return Timestamp{kEpochMs + clock_.now_ms() + jumped_ms_}; };
}

Snapshot SimulatedServer::load() { return store_ ? store_->load() : rows_.load(); }

void SimulatedServer::restart() {
  story_.tell(clock_.now_ms(), [] { return "THE SERVER IS BACK"; });
  const Snapshot snapshot = load();
  if (const std::string text = difference(rows_.load(), snapshot); !text.empty())
    throw Broken("the store has other rows than were committed: " + text);
  server_clock_ = server::MonotonicClock(wall_clock());
  server_clock_.not_before(newest_timestamp(snapshot));
  scheduler_.emplace(kOptions);
  scheduler_->restore(snapshot, specs_of(snapshot), now());
  if (const std::string text = difference(snapshot, scheduler_->rows()); !text.empty())
    throw Broken("the restored core has other rows: " + text);
  arm_deadline();
}

}  // namespace tuneband::test

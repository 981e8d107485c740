#include "server/engine.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <utility>

#include "core/check.hpp"
#include "server/log.hpp"
#include "server/worker_messages.hpp"

namespace tuneband::server {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kBatchEventsMax = 4'096;
constexpr std::int64_t kAtOnceMs = 1;  // an idle worker's next call, to be held
constexpr std::size_t kSentAwayKept = 256;
constexpr std::size_t kEventsBetweenTidyings = 1'000;  // of the log
constexpr auto kTick = std::chrono::seconds(1);
constexpr std::int64_t kLeapMs = 2'000;         // without a tick
constexpr std::int64_t kDeadlineWaitMsMin = 5;  // so that a deadline that stays in the past cannot keep the loop busy

double seconds_since(SteadyClock::time_point start) { return std::chrono::duration<double>(SteadyClock::now() - start).count(); }

void end_process_after_failed_commit(const std::string& why) {
  log_error("a commit failed: the server ends; started again it goes on from what is on disk", {{"reason", why}});
  std::_Exit(kExitCommitFailed);
}

Error unavailable(std::string message, std::string hint) {
  return {ErrorCode::unavailable, std::move(message), "", std::move(hint)};
}

}  // namespace

Engine::Engine(boost::asio::io_context& loop, EngineOptions options, EngineWorld world)
    : loop_(loop),
      options_(options),
      world_(std::move(world)),
      scheduler_(options.scheduler),
      clock_(world_.wall_clock),
      deadline_(loop),
      tick_(loop) {
  TUNEBAND_CHECK(world_.commit && world_.trial_dir && world_.wall_clock, "the engine's world is complete");
  if (!world_.commit_failed) world_.commit_failed = end_process_after_failed_commit;
}

Engine::~Engine() {
  ending_ = true;
  suggester_.join();
  writer_.join();
}

void Engine::restore(const Snapshot& snapshot, const std::vector<std::pair<JobId, JobSpec>>& specs) {
  clock_.not_before(newest_timestamp(snapshot));
  scheduler_.restore(snapshot, specs, clock_.now());
  arm_deadline();
  keep_noting_time();
  tidy_on_writer();  // what an earlier run left over
}

Result<void> Engine::submit(Event event, Committed committed) {
  if (lost_) return unavailable(*lost_, "the server ends; its log says more");
  if (stopping_) return unavailable("the server is stopping", "try again once it is up");
  if (jobs_refused_ && std::holds_alternative<JobSubmitted>(event)) {
    return unavailable("the server is stopping and takes no new jobs", "try again once it is up");
  }
  if (queue_.size() >= options_.queue_max) {
    ++stats_.refused;
    return unavailable("too many requests are waiting", "try again in a moment");
  }
  enqueue(std::move(event), std::move(committed));
  return {};
}

Result<void> Engine::sync(const WorkerId& worker, const protocol::SyncRequest& request, SyncReplied replied, WatchCaller watch) {
  if (request.ended) {
    return submit(to_event(worker, *request.ended), [replied = std::move(replied)](auto) {
      replied({"drain", std::nullopt, kAtOnceMs});
    });
  }
  Result<WorkerSynced> event = to_event(worker, request);
  if (!event) return event.error();
  const bool executing = event->report && !event->report->exit;
  const auto answered = [this, replied = std::move(replied), worker, version = request.version,
                         wants_to_end = request.draining](const protocol::SyncReply& reply) {
    if (reply.desired == "drain" && !wants_to_end) log_sent_away(worker, version);
    replied(reply);
  };
  Caller caller{answered, std::move(watch)};
  const Result<void> taken = submit(std::move(*event), [this, worker, caller = std::move(caller), executing](auto notices) {
    reply_to_caller(worker, caller, executing, notices);
  });
  if (!taken) return taken;
  if (const auto held = held_.find(worker); held != held_.end()) held->second.outdated = true;
  for (const SyncListener& listener : sync_listeners_) listener(worker, request);
  return {};
}

void Engine::log_sent_away(const WorkerId& worker, const std::string& version) {
  std::pair<WorkerId, std::string> caller(worker, version);
  if (std::find(sent_away_.begin(), sent_away_.end(), caller) != sent_away_.end()) return;
  sent_away_.push_back(std::move(caller));
  if (sent_away_.size() > kSentAwayKept) sent_away_.pop_front();
  const bool other_version = of_other_version(version);
  log_warning("a worker is told to end", {{"worker", worker.value},
                                          {"version", version},
                                          {"reason", other_version ? "its version is not the server's, " TUNEBAND_VERSION
                                                                   : "it was given a trial several times and never began"}});
}

void Engine::add_listener(Listener listener) { listeners_.push_back(std::move(listener)); }

void Engine::add_sync_listener(SyncListener listener) { sync_listeners_.push_back(std::move(listener)); }

void Engine::refuse_jobs() { jobs_refused_ = true; }

void Engine::stop(std::function<void()> stopped) {
  stopping_ = true;
  stopped_ = std::move(stopped);
  deadline_.cancel();
  tick_.cancel();
  if (lost_) return boost::asio::post(loop_, [this] { finish_stop(); });
  schedule_batch();
}

EngineStats Engine::stats() const {
  EngineStats stats = stats_;
  stats.queue_length = queue_.size();
  stats.held_calls = held_.size();
  return stats;
}

void Engine::enqueue(Event event, Committed committed) {
  queue_.push_back({std::move(event), std::move(committed)});
  schedule_batch();
}

// Posted twice, so that what the loop has already received joins this batch and shares its commit.
void Engine::schedule_batch() {
  if (batch_scheduled_) return;
  batch_scheduled_ = true;
  boost::asio::post(loop_, [this] { boost::asio::post(loop_, [this] { run_batch(); }); });
}

void Engine::run_batch() {
  if (lost_) return;
  step_queued();
  if (batch_writes_.empty()) {
    deliver();
  } else {
    commit_on_writer();
  }
}

// Looks at the clock every second and before every batch: when more time is gone than that, this process did not run (it was
// stopped, the machine slept), or the clock was set.
void Engine::note_time() {
  const Timestamp now = clock_.now();
  if (noted_ && now - *noted_ > kLeapMs) {
    log_warning("time went on without this server: the workers' leases begin anew", {{"ms", now - *noted_}});
    queue_.push_front({TimeLeapt{}, {}});
    schedule_batch();
  }
  noted_ = now;
}

void Engine::keep_noting_time() {
  note_time();
  look_at_data_on_writer();
  tick_.expires_after(kTick);
  tick_.async_wait([this](boost::system::error_code error) {
    if (!error && !stopping_) keep_noting_time();
  });
}

void Engine::step_queued() {
  const auto start = SteadyClock::now();
  note_time();
  const std::size_t count = std::min(queue_.size(), kBatchEventsMax);
  for (std::size_t i = 0; i < count; ++i) {
    Queued next = std::move(queue_.front());
    queue_.pop_front();
    if (std::holds_alternative<TimePassed>(next.event)) time_passed_queued_ = false;
    Outcome outcome = scheduler_.step(next.event, clock_.now());
    std::move(outcome.writes.begin(), outcome.writes.end(), std::back_inserter(batch_writes_));
    for (const Notice& notice : outcome.notices) {
      if (const auto* wanted = std::get_if<SuggestionWanted>(&notice)) make_on_suggester(*wanted);
    }
    batch_.push_back({std::move(outcome.notices), std::move(next.committed)});
  }
  stats_.events += count;
  stats_.step_seconds += seconds_since(start);
}

// Begun before the commit: nobody is told of it.
void Engine::make_on_suggester(const SuggestionWanted& wanted) {
  ++stats_.suggestions;
  boost::asio::post(suggester_, [this, wanted] {
    if (ending_) return;
    const auto start = SteadyClock::now();
    try {
      SuggestionMade made{wanted.job, wanted.trial, world_.suggest(wanted)};
      boost::asio::post(loop_, [this, made = std::move(made), took = seconds_since(start)]() mutable {
        suggestion_made(std::move(made), took);
      });
    } catch (...) {  // as when a step throws
      boost::asio::post(loop_, [failure = std::current_exception()] { std::rethrow_exception(failure); });
    }
  });
}

void Engine::suggestion_made(SuggestionMade made, double seconds) {
  --stats_.suggestions;
  stats_.suggestion_seconds += seconds;
  if (!stopping_) enqueue(std::move(made), {});
}

void Engine::commit_on_writer() {
  boost::asio::post(writer_, [this] {
    const auto start = SteadyClock::now();
    try {
      world_.commit(batch_writes_);
    } catch (const std::exception& failure) {
      return failed_on_writer(failure.what());
    }
    // Nobody is told of what went into files that nobody will find.
    if (finds_loss_on_writer()) return;
    boost::asio::post(loop_, [this, took = seconds_since(start)] { committed(took); });
  });
}

void Engine::committed(double seconds) {
  ++stats_.commits;
  stats_.writes += batch_writes_.size();
  stats_.commit_seconds += seconds;
  for (std::size_t i = 0; i < kCommitBucketsSeconds.size(); ++i) {
    if (seconds <= kCommitBucketsSeconds[i]) ++stats_.commits_within[i];
  }
  if (leaves_something_over()) tidy_on_writer();
  deliver();
}

// Deleted jobs; and the log grows by each commit.
bool Engine::leaves_something_over() {
  bool deleted = false;
  for (const Write& write : batch_writes_) {
    deleted = deleted || std::holds_alternative<DeleteJob>(write);
    if (std::holds_alternative<EventRow>(write)) ++events_since_tidy_;
  }
  if (!deleted && events_since_tidy_ < kEventsBetweenTidyings) return false;
  events_since_tidy_ = 0;
  return true;
}

// What is under way finds what has come to it: it is cleared after the last look, on the thread that commits.
void Engine::tidy_on_writer() {
  if (world_.tidy && !tidying_.exchange(true)) tidy_a_bit();
}

// A commit that comes meanwhile waits for one bit at most.
void Engine::tidy_a_bit() {
  boost::asio::post(writer_, [this] {
    if (ending_) return;
    try {
      if (world_.tidy()) return tidy_a_bit();
      tidying_ = false;
    } catch (const std::exception& failure) {
      failed_on_writer(failure.what());
    }
  });
}

Result<void> Engine::write_beside(std::function<bool()> write, std::function<void(bool)> done) {
  if (lost_) return unavailable(*lost_, "the server ends; its log says more");
  if (stopping_) return unavailable("the server is stopping", "try again once it is up");
  boost::asio::post(writer_, [this, write = std::move(write), done = std::move(done)]() mutable {
    try {
      const bool there = write();
      if (finds_loss_on_writer()) return;
      boost::asio::post(loop_, [there, done = std::move(done)] { done(there); });
    } catch (const std::exception& failure) {
      failed_on_writer(failure.what());
    }
  });
  return {};
}

Result<void> Engine::put_note(JobId job, std::optional<int> trial, std::string note, std::function<void(bool)> done) {
  if (!world_.put_note) return unavailable("nothing is written here", "");
  return write_beside(
      [this, job, trial, note = std::move(note), at = clock_.now()] { return world_.put_note(job, trial, note, at); },
      std::move(done));
}

Result<void> Engine::put_webhook(TrialId trial, std::string rule, std::string state, std::function<void()> done) {
  if (!world_.put_webhook) return unavailable("nothing is written here", "");
  const auto write = [this, trial, rule = std::move(rule), state = std::move(state)] {
    world_.put_webhook(trial, rule, state);
    return true;
  };
  return write_beside(write, [done = std::move(done)](bool) { done(); });
}

void Engine::look_at_data_on_writer() {
  if (!world_.data_lost) return;
  boost::asio::post(writer_, [this] { finds_loss_on_writer(); });
}

bool Engine::finds_loss_on_writer() {
  const std::optional<std::string> why = world_.data_lost ? world_.data_lost() : std::nullopt;
  if (why) boost::asio::post(loop_, [this, why] { lose(*why); });
  return why.has_value();
}

void Engine::failed_on_writer(const std::string& why) {
  if (!finds_loss_on_writer()) world_.commit_failed(why);
}

// A batch that is being written stays as it is, and none follows. Who waits for an answer gets none, and its connection ends.
void Engine::lose(const std::string& why) {
  if (lost_) return;
  lost_ = why;
  std::exchange(batch_, {}).clear();
  std::exchange(queue_, {}).clear();
  deadline_.cancel();
  tick_.cancel();
  log_error("the data is lost: nothing is taken any more", {{"reason", why}});
  on_loss_();
  if (stopping_) finish_stop();
}

void Engine::deliver() {
  if (!batch_writes_.empty()) {
    for (const Listener& listener : listeners_) listener(batch_writes_);
  }
  for (const Stepped& stepped : batch_) {
    if (stepped.committed) stepped.committed(stepped.notices);
    for (const Notice& notice : stepped.notices) {
      const auto* reply = std::get_if<WorkerReply>(&notice);
      if (reply != nullptr && !reply->waits) answer_held(reply->worker, to_sync_reply(*reply));
    }
  }
  batch_.clear();
  batch_writes_.clear();
  batch_scheduled_ = false;
  if (!queue_.empty()) {
    schedule_batch();
  } else if (stopping_) {
    finish_stop();
  }
  if (!stopping_) arm_deadline();
}

// The call's own step says what the worker should do, or the call is held. Only its own: another event's reply, delivered to a
// call whose step is still to be committed, would acknowledge observations that are not on disk.
void Engine::reply_to_caller(const WorkerId& worker, const Caller& caller, bool executing, std::span<const Notice> notices) {
  answer_held_at_last(worker, options_.sync_within_ms);
  protocol::SyncReply at_last{"idle", std::nullopt, 0};
  for (const Notice& notice : notices) {
    const auto* reply = std::get_if<WorkerReply>(&notice);
    if (!reply || reply->worker != worker) continue;
    protocol::SyncReply answer = to_sync_reply(*reply);
    if (reply->waits) {
      at_last = std::move(answer);
      break;
    }
    if (!executing && reply->desired == WorkerReply::Desired::idle) answer.sync_within_ms = kAtOnceMs;
    caller.replied(answer);
    return;
  }
  hold(worker, caller, std::move(at_last));
  if (stopping_) answer_held_at_last(worker, options_.sync_within_ms);
}

void Engine::hold(const WorkerId& worker, const Caller& caller, protocol::SyncReply at_last) {
  const std::uint64_t sequence = ++held_sequence_;
  HeldCall entry{caller.replied, std::move(at_last), sequence, false, boost::asio::steady_timer(loop_)};
  HeldCall& call = held_.emplace(worker, std::move(entry)).first->second;
  call.timer.expires_after(std::chrono::milliseconds(options_.hold_ms));
  call.timer.async_wait([this, worker, sequence](boost::system::error_code error) {
    if (error) return;
    const auto held = held_.find(worker);
    if (held != held_.end() && held->second.sequence == sequence) answer_held_at_last(worker, kAtOnceMs);
  });
  if (caller.watch) caller.watch([this, worker, sequence] { caller_gone(worker, sequence); });
}

// The core must not give work to a worker that nobody can tell of it: it would be lost with a whole lease, and be charged.
void Engine::caller_gone(const WorkerId& worker, std::uint64_t sequence) {
  const auto held = held_.find(worker);
  if (held == held_.end() || held->second.sequence != sequence) return;
  const bool idle = !held->second.at_last.order;  // a rank that waits for its peers has work: its lease decides
  const bool called_again = held->second.outdated;
  answer_held_at_last(worker, kAtOnceMs);  // it may still hear it, and then call again
  if (!idle || called_again) return;
  const Result<void> taken = submit(WorkerLost{worker, "its connection ended while it was idle", false});
  if (!taken) log_debug("an idle worker that went is noticed by its lease only", {{"worker", worker.value}});
}

void Engine::answer_held(const WorkerId& worker, const protocol::SyncReply& reply) {
  const auto held = held_.find(worker);
  if (held == held_.end()) return;
  const SyncReplied replied = std::move(held->second.replied);
  held_.erase(held);
  replied(reply);
}

void Engine::answer_held_at_last(const WorkerId& worker, std::int64_t sync_within_ms) {
  const auto held = held_.find(worker);
  if (held == held_.end()) return;
  protocol::SyncReply reply = std::move(held->second.at_last);
  reply.sync_within_ms = sync_within_ms;
  answer_held(worker, reply);
}

protocol::SyncReply Engine::to_sync_reply(const WorkerReply& reply) const {
  const std::string trial_dir = reply.assignment ? world_.trial_dir(reply.assignment->trial) : "";
  return server::to_sync_reply(reply, trial_dir, world_.tracker, options_.sync_within_ms);
}

void Engine::arm_deadline() {
  const std::optional<Timestamp> deadline = scheduler_.next_deadline();
  if (!deadline || time_passed_queued_) {
    deadline_.cancel();
    return;
  }
  const std::int64_t wait_ms = std::max(*deadline - clock_.now(), kDeadlineWaitMsMin);
  deadline_.expires_after(std::chrono::milliseconds(wait_ms));
  deadline_.async_wait([this](boost::system::error_code error) {
    if (error || stopping_ || time_passed_queued_) return;
    time_passed_queued_ = true;
    enqueue(TimePassed{}, {});
  });
}

void Engine::finish_stop() {
  while (!held_.empty()) {
    const WorkerId worker = held_.begin()->first;  // a copy: answering erases the entry
    answer_held_at_last(worker, options_.sync_within_ms);
  }
  if (!stopped_) return;
  const std::function<void()> stopped = std::move(stopped_);
  stopped_ = nullptr;
  stopped();
}

}  // namespace tuneband::server

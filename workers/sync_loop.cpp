#include "workers/sync_loop.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <thread>
#include <utility>

#include "core/random.hpp"

namespace tuneband::workers {

namespace {

using std::chrono::milliseconds;

// An idle sync that is answered "idle" sooner was not held: the next one waits, so that no server is flooded.
constexpr milliseconds kHeldAtLeast{10};
constexpr int kRetryDoublingsMax = 20;

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace

Worker::Worker(WorkerOptions options, protocol::HttpClient client, TrialRunner& runner)
    : options_(std::move(options)), client_(std::move(client)), runner_(runner), last_answer_(Clock::now()) {}

Worker::End Worker::run() {
  std::thread network([this] { sync_until_end(); });
  train();
  network.join();
  return *end_;
}

void Worker::drain() {
  bool held = false;
  {
    const std::lock_guard lock(mutex_);
    draining_ = true;
    if (current_) current_->request_stop();
    held = held_;
  }
  if (held) client_.cancel();
  wake_.set();
}

// ---- the training thread ------------------------------------------------------------------------------------------------------

void Worker::train() {
  std::unique_lock lock(mutex_);
  while (true) {
    const bool called = changed_.wait_for(lock, milliseconds(options_.release_after_ms), [this] { return to_train_ || end_; });
    if (!to_train_ && end_) break;
    const std::shared_ptr<Assignment> assignment = std::exchange(to_train_, nullptr);
    lock.unlock();
    if (called) {
      assignment->finish(run_segment(*assignment));
      wake_.set();
    } else {
      runner_.release();
    }
    lock.lock();
  }
  lock.unlock();
  runner_.release();
}

SegmentResult Worker::run_segment(Assignment& assignment) {
  const protocol::AssignmentOrder& order = assignment.order();
  options_.log("job " + std::to_string(order.job) + " trial " + std::to_string(order.trial) + ": resource " +
               std::to_string(order.from_resource) + " to " + std::to_string(order.until_resource));
  try {
    auto log = TrialLog::open(order.trial_dir, order.group ? order.group->rank : 0);
    if (!log) return {kExitCrashed, log.error().message};
    SegmentResult result = runner_.run(order, assignment, *log);
    if (!result.message.empty()) log->note(result.exit + ": " + result.message);
    return result;
  } catch (const std::bad_alloc&) {
    return {kExitOutOfMemory, "the worker ran out of memory"};
  } catch (const std::exception& e) {
    return {kExitCrashed, std::string("the trainer failed: ") + e.what()};
  }
}

// ---- the sync loop's thread ---------------------------------------------------------------------------------------------------

void Worker::sync_until_end() {
  while (true) {
    const bool answered = sync_once();
    if (const auto end = end_due()) {
      const std::lock_guard lock(mutex_);
      end_ = end;
      changed_.notify_all();
      return;
    }
    const auto until_next = std::chrono::ceil<milliseconds>(next_sync_ - Clock::now()).count();
    wake_.wait(answered ? until_next : wait_ms_after_failure());
    wake_.clear();
  }
}

bool Worker::sync_once() {
  protocol::SyncRequest request;
  {
    const std::lock_guard lock(mutex_);
    request = make_request();
    held_ = !request.assignment && !request.draining;
  }
  const bool held = !request.assignment && !request.draining;
  std::int64_t timeout_ms = held ? options_.held_timeout_ms : options_.timeout_ms;
  if (request.draining) timeout_ms = std::min(timeout_ms, options_.drain_ms_max);
  const std::string body = to_json(request).dump(-1, ' ', false, Json::error_handler_t::replace);
  const auto sent_at = Clock::now();
  const auto answer = protocol::json_or_error(client_.request("POST", "/v1/workers/" + options_.id + "/sync", body, timeout_ms));
  Diagnostics diagnostics;
  protocol::SyncReply reply;
  if (answer) reply = protocol::sync_reply_from_json(*answer, diagnostics);

  const std::lock_guard lock(mutex_);
  held_ = false;
  if (!answer || !diagnostics.ok()) {
    const std::string fault =
        answer ? "the server's answer is not understood: " + describe(diagnostics.errors().front()) : describe(answer.error());
    if (failures_++ == 0 && !draining_) options_.log(fault + "; trying again");
    return false;
  }
  if (std::exchange(failures_, 0) > 0) options_.log("the server is there again");
  last_answer_ = Clock::now();
  apply(request, std::move(reply), sent_at);
  return true;
}

// mutex_ is held.
protocol::SyncRequest Worker::make_request() const {
  static const std::string host = host_name();
  protocol::SyncRequest request;
  request.name = options_.name;
  request.host = host;
  request.pid = ::getpid();
  request.version = TUNEBAND_VERSION;
  request.data_keys = runner_.data_keys();
  if (request.data_keys.size() > protocol::kDataKeysMax) request.data_keys.resize(protocol::kDataKeysMax);
  request.draining = draining_;
  if (current_) request.assignment = current_->status();
  return request;
}

// mutex_ is held.
void Worker::apply(const protocol::SyncRequest& sent, protocol::SyncReply reply, Clock::time_point sent_at) {
  const auto pause = milliseconds(reply.sync_within_ms);
  const auto now = Clock::now();
  drain_told_ = sent.draining;
  if (reply.desired == "drain") draining_ = true;
  next_sync_ = now;

  if (current_) {
    current_->acknowledge(*sent.assignment);
    const bool desired = reply.desired == "execute" && reply.order->epoch == current_->order().epoch;
    const bool exit_told = !sent.assignment->exit.empty();
    if (desired || !exit_told) {
      if (!desired) current_->request_stop();
      if (exit_told || !current_->sync_due()) next_sync_ = now + pause;
      return;
    }
    current_.reset();
  }
  if (reply.desired == "execute" && !draining_) {
    current_ = std::make_shared<Assignment>(std::move(*reply.order));
    to_train_ = current_;
    changed_.notify_all();
    next_sync_ = now + pause;
  } else if (!sent.assignment && !draining_ && now - sent_at < kHeldAtLeast) {
    next_sync_ = now + pause;
  }
}

std::int64_t Worker::wait_ms_after_failure() {
  const std::int64_t doubled = options_.retry_ms_min << std::min(failures_ - 1, kRetryDoublingsMax);
  const double whole = static_cast<double>(std::clamp(doubled, options_.retry_ms_min, options_.retry_ms_max));
  // Three quarters to all of it, each worker another: they do not come back all at once.
  const double unit = random_unit(stable_hash(options_.id), {static_cast<std::uint64_t>(failures_)});
  return static_cast<std::int64_t>(whole * (0.75 + 0.25 * unit));
}

// How the worker ends, once it may.
std::optional<Worker::End> Worker::end_due() {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  const bool training = current_ && !current_->finished();
  // A call must have failed: between two calls, or at the start, silence means nothing.
  const bool away = failures_ > 0 && now - last_answer_ > milliseconds(options_.give_up_after_ms);
  if (options_.give_up_after_ms > 0 && away) {
    if (!training) return End::gave_up;
    current_->request_stop();
  }
  if (!draining_ || training) return std::nullopt;
  if (!current_ && drain_told_) return End::drained;
  if (!drain_begin_) drain_begin_ = now;
  const bool patience_over = now - *drain_begin_ > milliseconds(options_.drain_ms_max);
  return patience_over ? std::optional(End::drained) : std::nullopt;
}

}  // namespace tuneband::workers

#include "workers/sync_loop.hpp"

#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "core/random.hpp"
#include "net/free_port.hpp"
#include "os/host_name.hpp"
#include "workers/patient_run.hpp"

namespace tuneband::workers {

namespace {

using std::chrono::milliseconds;

// An idle sync that is answered "idle" sooner was not held: the next one waits, so that no server is flooded.
constexpr milliseconds kHeldAtLeast{10};
constexpr int kRetryDoublingsMax = 20;
constexpr milliseconds kLookEvery{1'000};        // at the thread that trains
constexpr milliseconds kReleaseAfter{10'000};    // without work: then the last trial is let go of
constexpr std::int64_t kHeldTimeoutMs = 60'000;  // of an idle worker's sync, which the server holds: well above the hold

constexpr std::int64_t kWaitForCheckMs = 5'000;  // before the next call is held: a check takes about one second

// The server answers an idle worker when there is work, and a rank that is done when the other ranks are.
bool may_be_held(const protocol::SyncRequest& request, const Assignment* current) {
  if (request.draining) return false;
  return !request.assignment || (current->order().group && !request.assignment->exit.empty());
}

}  // namespace

Worker::Worker(WorkerOptions options, net::HttpClient client, TrialRunner& runner)
    : options_(std::move(options)),
      client_(std::move(client)),
      runner_(runner),
      first_look_(options_),
      lacks_(milliseconds(options_.lack_ms)),
      process_end_(options_, runner_),
      last_answer_(Clock::now()) {}

Worker::End Worker::run() {
  process_end_.watch_this_thread();
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
  const milliseconds rest = std::min(kReleaseAfter, milliseconds(options_.lack_ms));
  while (true) {
    const bool called = changed_.wait_for(lock, rest, [this] { return to_train_ || to_check_ || end_; });
    if (!to_train_ && end_) break;
    if (to_check_) {
      const protocol::CheckOrder order = *std::exchange(to_check_, std::nullopt);
      lock.unlock();
      check(order);
      lock.lock();
      continue;
    }
    const std::shared_ptr<Assignment> assignment = std::exchange(to_train_, nullptr);
    // What the end of a segment is for is told with it, until the server has heard of it.
    const bool end_to_tell = current_ && current_->finished();
    lock.unlock();
    if (!end_to_tell) {
      looks_again_ = true;
      lacks_.look_again(Clock::now());
      looks_again_ = false;
    }
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

bool Worker::is_draining() {
  const std::lock_guard lock(mutex_);
  return draining_;
}

void Worker::check(const protocol::CheckOrder& order) {
  const std::string document = json_line(order.document);
  protocol::CheckResult result{order.id, options_.check_job(document, order.workers, [this] { return is_draining(); })};
  {
    const std::lock_guard lock(mutex_);
    check_result_ = std::move(result);
  }
  wake_.set();
}

SegmentResult Worker::run_segment(Assignment& assignment) {
  const protocol::AssignmentOrder& order = assignment.order();
  const std::string name = "job " + std::to_string(order.job) + " trial " + std::to_string(order.trial) + ": ";
  options_.log(name + "resource " + std::to_string(order.from_resource) + " to " + std::to_string(order.until_resource));
  first_look_.look(assignment);
  const auto note = [&](const std::string& fault) { options_.log(name + fault); };
  SegmentResult result = run_patiently(runner_, assignment, options_.lack_ms, note);
  blame_machine(order, result);
  if (!result.waits_for.empty()) return give_back(assignment, result);
  if (result.exit == kExitCompleted) lacks_.ran(order.job);
  first_look_.explain(order, result);
  return result;
}

// Another machine may do: the trial is charged nothing.
SegmentResult Worker::give_back(const Assignment& assignment, const SegmentResult& result) {
  const protocol::AssignmentOrder& order = assignment.order();
  lacks_.add(order, result, Clock::now());
  options_.log("job " + std::to_string(order.job) + " trial " + std::to_string(order.trial) +
               ": given back, for other machines: " + result.message);
  return {kExitStopped, result.message};
}

// ---- the sync loop's thread ---------------------------------------------------------------------------------------------------

void Worker::sync_until_end() {
  while (true) {
    const bool answered = sync_once();
    if (const auto end = end_due()) {
      process_end_.end_when_stalled();
      const std::lock_guard lock(mutex_);
      end_ = end;
      changed_.notify_all();
      return;
    }
    process_end_.replace_when_due(work());
    const auto now = Clock::now();
    auto wake_at = answered ? next_sync_ : now + milliseconds(wait_ms_after_failure());
    if (const auto due = process_end_.replacement_due(work())) wake_at = std::min(wake_at, *due);
    wait_until(wake_at);
  }
}

ProcessEnd::Work Worker::work() {
  const std::lock_guard lock(mutex_);
  return {current_, current_ != to_train_ || looks_again_, draining_};
}

// Or until there is something to tell. Looks at the thread that trains meanwhile.
void Worker::wait_until(Clock::time_point wake_at) {
  bool woken = false;
  do {
    if (process_end_.give_up_when_stalled(work())) wake_.set();
    const auto wait = std::min<Clock::duration>(wake_at - Clock::now(), kLookEvery);
    woken = wake_.wait(std::chrono::ceil<milliseconds>(wait).count());
  } while (!woken && Clock::now() < wake_at);
  wake_.clear();
}

// Where the other ranks of a group reach this worker, should its next order be one of a group.
void Worker::find_place() {
  {
    const std::lock_guard lock(mutex_);
    if (draining_ || (current_ && !current_->finished())) return;
  }
  if (!options_.advertise_address.empty()) {
    address_ = options_.advertise_address;
  } else if (failures_ == 0) {
    if (auto address = client_.local_address(options_.timeout_ms)) address_ = std::move(*address);
  }
  free_port_ = net::find_free_port();
}

bool Worker::sync_once() {
  find_place();
  protocol::SyncRequest request;
  bool held = false;
  {
    const std::lock_guard lock(mutex_);
    request = make_request();
    held = held_ = may_be_held(request, current_.get());
  }
  std::int64_t timeout_ms = held ? kHeldTimeoutMs : options_.timeout_ms;
  if (request.draining) timeout_ms = std::min(timeout_ms, options_.drain_ms_max);
  const std::string body = json_line(to_json(request));
  const auto sent_at = Clock::now();
  const auto answer = net::json_or_error(client_.request("POST", "/v1/workers/" + options_.id + "/sync", body, timeout_ms));
  Diagnostics diagnostics;
  protocol::SyncReply reply;
  if (answer) reply = protocol::sync_reply_from_json(*answer, diagnostics);

  const std::lock_guard lock(mutex_);
  held_ = false;
  if (!answer || !diagnostics.ok()) {
    const std::string fault =
        answer ? "the server's answer is not understood: " + describe(diagnostics.errors().front()) : describe(answer.error());
    ++failures_;
    if (fault != fault_told_ && !draining_) {
      options_.log(fault + "; trying again");
      fault_told_ = fault;
    }
    return false;
  }
  failures_ = 0;
  if (!std::exchange(fault_told_, {}).empty()) options_.log("the server is there again");
  last_answer_ = Clock::now();
  apply(request, std::move(reply), sent_at);
  return true;
}

// mutex_ is held.
protocol::SyncRequest Worker::make_request() const {
  static const std::string host = os::host_name();
  protocol::SyncRequest request;
  request.name = options_.name;
  request.host = host;
  request.pid = ::getpid();
  request.version = TUNEBAND_VERSION;
  request.data_keys = runner_.data_keys();
  if (request.data_keys.size() > protocol::kDataKeysMax) request.data_keys.resize(protocol::kDataKeysMax);
  request.draining = draining_;
  request.checks_jobs = static_cast<bool>(options_.check_job);
  request.check_result = check_result_;
  request.address = address_;
  request.free_port = free_port_;
  if (current_) request.assignment = current_->status();
  request.lacks = lacks_.all();  // after the end of the segment that has found it
  return request;
}

// mutex_ is held.
void Worker::apply(const protocol::SyncRequest& sent, protocol::SyncReply reply, Clock::time_point sent_at) {
  const auto pause = milliseconds(reply.sync_within_ms);
  const auto now = Clock::now();
  const bool was_held = may_be_held(sent, current_.get()) && now - sent_at >= kHeldAtLeast;
  drain_told_ = sent.draining;
  if (sent.check_result && check_result_ && sent.check_result->id == check_result_->id) check_result_.reset();
  const bool checks = reply.check && options_.check_job && !draining_;
  if (checks) {
    to_check_ = std::move(reply.check);
    changed_.notify_all();
  }
  if (reply.desired == "drain") draining_ = true;
  next_sync_ = now;

  if (current_) {
    const bool desired = reply.desired == "execute" && reply.order->epoch == current_->order().epoch;
    current_->acknowledge(*sent.assignment, desired);
    const bool exit_told = !sent.assignment->exit.empty();
    if (desired || !exit_told) {
      if (!desired) current_->request_stop();
      if (!was_held && (exit_told || !current_->sync_due())) next_sync_ = now + pause;
      return;
    }
    current_.reset();
  }
  if (reply.desired == "execute" && !draining_) {
    current_ = std::make_shared<Assignment>(std::move(*reply.order));
    to_train_ = current_;
    changed_.notify_all();
    next_sync_ = now + pause;
  } else if (checks) {
    next_sync_ = now + milliseconds(kWaitForCheckMs);  // or once it is done
  } else if (!sent.assignment && !draining_ && !was_held) {
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

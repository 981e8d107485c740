// A worker: one thread trains, one keeps the server told (ARCHITECTURE.md, "The worker protocol").
//
// Training never waits for the network: it goes on to until_resource by itself while the server is away, and the sync loop tries
// again for as long as it takes. What the server has not confirmed is kept and sent again.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "net/http_client.hpp"
#include "os/wake_event.hpp"
#include "workers/assignment.hpp"
#include "workers/stall_watch.hpp"
#include "workers/trial_runner.hpp"

namespace tuneband::workers {

struct WorkerOptions {
  std::string id;                         // unique for this process; of letters, digits, '-', '_' and '.'
  std::string name;                       // for people
  std::int64_t give_up_after_ms = 0;      // without any answer from the server; 0: never
  std::int64_t held_timeout_ms = 60'000;  // of an idle worker's sync, which the server holds: well above the hold
  std::int64_t timeout_ms = 10'000;       // of the other syncs
  std::int64_t retry_ms_min = 100;        // between two attempts, doubling up to the maximum
  std::int64_t retry_ms_max = 5'000;
  std::int64_t drain_ms_max = 5'000;       // after the segment's end, for telling the server
  std::int64_t release_after_ms = 10'000;  // without work: then the last trial is let go of
  std::string advertise_address;  // where the other ranks of a group reach this worker; "": its address towards the server
  // A rank of a group may hang in a call that waits for another rank. When it was told to stop and has not after so long,
  // `replace_process` is called, on the sync loop's thread: it ends the process, or puts a new worker of the same id in its
  // place.
  std::int64_t group_grace_ms = 5'000;
  // A segment whose thread does nothing at all for so long, and waits for no other process, hangs in a call: its trial fails, and
  // the process is replaced. Once it was told to stop, `group_grace_ms` is enough. 0: never.
  std::int64_t stall_ms = 300'000;
  std::function<void(bool for_good)> replace_process = [](bool) {};
  // What is found on this machine of a job's document (workers/check_process.hpp), on the thread that trains. `workers`: that
  // share it; `should_stop`: asked several times a second. Empty: this worker checks nothing.
  using CheckJob = std::function<Diagnostics(const std::string& document, int workers, const std::function<bool()>& should_stop)>;
  CheckJob check_job;
  std::function<void(const std::string&)> log = [](const std::string&) {};
};

class Worker {
 public:
  enum class End { drained, gave_up };

  Worker(WorkerOptions options, net::HttpClient client, TrialRunner& runner);

  // Works until drain(), the server's word to end, or giving up. Trains on the calling thread. Once.
  End run();

  // Any thread: end the segment (its trial can be resumed), tell the server, and come home.
  void drain();

 private:
  using Clock = std::chrono::steady_clock;

  void train();
  void check(const protocol::CheckOrder& order);
  void look_first(Assignment& assignment);
  bool is_draining();
  SegmentResult run_segment(Assignment& assignment);
  SegmentResult try_segment(Assignment& assignment);

  void sync_until_end();
  bool sync_once();  // one exchange with the server; whether it succeeded
  void find_place();
  protocol::SyncRequest make_request() const;
  void apply(const protocol::SyncRequest& sent, protocol::SyncReply reply, Clock::time_point sent_at);
  std::int64_t wait_ms_after_failure();
  std::optional<End> end_due();
  std::optional<Clock::time_point> replacement_due();
  void replace_when_due();
  void give_up_when_stalled();
  void wait_until(Clock::time_point wake_at);

  const WorkerOptions options_;
  net::HttpClient client_;
  TrialRunner& runner_;
  os::WakeEvent wake_;  // the sync loop has something to tell

  // The training thread's own.
  std::int64_t looked_at_ = 0;  // the job of the last order that said look_first
  std::string found_here_;      // the errors that its check found on this machine; "": none
  std::string found_first_;     // the first one's message alone

  // The sync loop's own.
  Clock::time_point last_answer_;
  Clock::time_point next_sync_;
  std::optional<Clock::time_point> drain_begin_;  // draining, and nothing is being trained any more
  int failures_ = 0;                              // in a row
  std::string address_;
  int free_port_ = 0;
  bool replaced_ = false;
  StallWatch stall_watch_;
  bool stalled_ = false;  // the thread that trains hangs: once the server has heard of it, the process is replaced
  std::shared_ptr<Assignment> stalled_at_;
  bool drain_told_ = false;  // the server has answered a sync that said so

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::shared_ptr<Assignment> current_;                // until the server no longer desires it
  std::shared_ptr<Assignment> to_train_;               // not yet taken by the training thread
  std::optional<protocol::CheckOrder> to_check_;       // the same
  std::optional<protocol::CheckResult> check_result_;  // until the server has it
  bool draining_ = false;
  bool held_ = false;  // the server may be holding our sync
  std::optional<End> end_;
};

}  // namespace tuneband::workers

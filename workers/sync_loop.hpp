// A worker: one thread trains, one keeps the server told (ARCHITECTURE.md, "The worker protocol").
//
// Training never waits for the network: it goes on to until_resource by itself while the server is away, and the sync loop tries
// again for as long as it takes. What the server has not confirmed is kept and sent again.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "net/http_client.hpp"
#include "os/wake_event.hpp"
#include "workers/assignment.hpp"
#include "workers/first_look.hpp"
#include "workers/machine_lacks.hpp"
#include "workers/process_end.hpp"
#include "workers/trial_runner.hpp"
#include "workers/worker_options.hpp"

namespace tuneband::workers {

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
  bool is_draining();
  SegmentResult run_segment(Assignment& assignment);
  SegmentResult give_back(const Assignment& assignment, const SegmentResult& result);

  void sync_until_end();
  bool sync_once();  // one exchange with the server; whether it succeeded
  void find_place();
  protocol::SyncRequest make_request() const;
  void apply(const protocol::SyncRequest& sent, protocol::SyncReply reply, Clock::time_point sent_at);
  std::int64_t wait_ms_after_failure();
  std::optional<End> end_due();
  ProcessEnd::Work work();
  void wait_until(Clock::time_point wake_at);

  const WorkerOptions options_;
  net::HttpClient client_;
  TrialRunner& runner_;
  os::WakeEvent wake_;  // the sync loop has something to tell

  // The training thread's own.
  FirstLook first_look_;
  MachineLacks lacks_;
  std::atomic<bool> looks_again_ = false;  // for what was missed: a call that may hang, as those of a segment

  // The sync loop's own.
  ProcessEnd process_end_;
  Clock::time_point last_answer_;
  Clock::time_point next_sync_;
  std::optional<Clock::time_point> drain_begin_;  // draining, and nothing is being trained any more
  int failures_ = 0;                              // in a row
  std::string fault_told_;                        // the last of them; "": none since an answer
  std::string address_;
  int free_port_ = 0;
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

// Live updates by server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html): what was committed, to those
// who watch a job.
//
// A watcher first gets the job as it is, then everything committed since it was added; the stream ends after the job's end. The job itself
// is read anew for each update, so it is sent at most once in kJobEventIntervalMs, the last one always. A watcher that
// does not keep up is told so (`lagged`) and let go.
//
// Loop thread only.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "scheduler/rows.hpp"
#include "server/http_types.hpp"

namespace tuneband::server {

struct EventHubOptions {
  std::size_t watchers_max = 1'000;
  std::size_t queued_bytes_max = 1024 * 1024;  // of one watcher
  std::int64_t job_interval_ms = 100;
  std::int64_t heartbeat_ms = 15'000;
};

class EventHub {
 public:
  struct JobNow {
    std::string json;
    bool ended = false;
  };
  // Reads the job as it is and calls back on the loop thread, never from within the call.
  using ReadJob = std::function<void(JobId, std::function<void(const Result<JobNow>&)>)>;

  EventHub(boost::asio::io_context& loop, ReadJob read_job, EventHubOptions options = {});

  // Error: `unavailable` when there are too many. Otherwise `respond` is answered with the stream.
  void watch(JobId job, const Respond& respond);

  // A listener of the engine.
  void on_committed(std::span<const Write> writes);

  // Ends every stream, and every later one at once.
  void close();

  std::size_t watchers() const;

 private:
  struct Watcher {
    std::shared_ptr<HttpStream> stream;
    bool has_job = false;
    std::string before_job;  // events that came before its first `job`
  };
  struct Channel {
    std::vector<std::shared_ptr<Watcher>> watchers;
    bool reading = false;      // or waiting for the interval to pass
    bool changed = false;      // since that read began
    std::shared_ptr<boost::asio::steady_timer> pause;
  };

  void refresh(JobId job);
  void job_read(JobId job, const Result<JobNow>& now);
  void wait_before_next(JobId job);
  void broadcast(JobId job, const std::string& event);
  void send(Watcher& watcher, const std::string& text);
  void end_all(JobId job);
  void forget(JobId job, const Watcher* watcher);
  void arm_heartbeat();

  boost::asio::io_context& loop_;
  ReadJob read_job_;
  EventHubOptions options_;
  std::map<JobId, Channel> channels_;
  boost::asio::steady_timer heartbeat_;
  bool beating_ = false;
  bool closed_ = false;
};

}  // namespace tuneband::server

// Live updates as server-sent events: what was committed, told to those who watch the job.
//
//   event: job          Job (docs/api.md); first of all, and after each change of the job's row
//   event: trial        Trial
//   event: observation  {"trial", "resource", "objective", "metrics", "at"}
//   event: decision     Decision
//   event: lagged       {}; the client was too slow and is let go: it may come again
//
// A stream ends after the job's end was told. Loop thread only.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "scheduler/rows.hpp"
#include "server/http_types.hpp"
#include "server/read_thread.hpp"

namespace tuneband::server {

inline constexpr std::size_t kEventQueueBytesMax = 4 * 1024 * 1024;  // for one client

class EventHub {
 public:
  EventHub(boost::asio::io_context& loop, ReadThread& reads, std::int64_t heartbeat_ms = 15'000);

  // `stream` has its head sent. The job is there.
  void subscribe(JobId job, std::shared_ptr<HttpStream> stream);
  void on_committed(std::span<const Write> writes, Timestamp now);
  void close();  // ends all streams
  std::size_t subscribers() const;

 private:
  struct Topic {
    std::vector<std::shared_ptr<HttpStream>> streams;
    bool reading = false;  // the job is being read
    bool stale = false;    // it changed since
  };

  void tell(Topic& topic, std::string_view event, const std::string& json);
  void tell_job(JobId job);
  void beat();
  static void drop_closed(Topic& topic);

  ReadThread& reads_;
  std::map<JobId, Topic> topics_;
  boost::asio::steady_timer heartbeat_;
  std::int64_t heartbeat_ms_;
};

}  // namespace tuneband::server

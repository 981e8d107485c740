// Live updates as server-sent events: what was committed, told to those who watch the job.
//
//   event: job          Job (docs/api.md); first of all, and after each change of the job's row
//   event: trial        Trial
//   event: observation  {"trial", "resource", "objective", "metrics", "at"}
//   event: decision     Decision
//   event: lagged       {}; the client was too slow and is let go: it may come again
//
//   event: gap          {}; after a reconnection: what came in between is not there any more
//
// Trials, observations and decisions have an id. A client that comes back with the last one it has seen (Last-Event-ID) is told
// what came since, as long as that is not too much or too long ago. A stream ends after the job's end was told. Loop thread only.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "scheduler/rows.hpp"
#include "server/api/read_thread.hpp"
#include "server/http/http_types.hpp"

namespace tuneband::server {

inline constexpr std::size_t kEventQueueBytesMax = 4 * 1024 * 1024;  // for one client
inline constexpr std::size_t kEventsKeptBytesMax = 256 * 1024;       // of one job, for those who come back
inline constexpr int kBeatsAloneMax = 4;                             // heartbeats that a job's events are kept without a client

class EventHub {
 public:
  EventHub(boost::asio::io_context& loop, ReadThread& reads, std::int64_t heartbeat_ms = 15'000);

  // `stream` has its head sent. The job is there.
  void subscribe(JobId job, std::shared_ptr<HttpStream> stream, std::string_view last_event_id = {});
  void on_committed(std::span<const Write> writes, Timestamp now);
  void close();  // ends all streams
  std::size_t subscribers() const;

 private:
  struct Topic {
    std::vector<std::shared_ptr<HttpStream>> streams;
    bool reading = false;  // the job is being read
    bool stale = false;    // it changed since
    struct Event {
      std::uint64_t number = 0;
      std::string text;
    };
    std::deque<Event> kept;  // the newest ones
    std::size_t kept_bytes = 0;
    std::uint64_t kept_from = 1;  // all events of this number and above are in `kept`
    int beats_alone = 0;
  };

  void tell(Topic& topic, std::string_view event, const std::string& json);
  static void write(Topic& topic, const std::string& text);
  void tell_missed(const Topic& topic, HttpStream& stream, std::string_view last_event_id) const;
  void tell_job(JobId job);
  void beat();
  static void drop_closed(Topic& topic);

  ReadThread& reads_;
  std::map<JobId, Topic> topics_;
  boost::asio::steady_timer heartbeat_;
  std::int64_t heartbeat_ms_;
  std::string life_;          // ids of an earlier server mean nothing to this one
  std::uint64_t number_ = 0;  // of the last event that has an id
};

}  // namespace tuneband::server

// Live updates of jobs as server-sent events: what was committed, told to those who watch the job.
//
//   event: job          Job (docs/api.md); first of all, and after each change of the job's row
//   event: trial        Trial
//   event: observation  {"trial", "resource", "objective", "metrics", "at"}
//   event: decision     Decision
//   event: finding      Finding
//   event: note         {"trial": number or null, "note": text}
//   event: lagged       {}; the client was too slow and is let go: it may come again
//   event: gap          {}; after a reconnection: what came in between is not known any more
//
// The last message of a commit has an id, "<event>-<ms>": the newest row of the log, and the time of the newest report. A client
// that comes back with the last one it has seen (Last-Event-ID) is told what came since, out of the database, also by the next
// server; some of it twice. A stream ends after the job's end was told. Loop thread only.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/rows.hpp"
#include "server/api/event_text.hpp"
#include "server/api/heartbeat.hpp"
#include "server/api/read_thread.hpp"
#include "server/http/http_types.hpp"

namespace tuneband::server {

class EventHub {
 public:
  EventHub(boost::asio::io_context& loop, ReadThread& reads);

  // Once, before anybody comes: what was committed before this server.
  void restore(const Snapshot& snapshot);
  // `stream` has its head sent. The job is there.
  void subscribe(JobId job, std::shared_ptr<HttpStream> stream, std::string_view last_event_id = {});
  void on_committed(std::span<const Write> writes, Timestamp now);
  void note_changed(JobId job, std::optional<int> trial, const std::string& note);
  void close();  // ends all streams
  std::size_t subscribers() const;

 private:
  // Up to where everything was told.
  struct Position {
    std::int64_t event = 0;
    Timestamp at;
  };
  struct Watcher {
    std::shared_ptr<HttpStream> stream;
    std::optional<std::string> held;  // what comes while it is read what this one missed
  };
  struct Topic {
    std::vector<Watcher> watchers;
    bool reading = false;  // the job is being read
    bool stale = false;    // it changed since
  };
  using Messages = std::vector<std::pair<std::string_view, std::string>>;  // types and data

  static std::optional<Position> position_from(std::string_view id);
  std::string id() const;
  void note_position(const Write& write);
  void tell(Topic& topic, const Messages& messages);
  static void write(Topic& topic, const std::string& text);
  static void write(Watcher& watcher, const std::string& text);
  void read_missed(JobId job, const std::weak_ptr<HttpStream>& stream, Position last);
  void tell_missed(JobId job, const std::shared_ptr<HttpStream>& stream, const std::string& text);
  void tell_job(JobId job);
  void job_read(JobId job, const Result<std::pair<std::string, bool>>& answer);
  bool beat();
  static void drop_closed(Topic& topic);

  ReadThread& reads_;
  std::map<JobId, Topic> topics_;
  Position position_;
  Heartbeat heartbeat_;
};

}  // namespace tuneband::server

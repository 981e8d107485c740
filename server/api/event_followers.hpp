// Those who follow the log of events, of all jobs or of one: each is sent the rows that come after the last it has, read from the
// database, so that it does not matter how long it was away or how fast it reads. Loop thread only.
//
//   id: 123
//   event: event   Event (docs/api.md)
//   event: note    {"job", "trial": number or null, "note": text}; as it is written: it is no row, and has no id
//   event: gap     {}; some of what came before the next one is not kept any more
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scheduler/rows.hpp"
#include "server/api/heartbeat.hpp"
#include "server/api/read_thread.hpp"
#include "server/http/http_types.hpp"

namespace tuneband::server {

class EventFollowers {
 public:
  EventFollowers(boost::asio::io_context& loop, ReadThread& reads);

  // `after`: nothing: what happens from now on. `stream` has its head sent.
  void follow(std::optional<JobId> job, std::optional<std::int64_t> after, std::shared_ptr<HttpStream> stream);
  void on_committed(std::span<const Write> writes);
  void note_changed(JobId job, std::optional<int> trial, const std::string& note);
  void close();

 private:
  struct Follower {
    std::optional<JobId> job;
    std::optional<std::int64_t> after;  // nothing: not known yet what the newest is
    std::shared_ptr<HttpStream> stream;
    bool reading = false;
    bool again = false;   // there is more since
    bool queued = false;  // waits for its turn to be read for
  };

  struct Found {
    EventsAfter after;
    std::string text;  // of its events
  };

  void advance(const std::shared_ptr<Follower>& follower);
  static void tell(Follower& follower, const Found& found);
  void read_for(const std::shared_ptr<Follower>& follower);
  void read_for_next();
  bool beat();

  ReadThread& reads_;
  std::vector<std::shared_ptr<Follower>> followers_;
  std::deque<std::weak_ptr<Follower>> queue_;
  std::size_t reads_under_way_ = 0;
  Heartbeat heartbeat_;
};

}  // namespace tuneband::server

// What happens to jobs, trials and workers, in the server's log. A listener of the engine.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "scheduler/rows.hpp"

namespace tuneband::server {

class ActivityLog {
 public:
  // Of one worker's coming and going: one that is started again and again, each time under another id, has one name. One that
  // is started anew a few times is told of to the end: what its last line says is how it is.
  static constexpr int kLinesAMinute = 12;

  // `is_local`: whether the supervisor tells of it.
  explicit ActivityLog(std::function<bool(const WorkerId&)> is_local) : is_local_(std::move(is_local)) {}

  void on_committed(std::span<const Write> writes);

 private:
  struct Lines {
    Timestamp since;
    int written = 0;
    int left_out = 0;
  };

  void log_event(const EventRow& event);
  bool may_write(const EventRow& event);

  std::function<bool(const WorkerId&)> is_local_;
  std::map<std::string, Lines> of_the_minute_;  // by a worker's name
};

}  // namespace tuneband::server

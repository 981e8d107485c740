// What this machine lacks for jobs, as segments of theirs have found: the server is told with every call, and gives those jobs to
// other machines until this one says so no more.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "workers/protocol/sync.hpp"
#include "workers/trial_runner.hpp"

namespace tuneband::workers {

// Of a command's segment that failed on another machine than the server's, where the job was looked at: if what the command
// cannot be started without is not there, the result waits for that.
void blame_machine(const protocol::AssignmentOrder& order, SegmentResult& result);

class MachineLacks {
 public:
  using Clock = std::chrono::steady_clock;

  // `look_after`: how long after something was missed it is looked for.
  explicit MachineLacks(std::chrono::milliseconds look_after) : look_after_(look_after) {}

  // The training thread's side. `result`, of the order's segment, waits for something: the server's data directory is lacked for
  // every job, all else for the order's.
  void add(const protocol::AssignmentOrder& order, const SegmentResult& result, Clock::time_point now);
  // Looks for what is lacked when its time has come, which is twice as long after it each time it was missed again, up to 32
  // times. What cannot be looked for may be there by then.
  void look_again(Clock::time_point now);
  // A segment of the job has come to its end: the next time that something is missed is the first.
  void ran(std::int64_t job);

  // Any thread's.
  std::vector<protocol::Lack> all() const;

 private:
  struct Missed {
    protocol::Lack lack;
    std::string trial_dir;
    Json trainer;
    int times = 0;
    bool lacked = false;
    Clock::time_point look_at;
  };

  static bool is_there(const Missed& missed);

  const std::chrono::milliseconds look_after_;
  mutable std::mutex mutex_;
  std::map<std::int64_t, Missed> by_job_;  // 0: every job
};

}  // namespace tuneband::workers

// Ends or replaces this process when the thread that trains does not come home: it hangs in a call to a file, or to the other
// ranks of its group, and nothing else helps.
//
// The sync loop's thread alone.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "workers/assignment.hpp"
#include "workers/stall_watch.hpp"
#include "workers/trial_runner.hpp"
#include "workers/worker_options.hpp"

namespace tuneband::workers {

class ProcessEnd {
 public:
  using Clock = std::chrono::steady_clock;

  // What the worker is at.
  struct Work {
    std::shared_ptr<Assignment> assignment;  // nothing: none
    bool taken = false;                      // by the thread that trains
    bool draining = false;                   // then the process is ended, and not replaced
  };

  // Both outlive it.
  ProcessEnd(const WorkerOptions& options, const TrialRunner& runner) : options_(options), runner_(runner) {}

  // The calling thread is the one that trains.
  void watch_this_thread() { stall_watch_.watch_this_thread(); }

  // When a segment that should end, and may hang, is given up with the whole process.
  std::optional<Clock::time_point> replacement_due(const Work& work) const;
  void replace_when_due(const Work& work);
  // To be called once a second or so. True: the segment was given up, and the server is to hear of that as of any other end. Its
  // answer to that is the last thing this process takes.
  bool give_up_when_stalled(const Work& work);
  // The worker comes home, but for a thread that was given up.
  void end_when_stalled();

 private:
  void replace(bool for_good);

  const WorkerOptions& options_;
  const TrialRunner& runner_;
  StallWatch stall_watch_;
  std::shared_ptr<Assignment> stalled_;  // was given up: once the server has heard of it, the process is replaced
  bool replaced_ = false;
};

}  // namespace tuneband::workers

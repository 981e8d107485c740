// Whether the thread that trains is at work or hangs in a call that may never come back: a file on a mount that is gone.
//
// Decided by what can be known: a thread that reads, computes or writes uses processor time, however slowly it gets on; one that
// hangs uses none at all. Time counts only while this process runs: not while it is stopped, nor while the machine sleeps.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>

namespace tuneband::workers {

class StallWatch {
 public:
  using Clock = std::chrono::steady_clock;

  // Watches the calling thread.
  void watch_this_thread();
  // To be called once a second or so, by another thread: since when the watched one has used no processor time, as far as this
  // was looked at. `may_be_still`: it rightly does nothing.
  std::chrono::milliseconds still_for(bool may_be_still);

 private:
  std::optional<clockid_t> cpu_clock_;
  std::int64_t cpu_ns_ = -1;
  Clock::time_point looked_at_;
  std::chrono::milliseconds still_{0};
};

}  // namespace tuneband::workers

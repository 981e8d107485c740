#include "workers/stall_watch.hpp"

#include <pthread.h>

#include <algorithm>

namespace tuneband::workers {

namespace {

// Between two looks at the most: what is above it, this process was stopped.
constexpr std::chrono::milliseconds kLookMsMax{2'000};

}  // namespace

void StallWatch::watch_this_thread() {
  clockid_t clock = 0;
  if (::pthread_getcpuclockid(::pthread_self(), &clock) == 0) cpu_clock_ = clock;
}

std::chrono::milliseconds StallWatch::still_for(bool may_be_still) {
  timespec used{};
  if (!cpu_clock_ || ::clock_gettime(*cpu_clock_, &used) != 0) return std::chrono::milliseconds(0);
  const std::int64_t ns = used.tv_sec * 1'000'000'000 + used.tv_nsec;
  const auto now = Clock::now();
  const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(now - looked_at_);
  looked_at_ = now;
  const bool at_work = may_be_still || ns != cpu_ns_;
  cpu_ns_ = ns;
  still_ = at_work ? std::chrono::milliseconds(0) : still_ + std::min(passed, kLookMsMax);
  return still_;
}

}  // namespace tuneband::workers

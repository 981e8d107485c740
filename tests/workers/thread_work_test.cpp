#include "workers/thread_work.hpp"

#include <gtest/gtest.h>
#include <time.h>

#include <thread>

namespace tuneband::workers {

namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;

std::uint64_t on_core_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1000 * kMillisecond + static_cast<std::uint64_t>(time.tv_nsec);
}

void compute_for(std::uint64_t ns) {
  const std::uint64_t begin = on_core_ns();
  while (on_core_ns() - begin < ns) {
  }
}

}  // namespace

TEST(ThreadWork, CountsWhatTheThreadComputesAndNotWhatItWaitsFor) {
  constexpr std::uint64_t kMuch = 60 * kMillisecond;
  ThreadWork work;
  compute_for(kMuch);
  EXPECT_GE(work.take_ns(), kMuch - 10 * kMillisecond) << "the kernel brings it up to date at each tick";
  std::thread([] { compute_for(kMuch); }).join();
  EXPECT_LT(work.take_ns(), kMuch / 2);
}

}  // namespace tuneband::workers

#include "workers/thread_work.hpp"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <utility>

namespace tuneband::workers {

// proc(5): nanoseconds on a core, nanoseconds in a run queue.
std::uint64_t ThreadWork::read_ns() {
  std::array<char, 128> text{};
  const int fd = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    const ssize_t size = ::read(fd, text.data(), text.size() - 1);
    ::close(fd);
    char* end = text.data();
    const std::uint64_t on_core = size > 0 ? std::strtoull(end, &end, 10) : 0;
    if (on_core > 0) return on_core + std::strtoull(end, nullptr, 10);
  }
  constexpr std::uint64_t kSecond = 1'000'000'000;
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * kSecond + static_cast<std::uint64_t>(time.tv_nsec);
}

std::uint64_t ThreadWork::take_ns() {
  const std::uint64_t now = read_ns();
  const std::uint64_t before = std::exchange(before_, now);
  return now > before ? now - before : 0;
}

}  // namespace tuneband::workers

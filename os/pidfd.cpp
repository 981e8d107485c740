#include "os/pidfd.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

// glibc 2.36 declares them for C only.
extern "C" {
#include <sys/pidfd.h>
}

namespace tuneband::os {

UniqueFd open_pidfd(pid_t pid) { return UniqueFd(::pidfd_open(pid, 0)); }

void send_signal(int pidfd, int signal) { ::pidfd_send_signal(pidfd, signal, nullptr, 0); }

bool ends_within(int pidfd, int ms_max) {
  using std::chrono::steady_clock;
  const auto deadline = steady_clock::now() + std::chrono::milliseconds(std::max(0, ms_max));
  for (int left = std::max(0, ms_max);;) {
    pollfd ended{pidfd, POLLIN, 0};
    const int ready = ::poll(&ended, 1, left);
    if (ready >= 0 || errno != EINTR) return ready == 1;
    left = static_cast<int>(
        std::max<std::int64_t>(0, std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now()).count()));
  }
}

}  // namespace tuneband::os

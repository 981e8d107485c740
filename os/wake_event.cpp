#include "os/wake_event.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>

namespace tuneband::os {

WakeEvent::WakeEvent() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!fd_) throw std::system_error(errno, std::generic_category(), "cannot make an event");
}

void WakeEvent::set() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(fd_.get(), &one, sizeof one);  // fails only where it is set already
}

void WakeEvent::clear() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(fd_.get(), &count, sizeof count);  // fails only where it is not set
}

bool WakeEvent::wait(std::int64_t timeout_ms) const {
  pollfd wait{fd_.get(), POLLIN, 0};
  return ::poll(&wait, 1, static_cast<int>(std::clamp<std::int64_t>(timeout_ms, 0, std::numeric_limits<int>::max()))) > 0;
}

}  // namespace tuneband::os

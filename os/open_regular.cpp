#include "os/open_regular.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>

namespace tuneband::os {

UniqueFd open_regular(const std::string& path, int flags, mode_t mode) {
  // Without blocking, even for a pipe: ENXIO says that nobody reads it.
  UniqueFd file(::open(path.c_str(), flags | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, mode));
  if (!file) {
    if (errno == ENXIO) errno = EINVAL;
    return file;
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return {};
  if (S_ISREG(status.st_mode)) return file;
  file.reset();
  errno = EINVAL;
  return {};
}

std::optional<std::string> read_regular(const std::string& path) {
  const UniqueFd file = open_regular(path, O_RDONLY);
  if (!file) return std::nullopt;
  std::string text;
  std::array<char, 64 * 1024> buffer;
  while (true) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got == 0) return text;
    if (got < 0 && errno != EINTR) return std::nullopt;
    if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace tuneband::os

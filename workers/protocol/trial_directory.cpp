#include "workers/protocol/trial_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "workers/protocol/sync.hpp"

namespace tuneband::protocol {

namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

}  // namespace

std::optional<TrialDirectory> TrialDirectory::open(const std::string& path) {
  const int fd = ::open(path.c_str(), kDirectory);
  return fd < 0 ? std::nullopt : std::optional(TrialDirectory(fd));
}

std::optional<TrialDirectory> TrialDirectory::inside(const std::string& name) const {
  const int fd = ::openat(fd_, name.c_str(), kDirectory);
  return fd < 0 ? std::nullopt : std::optional(TrialDirectory(fd));
}

std::optional<TrialDirectory> TrialDirectory::checkpoints(std::int64_t epoch) const {
  if (epoch == 0) return inside(kCheckpointDir);
  const auto epochs = inside(kEpochsDir);
  const auto own = epochs ? epochs->inside(std::to_string(epoch)) : std::nullopt;
  return own ? own->inside(kCheckpointDir) : std::nullopt;
}

TrialDirectory::TrialDirectory(TrialDirectory&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

TrialDirectory::~TrialDirectory() {
  if (fd_ >= 0) ::close(fd_);
}

std::string TrialDirectory::path() const { return "/proc/self/fd/" + std::to_string(fd_); }

bool TrialDirectory::has(const std::string& name) const {
  struct stat info {};
  return ::fstatat(fd_, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
}

bool TrialDirectory::removed() const {
  struct stat info {};
  return ::fstat(fd_, &info) == 0 && info.st_nlink == 0;
}

int TrialDirectory::open_file(const std::string& name, int flags, unsigned mode) const {
  return ::openat(fd_, name.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, mode);
}

int TrialDirectory::make_file(const std::string& name, unsigned mode) const {
  ::unlinkat(fd_, name.c_str(), 0);
  return open_file(name, O_WRONLY | O_CREAT | O_EXCL, mode);
}

}  // namespace tuneband::protocol

#include "workers/protocol/trial_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workers/protocol/sync.hpp"

namespace tuneband::protocol {

namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

}  // namespace

std::optional<TrialDirectory> TrialDirectory::open(const std::string& path) {
  os::UniqueFd fd(::open(path.c_str(), kDirectory));
  return fd ? std::optional(TrialDirectory(std::move(fd))) : std::nullopt;
}

std::optional<TrialDirectory> TrialDirectory::inside(const std::string& name) const {
  os::UniqueFd fd(::openat(fd_.get(), name.c_str(), kDirectory));
  return fd ? std::optional(TrialDirectory(std::move(fd))) : std::nullopt;
}

std::optional<TrialDirectory> TrialDirectory::checkpoints(std::int64_t epoch) const {
  if (epoch == 0) return inside(kCheckpointDir);
  const auto epochs = inside(kEpochsDir);
  const auto own = epochs ? epochs->inside(std::to_string(epoch)) : std::nullopt;
  return own ? own->inside(kCheckpointDir) : std::nullopt;
}

std::string TrialDirectory::path() const { return "/proc/self/fd/" + std::to_string(fd_.get()); }

bool TrialDirectory::has(const std::string& name) const {
  struct stat info {};
  return ::fstatat(fd_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
}

bool TrialDirectory::removed() const {
  struct stat info {};
  return ::fstat(fd_.get(), &info) == 0 && info.st_nlink == 0;
}

os::UniqueFd TrialDirectory::open_file(const std::string& name, int flags, unsigned mode) const {
  return os::UniqueFd(::openat(fd_.get(), name.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, mode));
}

os::UniqueFd TrialDirectory::make_file(const std::string& name, unsigned mode) const {
  ::unlinkat(fd_.get(), name.c_str(), 0);
  return open_file(name, O_WRONLY | O_CREAT | O_EXCL, mode);
}

}  // namespace tuneband::protocol

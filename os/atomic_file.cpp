#include "os/atomic_file.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "os/open_regular.hpp"

namespace tuneband::os {

namespace {

std::string own_ending() {
  static std::atomic<unsigned> made{0};
  return ".tmp" + std::to_string(::getpid()) + "-" + std::to_string(++made);
}

}  // namespace

AtomicFile::AtomicFile(std::string path, mode_t mode)
    : path_(std::move(path)),
      aside_(path_ + own_ending()),
      file_(open_regular(aside_, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode)) {
  if (!file_) aside_.clear();
}

AtomicFile::~AtomicFile() {
  const int why = errno;
  if (!aside_.empty()) ::unlink(aside_.c_str());
  errno = why;
}

bool AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return is_open();
}

bool AtomicFile::flush() { return ::fsync(file_.get()) == 0; }

bool AtomicFile::commit() {
  if (!file_ || ::close(file_.release()) != 0 || std::rename(aside_.c_str(), path_.c_str()) != 0) return false;
  aside_.clear();
  return true;
}

bool flush_directory(const std::string& path) {
  const UniqueFd directory(::open(path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return directory && (::fsync(directory.get()) == 0 || errno == EINVAL || errno == ENOTSUP);
}

}  // namespace tuneband::os

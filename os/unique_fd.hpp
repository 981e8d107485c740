// A file descriptor that closes itself, and a pipe of two.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <optional>
#include <utility>

namespace tuneband::os {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~UniqueFd() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset() {
    if (fd_ >= 0) ::close(release());
  }
  // For who closes it from now on.
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

// Close-on-exec. Nothing: errno says why.
inline std::optional<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// Reads and writes of it do not wait. On one end of a pipe the other stays as it is.
inline void do_not_block(const UniqueFd& fd) { ::fcntl(fd.get(), F_SETFL, O_NONBLOCK); }

}  // namespace tuneband::os

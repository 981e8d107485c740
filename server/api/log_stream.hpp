// Files of trials as bodies: whole, a range, the tail, or followed while they grow. Paths are made by the server, never from a
// user's text; only regular files are opened, never through a symbolic link at the last step. Loop thread only: the pieces are
// small.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "os/unique_fd.hpp"
#include "scheduler/rows.hpp"
#include "server/http/http_types.hpp"
#include "workers/protocol/trial_directory.hpp"

namespace tuneband::server {

// Why a file, or a directory on its way, could not be opened, of its errno.
Error cannot_open(int why);

class OpenFile {
 public:
  // Errors: `not_found` (not there, not a regular file, not readable), `unavailable` (there may be one; no file handle is left).
  static Result<OpenFile> open(const std::string& path);
  // The same of a name in a directory.
  static Result<OpenFile> open_in(const protocol::TrialDirectory& directory, const std::string& name);

  std::uint64_t size() const;  // now
  // Up to `size_max` bytes from `offset`; "" at the end or after a fault.
  std::string read(std::uint64_t offset, std::size_t size_max) const;

 private:
  explicit OpenFile(os::UniqueFd fd) : fd_(std::move(fd)) {}
  os::UniqueFd fd_;
};

struct ByteRange {
  std::uint64_t from = 0;
  std::uint64_t to = 0;  // past the last byte
};

// A Range header against a file of `size` bytes (RFC 9110, section 14): one range of bytes. Nothing: ignore the header, as the
// RFC allows for what is not understood; an empty range: it cannot be satisfied.
std::optional<ByteRange> parse_range(std::string_view header, std::uint64_t size);

// Answers with these bytes, piece by piece as the client takes them. Breaks off when they are no longer there.
void send_file(OpenFile file, ByteRange range, HttpReply head, const Respond& respond);

// Logs that are followed: each goes on until its trial has ended and everything is sent.
class LogFollowers {
 public:
  explicit LogFollowers(boost::asio::io_context& loop) : timer_(loop) {}

  // `path` may not be there yet. `stream` has its head sent.
  void follow(TrialId trial, std::string path, std::uint64_t from, bool trial_ended, std::shared_ptr<HttpStream> stream);
  // Its log will not grow any more.
  void trial_over(TrialId trial);
  void on_committed(std::span<const Write> writes);
  void close();

 private:
  struct Follower {
    TrialId trial;
    std::string path;
    std::uint64_t offset = 0;
    bool trial_ended = false;
    std::optional<OpenFile> file;
    std::shared_ptr<HttpStream> stream;
  };

  static void advance(Follower& follower);
  void arm();

  std::vector<std::shared_ptr<Follower>> followers_;
  boost::asio::steady_timer timer_;
};

}  // namespace tuneband::server

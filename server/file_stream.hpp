// Files of trials as bodies: whole, a range, the tail, or followed while they grow.
//
// Only regular files are opened, never through a symbolic link at the last step, and never so that opening could block. Reads are of
// page-cache size and happen on the loop thread; no more is read ahead than kReadAheadBytes of what the client has taken.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/ids.hpp"
#include "scheduler/rows.hpp"
#include "server/http_types.hpp"

namespace tuneband::server {

struct ByteRange {
  std::uint64_t from = 0;
  std::uint64_t length = 0;
};

enum class RangeVerdict { whole, part, unsatisfiable };

// A `Range` header against a file of `size` bytes (RFC 9110, section 14). Anything but one range of bytes is ignored, as it allows.
RangeVerdict parse_range(std::string_view header, std::uint64_t size, ByteRange& range);

// The last `count` bytes.
ByteRange tail_of(std::uint64_t size, std::uint64_t count);

class OpenFile {
 public:
  // Nothing: not there, not a regular file, not readable.
  static std::optional<OpenFile> open(const std::string& path);
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&&) = delete;
  ~OpenFile();

  std::uint64_t size() const;  // now
  // Up to `size_max` bytes from `offset`; "" at the end or after a fault.
  std::string read(std::uint64_t offset, std::size_t size_max) const;

 private:
  explicit OpenFile(int fd) : fd_(fd) {}
  int fd_;
};

// Answers with the file, or the part that `range_header` or `tail` asks for; an empty body when `path` is not there.
void send_file(const std::string& path, std::string_view range_header, std::optional<std::uint64_t> tail, const std::string& content_type,
               const Respond& respond);

// Logs that are followed: each goes on until its trial has ended and everything is sent. Loop thread only.
class LogFollowers {
 public:
  explicit LogFollowers(boost::asio::io_context& loop);
  ~LogFollowers();
  LogFollowers(const LogFollowers&) = delete;
  LogFollowers& operator=(const LogFollowers&) = delete;

  // Begins now, from `tail` bytes before the end (or from the start). Until trial_state() is told that the trial goes on or is over, an
  // end is only noticed by on_committed(); so: follow first, then look at the row.
  std::uint64_t follow(TrialId trial, const std::string& path, std::optional<std::uint64_t> tail, const Respond& respond);
  void trial_ended(std::uint64_t follower);

  // A listener of the engine.
  void on_committed(std::span<const Write> writes);
  void close();
  std::size_t count() const { return followers_.size(); }

 private:
  struct Follower;
  void pump(Follower& follower);
  void pump_all();
  void arm();

  boost::asio::steady_timer timer_;
  bool armed_ = false;
  bool closed_ = false;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, std::shared_ptr<Follower>> followers_;
};

}  // namespace tuneband::server

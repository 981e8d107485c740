#include "server/api/log_stream.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <utility>

#include "core/decimal.hpp"
#include "os/fault_text.hpp"
#include "server/api/no_file_handle.hpp"
#include "workers/protocol/trial_directory.hpp"

namespace tuneband::server {

namespace {

constexpr std::size_t kPieceSize = 64 * 1024;
constexpr auto kFollowInterval = std::chrono::milliseconds(200);

}  // namespace

Error cannot_open(int why) {
  if (os::is_want_of_file_handles(why)) return no_file_handle();
  return {ErrorCode::not_found, "there is no such file", "", ""};
}

Result<OpenFile> OpenFile::open(const std::string& path) {
  const std::filesystem::path whole(path);
  const auto directory = protocol::TrialDirectory::open(whole.parent_path().string());
  if (!directory) return cannot_open(errno);
  return open_in(*directory, whole.filename().string());
}

Result<OpenFile> OpenFile::open_in(const protocol::TrialDirectory& directory, const std::string& name) {
  os::UniqueFd fd = directory.open_file(name, O_RDONLY);
  if (!fd) return cannot_open(errno);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return cannot_open(ENOENT);
  return OpenFile(std::move(fd));
}

std::uint64_t OpenFile::size() const {
  struct stat status {};
  return ::fstat(fd_.get(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

std::string OpenFile::read(std::uint64_t offset, std::size_t size_max) const {
  std::string piece(size_max, '\0');
  const ssize_t size = ::pread(fd_.get(), piece.data(), piece.size(), static_cast<off_t>(offset));
  piece.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return piece;
}

std::optional<ByteRange> parse_range(std::string_view header, std::uint64_t size) {
  constexpr std::string_view kUnit = "bytes=";
  if (!header.starts_with(kUnit)) return std::nullopt;
  header.remove_prefix(kUnit.size());
  const auto dash = header.find('-');
  if (dash == std::string_view::npos || header.find(',') != std::string_view::npos) return std::nullopt;
  const std::string_view first = header.substr(0, dash);
  const std::string_view last = header.substr(dash + 1);
  if (first.empty()) {  // the last so many bytes
    const auto count = integer_in<std::uint64_t>(last);
    if (!count) return std::nullopt;
    return ByteRange{size - std::min(size, *count), size};
  }
  const auto from = integer_in<std::uint64_t>(first);
  const auto to = last.empty() ? std::optional(size) : integer_in<std::uint64_t>(last);
  if (!from || !to || (!last.empty() && *to < *from)) return std::nullopt;
  const std::uint64_t end = last.empty() || *to >= size ? size : *to + 1;
  return ByteRange{std::min(*from, end), end};
}

void send_file(OpenFile file, ByteRange range, HttpReply head, const Respond& respond) {
  const std::uint64_t length = range.to - range.from;
  const auto stream = respond->stream(std::move(head), length);
  const auto shared = std::make_shared<OpenFile>(std::move(file));
  const auto offset = std::make_shared<std::uint64_t>(range.from);
  // The stream holds this closure, and lets go of it when it closes.
  const auto next = [shared, offset, range, weak = std::weak_ptr(stream)] {
    const auto its = weak.lock();
    if (!its || !its->open()) return;
    const std::uint64_t left = range.to - *offset;
    if (left == 0) return its->end();
    std::string piece = shared->read(*offset, static_cast<std::size_t>(std::min<std::uint64_t>(left, kPieceSize)));
    if (piece.empty()) return;  // it has become shorter than was promised: without its end the stream breaks off
    *offset += piece.size();
    its->write(std::move(piece));
  };
  stream->on_drained(next);
}

void LogFollowers::follow(TrialId trial, std::string path, std::uint64_t from, bool trial_ended,
                          std::shared_ptr<HttpStream> stream) {
  const auto follower = std::make_shared<Follower>();
  follower->trial = trial;
  follower->path = std::move(path);
  follower->offset = from;
  follower->trial_ended = trial_ended;
  follower->stream = std::move(stream);
  // What is there already is sent as fast as the client takes it; then the timer looks for more.
  follower->stream->on_drained([weak = std::weak_ptr(follower)] {
    if (const auto its = weak.lock()) advance(*its);
  });
  followers_.push_back(follower);
  if (followers_.size() == 1) arm();
}

void LogFollowers::advance(Follower& follower) {
  if (!follower.stream->open() || follower.stream->queued_bytes() > 0) return;  // gone, or still busy with what it has
  if (!follower.file) {
    Result<OpenFile> opened = OpenFile::open(follower.path);
    if (!opened && opened.error().code != ErrorCode::not_found) return;  // at another time
    if (opened) follower.file = std::move(*opened);
  }
  std::string piece = follower.file ? follower.file->read(follower.offset, kPieceSize) : "";
  if (piece.empty()) {
    if (follower.trial_ended) follower.stream->end();
    return;
  }
  follower.offset += piece.size();
  follower.stream->write(std::move(piece));
}

void LogFollowers::on_committed(std::span<const Write> writes) {
  if (followers_.empty()) return;
  for (const Write& write : writes) {
    const auto* trial = std::get_if<TrialRow>(&write);
    if (trial != nullptr && ended(trial->state)) trial_over(trial->id);
    const auto* deleted = std::get_if<DeleteJob>(&write);
    if (deleted == nullptr) continue;
    for (const auto& follower : followers_) {
      if (follower->trial.job == deleted->job) follower->trial_ended = true;
    }
  }
}

void LogFollowers::trial_over(TrialId trial) {
  for (const auto& follower : followers_) {
    if (follower->trial == trial) follower->trial_ended = true;
  }
}

void LogFollowers::arm() {
  timer_.expires_after(kFollowInterval);
  timer_.async_wait([this](const boost::system::error_code& cancelled) {
    if (cancelled) return;
    for (const auto& follower : followers_) advance(*follower);
    std::erase_if(followers_, [](const auto& follower) { return !follower->stream->open(); });
    if (!followers_.empty()) arm();
  });
}

void LogFollowers::close() {
  timer_.cancel();
  for (const auto& follower : followers_) follower->stream->end();
  followers_.clear();
}

}  // namespace tuneband::server

#include "workers/command/running_command.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <limits>
#include <vector>

#include "core/text.hpp"

namespace tuneband::workers {

namespace {

using CommandClock = std::chrono::steady_clock;

constexpr std::size_t kReadSize = 64 * 1024;              // bytes
constexpr std::size_t kLastOutputMax = 64 * 1024 * 1024;  // bytes read after the end or a hold, should anything still write
// Bytes of output of which the reports are kept, until all of them are taken. More than a pipe holds; what goes past it is
// printed by a command that is being ended, and only logged.
constexpr std::size_t kReadAheadMax = 2 * 1024 * 1024;
constexpr std::size_t kTakenMax = 5'000;  // reports that are kept for a segment elsewhere; of more the latest
constexpr std::size_t kTailSize = 4096;   // bytes of output kept for messages
constexpr std::size_t kLastLinesMax = 5;
constexpr std::size_t kLastLinesSizeMax = 1000;  // bytes

int remaining_ms(CommandClock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - CommandClock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, std::numeric_limits<int>::max()));
}

}  // namespace

RunningCommand::RunningCommand(Process process, MetricParser parser, std::int64_t from_resource, std::int64_t grace_ms)
    : process_(std::move(process)),
      parser_(std::move(parser)),
      position_(from_resource),
      taken_{from_resource, {}},
      grace_ms_(grace_ms),
      oom_kills_before_(os::oom_kills(os::control_groups_of(::getpid()))) {}

RunningCommand::Waited RunningCommand::wait(int stop_fd, std::optional<std::int64_t> timeout_ms, TrialLog& log) {
  if (status_) return Waited::ended;
  std::array<pollfd, 3> waits{
      {{process_.exit_fd(), POLLIN, 0}, {output_open_ ? process_.output_fd() : -1, POLLIN, 0}, {stop_fd, POLLIN, 0}}};
  const int timeout =
      timeout_ms ? static_cast<int>(std::clamp<std::int64_t>(*timeout_ms, 0, std::numeric_limits<int>::max())) : -1;
  const int ready = ::poll(waits.data(), waits.size(), timeout);
  if (ready == 0) return Waited::deadline;
  if (ready < 0) return Waited::output;  // interrupted: the caller comes again
  if (waits[2].revents != 0) return Waited::stop;
  if (waits[1].revents != 0) read_piece(log);
  if (waits[0].revents == 0) return Waited::output;
  finish(log);
  return Waited::ended;
}

void RunningCommand::hold(TrialLog& log) {
  process_.signal_group(SIGSTOP);
  if (!status_) read_what_is_there(log);
}

void RunningCommand::go_on() { process_.signal_group(SIGCONT); }

RunningCommand::Waited RunningCommand::wait_for_end(int stop_fd, TrialLog& log) {
  const auto deadline = CommandClock::now() + std::chrono::milliseconds(grace_ms_);
  while (true) {
    const int left_ms = remaining_ms(deadline);
    const Waited waited = wait(stop_fd, left_ms, log);
    if (waited != Waited::output) return waited;
    if (left_ms == 0) return Waited::deadline;  // there is always more to read of one that prints without pause
  }
}

void RunningCommand::let_end(int stop_fd, TrialLog& log) {
  if (wait_for_end(stop_fd, log) != Waited::ended) end(log);
}

void RunningCommand::end(TrialLog& log) {
  if (status_) return;
  told_to_end_ = true;
  process_.signal_group(SIGTERM);
  go_on();  // a held process takes the SIGTERM only then
  if (wait_for_end(-1, log) == Waited::ended) return;
  log.note("the command did not end within " + in_seconds(grace_ms_) + " of SIGTERM and is killed");
  finish(log);
}

MetricReport RunningCommand::take_report() {
  const std::int64_t resource = next_resource();
  MetricReport report = std::move(reports_.front());
  reports_.pop_front();
  says_resource_ = says_resource_ || report.resource.has_value();
  said_zero_ = said_zero_ || resource == 0;
  if (taken_.reports.size() >= kTakenMax) taken_ = {position_, {}};
  taken_.reports.push_back({resource, report.metrics});
  position_ = std::max(position_, resource);
  last_metrics_ = report.metrics;
  report.resource = resource;
  return report;
}

void RunningCommand::forget_reports(std::int64_t known) {
  std::erase_if(taken_.reports, [known](const protocol::Observation& report) { return report.resource <= known; });
  taken_.after = std::max(taken_.after, known);
}

KeptReports RunningCommand::kept_reports() const {
  if (reports_.empty()) return {};
  KeptReports kept = taken_;
  std::int64_t position = position_;
  for (const MetricReport& report : reports_) {
    const std::int64_t resource = report.resource.value_or(position + 1);
    kept.reports.push_back({resource, report.metrics});
    position = std::max(position, resource);
  }
  return kept;
}

void RunningCommand::begin_with(const std::vector<protocol::Observation>& reports) {
  std::int64_t position = position_;
  for (const protocol::Observation& report : reports) {
    // As of one that counts, where it may have counted: whether it says its resource is not known yet.
    reports_.push_back({report.resource == position + 1 ? std::nullopt : std::optional(report.resource), report.metrics});
    position = std::max(position, report.resource);
  }
}

std::string RunningCommand::last_lines() const {
  std::vector<std::string> lines;
  std::size_t end = tail_.size();
  while (end > 0 && lines.size() < kLastLinesMax) {
    const std::size_t newline = tail_.find_last_of("\n\r", end - 1);
    const std::size_t begin = newline == std::string::npos ? 0 : newline + 1;
    if (begin < end) lines.push_back(tail_.substr(begin, end - begin));
    end = begin == 0 ? 0 : begin - 1;
  }
  std::string text;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) text += (text.empty() ? "" : " | ") + *line;
  if (text.size() > kLastLinesSizeMax) text = "..." + text.substr(text.size() - kLastLinesSizeMax);
  return valid_utf8(text);
}

bool RunningCommand::group_ran_out_of_memory() const { return os::oom_kills_since(oom_kills_before_) > 0; }

// Whether there may be more.
bool RunningCommand::read_piece(TrialLog& log) {
  std::array<char, kReadSize> buffer;
  const ssize_t count = ::read(process_.output_fd(), buffer.data(), buffer.size());
  if (count <= 0) {
    output_open_ = output_open_ && count < 0 && (errno == EAGAIN || errno == EINTR);
    return count < 0 && errno == EINTR;
  }
  const std::string_view piece(buffer.data(), static_cast<std::size_t>(count));
  log.write(piece);
  if (listener_) listener_(piece);
  if (reports_.empty()) read_ahead_ = 0;
  read_ahead_ += piece.size();
  cut_ = cut_ || read_ahead_ > kReadAheadMax;
  if (!cut_) parser_.feed(piece, reports_);
  tail_ += piece.substr(piece.size() - std::min(piece.size(), kTailSize));
  if (tail_.size() > kTailSize) tail_.erase(0, tail_.size() - kTailSize);
  return true;
}

void RunningCommand::read_what_is_there(TrialLog& log) {
  for (std::size_t taken = 0; taken < kLastOutputMax && read_piece(log); taken += kReadSize) {
  }
}

void RunningCommand::finish(TrialLog& log) {
  process_.kill_tree();  // what it leaves behind must not go on, nor keep its output open
  read_what_is_there(log);
  status_ = process_.poll_exit().value_or(ExitStatus{.signal = SIGKILL});
  if (!cut_) parser_.finish(reports_, output_end());
}

// The end of a line that was printed in part may be a part of a number.
MetricParser::OutputEnd RunningCommand::output_end() const {
  if (status_->signal != 0) return MetricParser::OutputEnd::killed;
  const bool by_itself = status_->code == 0 && !told_to_end_;
  return by_itself ? MetricParser::OutputEnd::by_itself : MetricParser::OutputEnd::interrupted;
}

}  // namespace tuneband::workers

#include "os/process_usage.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string>

namespace tuneband::os {

namespace {

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

ProcessUsage::ProcessUsage(pid_t pid, int cores)
    : pid_(pid), cores_(std::max(1, cores)), start_(Clock::now()), before_(start_), reading_(read().value_or(Reading{})) {}

// proc(5): fields 14 and 15 are ticks in user and kernel mode, 24 resident pages, 42 ticks of waiting for disks. They come after
// the name, which may hold anything.
std::optional<ProcessUsage::Reading> ProcessUsage::read() const {
  const int fd = ::open(("/proc/" + std::to_string(pid_) + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  std::array<char, 2048> text{};
  const ssize_t size = ::read(fd, text.data(), text.size());
  ::close(fd);
  if (size <= 0) return std::nullopt;
  const std::string line(text.data(), static_cast<std::size_t>(size));
  const std::size_t after_name = line.rfind(')');
  if (after_name == std::string::npos) return std::nullopt;
  std::istringstream words(line.substr(after_name + 1));
  constexpr int kFirstField = 3;
  constexpr int kFields = 42;
  std::array<double, kFields + 1> fields{};
  std::string word;
  for (int field = kFirstField; field <= kFields && words >> word; ++field)
    fields[static_cast<std::size_t>(field)] = field == kFirstField ? 0 : std::strtod(word.c_str(), nullptr);
  static const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  static const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  return Reading{(fields[14] + fields[15]) / ticks, fields[42] / ticks, fields[24] * page};
}

std::optional<ResourceUse> ProcessUsage::sample() {
  const auto now = Clock::now();
  const auto reading = read();
  if (!reading) return std::nullopt;
  ResourceUse use;
  use.wall_seconds = seconds_between(before_, now);
  use.since_start = seconds_between(start_, now);
  use.memory_bytes = reading->memory_bytes;
  if (use.wall_seconds > 0) {
    use.cpu_share = (reading->cpu_seconds - reading_.cpu_seconds) / use.wall_seconds / cores_;
    use.io_wait_share = (reading->io_wait_seconds - reading_.io_wait_seconds) / use.wall_seconds;
  }
  before_ = now;
  reading_ = *reading;
  return use;
}

}  // namespace tuneband::os

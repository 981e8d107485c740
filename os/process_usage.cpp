#include "os/process_usage.hpp"

#include <unistd.h>

#include <algorithm>

#include "os/process_table.hpp"

namespace tuneband::os {

namespace {

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

ProcessUsage::ProcessUsage(pid_t pid, int cores)
    : pid_(pid), cores_(std::max(1, cores)), start_(Clock::now()), before_(start_), reading_(read().value_or(Reading{})) {}

std::optional<ProcessUsage::Reading> ProcessUsage::read() const {
  const auto stat = ProcessStat::read(pid_);
  if (!stat) return std::nullopt;
  static const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  static const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  const auto number = [&](int field) { return static_cast<double>((*stat)[field]); };
  return Reading{stat->cpu_seconds(), number(ProcessStat::kDiskWaitTicks) / ticks, number(ProcessStat::kResidentPages) * page};
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

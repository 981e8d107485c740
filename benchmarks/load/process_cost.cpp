#include "benchmarks/load/process_cost.hpp"

#include <unistd.h>

#include <string>

#include "os/process_table.hpp"

namespace tuneband::bench {

namespace {

double status_mb(std::int64_t pid, const std::string& field) {
  return static_cast<double>(os::number_named("/proc/" + std::to_string(pid) + "/status", field)) / 1024;
}

}  // namespace

double cpu_seconds_of(std::int64_t pid) {
  const auto stat = os::ProcessStat::read(static_cast<pid_t>(pid));
  const std::uint64_t ticks = stat ? (*stat)[os::ProcessStat::kUserTicks] + (*stat)[os::ProcessStat::kSystemTicks] : 0;
  return static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double memory_mb_of(std::int64_t pid) { return status_mb(pid, "VmRSS:"); }
double memory_peak_mb_of(std::int64_t pid) { return status_mb(pid, "VmHWM:"); }

}  // namespace tuneband::bench

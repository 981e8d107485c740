#include "workers/memory_words.hpp"

#include <re2/re2.h>
#include <sys/resource.h>
#include <unistd.h>

#include "os/control_group.hpp"
#include "os/process_table.hpp"

namespace tuneband::workers {

namespace {

constexpr double kBytesOfOneMegabyte = 1024 * 1024;

std::string in_megabytes(double bytes) { return std::to_string(static_cast<long long>(bytes / kBytesOfOneMegabyte)) + " MB"; }

// Resident at most; 0: not told.
double own_peak_bytes() { return 1024 * static_cast<double>(os::number_named("/proc/self/status", "VmHWM:")); }

double machine_bytes() { return static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGE_SIZE)); }

}  // namespace

std::string group_memory_in_words() {
  const os::ControlGroupLimits limits = os::own_control_group_limits();
  if (!limits.memory_bytes || *limits.memory_bytes >= machine_bytes()) return "";
  const auto& had = limits.memory_peak_bytes;
  const std::string peak = had ? " had " + in_megabytes(*had) + " at its peak, and" : "";
  return "; its control group" + peak + " may have " + in_megabytes(*limits.memory_bytes);
}

std::string worker_memory_in_words() {
  std::string text;
  if (const double peak = own_peak_bytes(); peak > 0) text = "; the worker had " + in_megabytes(peak) + " at its peak";
  rlimit space{};
  const bool bounded = ::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY;
  if (bounded) return text + "; its limit is " + in_megabytes(static_cast<double>(space.rlim_cur)) + " of address space";
  const std::string group = group_memory_in_words();
  return text + (group.empty() ? "; the machine has " + in_megabytes(machine_bytes()) : group);
}

std::string asked_for_in_words(std::string_view output) {
  static const RE2 pattern(R"((?:[Tt]ried to|[Uu]nable to|[Ff]ailed to) allocate ([0-9][0-9.]* ?(?:[KMGT]i?B|bytes)))");
  std::string amount;
  return RE2::PartialMatch(output, pattern, &amount) ? "; it asked for " + amount : "";
}

}  // namespace tuneband::workers

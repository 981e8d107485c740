#include "workers/memory_words.hpp"

#include <re2/re2.h>
#include <sys/resource.h>

#include "os/control_group.hpp"
#include "os/process_table.hpp"

namespace tuneband::workers {

namespace {

// Resident at most; 0: not told.
double own_peak_bytes() { return 1024 * static_cast<double>(os::number_named("/proc/self/status", "VmHWM:")); }

}  // namespace

std::string group_memory_in_words() { return os::group_memory_in_words(os::own_control_group_limits()); }

std::string worker_memory_in_words() {
  std::string text;
  if (const double peak = own_peak_bytes(); peak > 0) text = "; the worker had " + os::in_megabytes(peak) + " at its peak";
  rlimit space{};
  const bool bounded = ::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY;
  if (bounded) return text + "; its limit is " + os::in_megabytes(static_cast<double>(space.rlim_cur)) + " of address space";
  return text + os::memory_in_words(os::own_control_group_limits());
}

std::string asked_for_in_words(std::string_view output) {
  static const RE2 pattern(R"((?:[Tt]ried to|[Uu]nable to|[Ff]ailed to) allocate ([0-9][0-9.]* ?(?:[KMGT]i?B|bytes)))");
  std::string amount;
  return RE2::PartialMatch(output, pattern, &amount) ? "; it asked for " + amount : "";
}

}  // namespace tuneband::workers

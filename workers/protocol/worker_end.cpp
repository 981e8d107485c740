#include "workers/protocol/worker_end.hpp"

#include <algorithm>
#include <csignal>
#include <iterator>

#include "os/control_group.hpp"

namespace tuneband::protocol {

namespace {

// A signal that a program brings on itself; the others may have come from anywhere.
std::string crash_of(const siginfo_t& exit) {
  constexpr int kOwn[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  const bool own = exit.si_code != CLD_EXITED && std::find(std::begin(kOwn), std::end(kOwn), exit.si_status) != std::end(kOwn);
  return own ? "signal " + std::to_string(exit.si_status) : "";
}

}  // namespace

bool may_be_out_of_memory(const std::optional<os::ChildEnd>& end) {
  return !end || (end->how.si_code != CLD_EXITED && end->how.si_status == SIGKILL);
}

WorkerEnd describe_end(const std::string& name, const std::optional<os::ChildEnd>& end) {
  return {"the worker process " + name + " " + (end ? os::describe_exit(end->how) : "ended"), end ? crash_of(end->how) : "",
          false};
}

WorkerEnd describe_out_of_memory(const std::string& name, const std::optional<os::ChildEnd>& end,
                                 const std::string& control_groups) {
  const std::string process = "the worker process " + name;
  WorkerEnd told{
      .message = (end ? "the kernel killed " + process : process + " ended as the kernel killed one of its control group") +
                 " because memory ran out",
      .crash = "",
      .out_of_memory = true};
  const double peak_bytes = end ? static_cast<double>(end->peak_bytes) : 0;
  if (peak_bytes > 0) told.message += "; it had " + os::in_megabytes(peak_bytes) + " at its peak";
  told.message += os::memory_in_words(os::control_group_limits(control_groups));
  return told;
}

}  // namespace tuneband::protocol

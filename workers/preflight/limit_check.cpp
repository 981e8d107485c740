#include "workers/preflight/limit_check.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>

#include "core/text.hpp"
#include "os/control_group.hpp"

namespace tuneband::workers {

namespace {

constexpr rlim_t kFilesAtLeast = 256;                   // open at once: the libraries of a framework, the data, pipes to helpers
constexpr rlim_t kFileBytesAtLeast = rlim_t{64} << 20;  // what a trial's log and its tensors may come to, each

// Nothing: there is none.
std::optional<rlim_t> limit_of(__rlimit_resource resource) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

// That cannot be raised. The soft one is this check's own, where the server has started it.
std::optional<rlim_t> hard_limit_of(__rlimit_resource resource) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_max == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_max;
}

// As options and parameters of that meaning are called; '-' and '_' are alike.
bool is_number_of_processes(std::string name) {
  constexpr std::array<std::string_view, 10> kNames{"workers",   "num_workers",   "n_workers",      "jobs",    "n_jobs",
                                                    "processes", "num_processes", "nproc_per_node", "threads", "num_threads"};
  std::replace(name.begin(), name.end(), '-', '_');
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

// How many of them could be started at the same time; `error`: why not the next one.
int started_at_once(int wanted, int& error) {
  std::vector<pid_t> children;
  error = 0;
  while (static_cast<int>(children.size()) < wanted) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      while (true) ::pause();
    }
    if (child < 0) {
      error = errno;
      break;
    }
    children.push_back(child);
  }
  for (const pid_t child : children) ::kill(child, SIGKILL);
  for (const pid_t child : children) {
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  return static_cast<int>(children.size());
}

void check_processes(const CheckedCommand& command, Diagnostics& diagnostics) {
  for (const CommandText& text : texts_of(command)) {
    const double number = is_number_of_processes(text.name) ? parse_number(text.text).value_or(0) : 0;
    if (!(number >= 1) || number > kProcessesTriedMax) continue;
    int error = 0;
    const int started = started_at_once(static_cast<int>(number), error);
    if (error == 0) continue;
    const auto limit = limit_of(RLIMIT_NPROC);
    diagnostics.warning(text.path,
                        text.name + " asks for " + text.text + " processes or threads, and this machine starts " +
                            std::to_string(started) + " more for the worker's user: " + std::strerror(error) +
                            (limit ? " (ulimit -u is " + std::to_string(*limit) + ")" : ""),
                        "ask for fewer, or raise the limit (ulimit -u, pids.max of the control group, TasksMax of the unit)");
  }
}

}  // namespace

void check_limits(const CheckedCommand& command, Diagnostics& diagnostics) {
  if (const auto files = limit_of(RLIMIT_NOFILE); files && *files < kFilesAtLeast) {
    diagnostics.warning("trainer.argv",
                        "the command may have no more than " + std::to_string(*files) + " files open at once here",
                        "ulimit -n, or LimitNOFILE of the unit, raises that for the worker");
  }
  if (const auto bytes = limit_of(RLIMIT_FSIZE); bytes && *bytes < kFileBytesAtLeast) {
    diagnostics.warning("trainer.argv",
                        "the command may write no file larger than " + os::in_megabytes(static_cast<double>(*bytes)) +
                            " here: a write beyond that ends it by SIGXFSZ",
                        "ulimit -f, or LimitFSIZE of the unit, raises that for the worker");
  }
  const auto memory = hard_limit_of(RLIMIT_AS);
  const auto& wanted = command.spec.memory_bytes_max;
  if (memory && wanted && static_cast<double>(*wanted) > static_cast<double>(*memory)) {
    diagnostics.warning("trainer.memory_mb",
                        "the worker may have no more than " + os::in_megabytes(static_cast<double>(*memory)) +
                            " of addresses itself here, and so may its commands",
                        "ulimit -v, or LimitAS of the unit, raises that for the worker");
  }
  const auto seconds = limit_of(RLIMIT_CPU);
  if (const auto& cpu_ms = command.spec.cpu_ms_max; seconds && cpu_ms && *cpu_ms > static_cast<std::int64_t>(*seconds) * 1000) {
    diagnostics.warning(
        "trainer.cpu_seconds",
        "the worker may compute for no more than " + std::to_string(*seconds) + " s here, and so may its commands",
        "ulimit -t, or LimitCPU of the unit, raises that for the worker");
  }
  check_processes(command, diagnostics);
}

}  // namespace tuneband::workers

#include "workers/command/orphan_reaper.hpp"

#include <poll.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <optional>
#include <sstream>
#include <vector>

#include "os/file_text.hpp"
#include "os/process_table.hpp"

namespace tuneband::workers {

namespace {

constexpr std::string_view kTrialDirVariable = "TUNEBAND_TRIAL_DIR=";
constexpr std::string_view kEpochVariable = "TUNEBAND_EPOCH=";
constexpr int kPassesMax = 20;  // of killing what the last pass's victims started
constexpr int kLooksMax = 100;  // at a process between two programs, a millisecond apart

std::string mark_of(const os::ProcessInfo& worker) { return std::to_string(worker.pid) + "-" + std::to_string(worker.started); }

std::string proc_file(pid_t pid, const char* name) { return "/proc/" + std::to_string(pid) + "/" + name; }

// "" where it cannot be told: another user's process, or none.
std::string pid_namespace(pid_t pid) {
  std::error_code ignored;
  return std::filesystem::read_symlink(proc_file(pid, "ns/pid"), ignored).string();
}

// "" where it has none, or none that may be read. In the midst of execve(2) a process has its new program already, and neither
// arguments nor an environment yet: that is waited for.
std::string environment_of(pid_t pid) {
  for (int look = 1;; ++look) {
    const auto text = os::read_small_file(proc_file(pid, "environ"));
    const bool between_programs =
        text == "" && os::read_small_file(proc_file(pid, "cmdline")) == "" && !os::program_of(pid).empty();
    if (!between_programs || look == kLooksMax) return text.value_or("");
    ::poll(nullptr, 0, 1);
  }
}

std::optional<std::string> in_environment(pid_t pid, std::string_view name_and_equals) {
  std::istringstream variables(environment_of(pid));
  for (std::string variable; std::getline(variables, variable, '\0');) {
    if (variable.starts_with(name_and_equals)) return variable.substr(name_and_equals.size());
  }
  return std::nullopt;
}

bool lives(const std::string& mark) {
  pid_t pid = 0;
  std::from_chars(mark.data(), mark.data() + mark.size(), pid);
  const auto worker = os::read_process(pid);
  return worker && worker->state != 'Z' && mark_of(*worker) == mark;
}

template <class Which>
std::vector<os::ProcessInfo> processes_here(const Which& which) {
  std::vector<os::ProcessInfo> found;
  const std::string here = pid_namespace(::getpid());
  for (const pid_t pid : os::all_pids()) {
    const auto info = os::read_process(pid);
    if (!info || info->state == 'Z' || pid == ::getpid() || pid_namespace(pid) != here) continue;
    if (which(*info)) found.push_back(*info);
  }
  return found;
}

// Until none is left: those that are ended may just have started others.
template <class Which>
int end_all(const Which& which) {
  int ended = 0;
  for (int pass = 0; pass < kPassesMax; ++pass) {
    const std::vector<os::ProcessInfo> victims = processes_here(which);
    if (victims.empty()) break;
    if (pass == 0) ended = static_cast<int>(victims.size());
    os::kill_once(victims);
  }
  return ended;
}

bool outlived_its_worker(const os::ProcessInfo& process) {
  const auto mark = in_environment(process.pid, kWorkerVariable);
  return mark && !mark->empty() && !lives(*mark);
}

}  // namespace

std::string mark_of_this_worker() {
  const auto self = os::read_process(::getpid());
  return std::string(kWorkerVariable) + (self ? mark_of(*self) : "");
}

int end_orphans() { return end_all(outlived_its_worker); }

int end_processes_of_earlier_segments(const std::string& trial_dir, std::int64_t epoch) {
  return end_all([&](const os::ProcessInfo& process) {
    if (process.state == 'T' || in_environment(process.pid, kTrialDirVariable) != trial_dir) return false;
    const std::string its = in_environment(process.pid, kEpochVariable).value_or("");
    std::int64_t its_epoch = epoch;
    std::from_chars(its.data(), its.data() + its.size(), its_epoch);
    return its_epoch < epoch;
  });
}

}  // namespace tuneband::workers

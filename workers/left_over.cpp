#include "workers/left_over.hpp"

#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include "workers/process_table.hpp"

namespace tuneband::workers {

namespace {

constexpr int kPassesMax = 20;  // of killing what the last pass's victims started

std::string mark_of(const ProcessInfo& worker) { return std::to_string(worker.pid) + "-" + std::to_string(worker.started); }

std::string proc_file(pid_t pid, const char* name) { return "/proc/" + std::to_string(pid) + "/" + name; }

// "" where it cannot be told: another user's process, or none.
std::string pid_namespace(pid_t pid) {
  std::error_code ignored;
  return std::filesystem::read_symlink(proc_file(pid, "ns/pid"), ignored).string();
}

std::optional<std::string> mark_in_environment(pid_t pid) {
  std::ifstream file(proc_file(pid, "environ"), std::ios::binary);
  for (std::string variable; std::getline(file, variable, '\0');) {
    if (variable.starts_with(kWorkerVariable)) return variable.substr(kWorkerVariable.size());
  }
  return std::nullopt;
}

bool lives(const std::string& mark) {
  pid_t pid = 0;
  std::from_chars(mark.data(), mark.data() + mark.size(), pid);
  const auto worker = read_process(pid);
  return worker && worker->state != 'Z' && mark_of(*worker) == mark;
}

std::vector<ProcessInfo> left_over() {
  std::vector<ProcessInfo> found;
  const std::string here = pid_namespace(::getpid());
  for (const pid_t pid : all_pids()) {
    const auto info = read_process(pid);
    if (!info || info->state == 'Z' || pid == ::getpid() || pid_namespace(pid) != here) continue;
    const auto mark = mark_in_environment(pid);
    if (mark && !mark->empty() && !lives(*mark)) found.push_back(*info);
  }
  return found;
}

}  // namespace

std::string mark_of_this_worker() {
  const auto self = read_process(::getpid());
  return std::string(kWorkerVariable) + (self ? mark_of(*self) : "");
}

int end_left_over_processes() {
  int ended = 0;
  for (int pass = 0; pass < kPassesMax; ++pass) {
    const std::vector<ProcessInfo> victims = left_over();
    if (victims.empty()) break;
    if (pass == 0) ended = static_cast<int>(victims.size());
    kill_once(victims);
  }
  return ended;
}

}  // namespace tuneband::workers

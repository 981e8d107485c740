#include "os/process_table.hpp"

#include <dirent.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace tuneband::os {

namespace {

constexpr int kKillPassMs = 50;

std::set<pid_t>& standing_aside() {
  static std::set<pid_t> children;
  return children;
}

}  // namespace

void stand_aside(pid_t child, bool aside) {
  aside ? static_cast<void>(standing_aside().insert(child)) : static_cast<void>(standing_aside().erase(child));
}

bool any_stand_aside() { return !standing_aside().empty(); }

UniqueFd open_pidfd(pid_t pid) { return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

void send_signal(int pidfd, int signal) { ::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0); }

// The fields of /proc/PID/stat follow the last ')': the name before it may hold anything.
std::optional<ProcessInfo> read_process(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(file, text, '\0')) return std::nullopt;
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  constexpr int kParentField = 2;
  constexpr int kStartedField = 20;
  ProcessInfo info{.pid = pid};
  const char* at = text.c_str() + name_end + 1;
  for (int field = 1; field <= kStartedField; ++field) {
    while (*at == ' ') ++at;
    if (field == 1) info.state = *at;
    if (field == kParentField) info.parent = static_cast<pid_t>(std::strtol(at, nullptr, 10));
    if (field == kStartedField) info.started = std::strtoull(at, nullptr, 10);
    while (*at != ' ' && *at != '\0') ++at;
  }
  return info;
}

std::vector<pid_t> all_pids() {
  std::vector<pid_t> pids;
  DIR* folder = ::opendir("/proc");
  if (folder == nullptr) return pids;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string_view name = entry->d_name;
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error == std::errc{} && end == name.data() + name.size()) pids.push_back(pid);
  }
  ::closedir(folder);
  return pids;
}

std::vector<ProcessInfo> descendants() {
  std::multimap<pid_t, ProcessInfo> by_parent;
  for (const pid_t pid : all_pids()) {
    if (const auto info = read_process(pid)) by_parent.emplace(info->parent, *info);
  }
  std::vector<ProcessInfo> found;
  std::vector<pid_t> to_visit{::getpid()};
  while (!to_visit.empty()) {
    const pid_t parent = to_visit.back();
    to_visit.pop_back();
    const auto [begin, end] = by_parent.equal_range(parent);
    for (auto it = begin; it != end; ++it) {
      if (standing_aside().contains(it->second.pid)) continue;
      found.push_back(it->second);
      to_visit.push_back(it->second.pid);
    }
    by_parent.erase(begin, end);  // each is visited once, even if numbers were given anew while we read
  }
  return found;
}

void kill_once(const std::vector<ProcessInfo>& victims) {
  std::vector<UniqueFd> handles;
  std::vector<pollfd> waits;
  for (const ProcessInfo& victim : victims) {
    if (victim.state == 'Z') continue;
    UniqueFd handle = open_pidfd(victim.pid);
    const auto now = read_process(victim.pid);
    if (!handle || !now || now->started != victim.started) continue;
    send_signal(handle.get(), SIGKILL);
    waits.push_back({handle.get(), POLLIN, 0});
    handles.push_back(std::move(handle));
  }
  if (!waits.empty()) ::poll(waits.data(), waits.size(), kKillPassMs);
}

}  // namespace tuneband::os

#include "os/process_table.hpp"

#include <dirent.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "core/decimal.hpp"
#include "os/pidfd.hpp"

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

// The second field is the program's name in brackets and may itself hold blanks and brackets: the rest follows the last ')'.
std::optional<ProcessStat> ProcessStat::read(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(file, text, '\0')) return std::nullopt;
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  ProcessStat stat;
  const char* at = text.c_str() + name_end + 1;
  for (std::size_t field = kState; field < stat.fields_.size(); ++field) {
    while (*at == ' ') ++at;
    if (field == kState) stat.state_ = *at;
    stat.fields_[field] = std::strtoull(at, nullptr, 10);
    while (*at != ' ' && *at != '\0') ++at;
  }
  return stat;
}

double ProcessStat::cpu_seconds() const {
  static const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  return static_cast<double>((*this)[kUserTicks] + (*this)[kSystemTicks]) / ticks;
}

std::int64_t number_named(const std::string& file, std::string_view name) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    std::int64_t number = 0;
    if (words >> word && word == name && words >> number) return number;
  }
  return 0;
}

std::string program_of(pid_t pid) {
  constexpr std::string_view kReplaced = " (deleted)";
  std::error_code error;
  std::string path = std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", error).string();
  if (path.ends_with(kReplaced)) path.resize(path.size() - kReplaced.size());
  return path;
}

std::optional<ProcessInfo> read_process(pid_t pid) {
  const auto stat = ProcessStat::read(pid);
  if (!stat) return std::nullopt;
  return ProcessInfo{pid, static_cast<pid_t>((*stat)[ProcessStat::kParent]), stat->state(), (*stat)[ProcessStat::kStarted]};
}

std::vector<pid_t> all_pids() {
  std::vector<pid_t> pids;
  DIR* folder = ::opendir("/proc");
  if (folder == nullptr) return pids;
  while (const dirent* entry = ::readdir(folder)) {
    if (const auto pid = integer_in<pid_t>(entry->d_name)) pids.push_back(*pid);
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

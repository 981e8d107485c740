// The machine's processes, as /proc tells of them.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuneband::os {

// /proc/PID/stat, by the numbers that proc(5) gives its fields.
class ProcessStat {
 public:
  static constexpr int kState = 3;
  static constexpr int kParent = 4;
  static constexpr int kUserTicks = 14;
  static constexpr int kSystemTicks = 15;
  static constexpr int kStarted = 22;  // ticks since boot
  static constexpr int kResidentPages = 24;
  static constexpr int kDiskWaitTicks = 42;

  static std::optional<ProcessStat> read(pid_t pid);  // nothing: there is no such process
  char state() const { return state_; }
  double cpu_seconds() const;  // of all its threads, without its children
  std::uint64_t operator[](int field) const { return fields_[static_cast<std::size_t>(field)]; }  // 0: not told; up to 42

 private:
  char state_ = '?';
  std::array<std::uint64_t, 43> fields_{};
};

// Of a file like /proc/meminfo or /proc/vmstat: the number after `name`. 0: there is none.
std::int64_t number_named(const std::string& file, std::string_view name);

// The program it runs, as a path; "": not told. One that was replaced on disk meanwhile has its name, too.
std::string program_of(pid_t pid);

struct ProcessInfo {
  pid_t pid = 0;
  pid_t parent = 0;
  char state = '?';
  std::uint64_t started = 0;  // tells a process from a later one with its number
};

std::optional<ProcessInfo> read_process(pid_t pid);  // nothing: there is no such process
std::vector<pid_t> all_pids();
// Of this process, without those that stand aside and what they have started.
std::vector<ProcessInfo> descendants();

// A child that is no part of what a command has started: it does not end with one. One thread asks for this and for
// descendants().
void stand_aside(pid_t child, bool aside);
bool any_stand_aside();

// Kills each and waits a moment for one of them to end.
void kill_once(const std::vector<ProcessInfo>& victims);

}  // namespace tuneband::os

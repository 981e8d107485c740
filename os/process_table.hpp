// The machine's processes, as /proc tells of them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "os/unique_fd.hpp"

namespace tuneband::os {

struct ProcessInfo {
  pid_t pid = 0;
  pid_t parent = 0;
  char state = '?';
  std::uint64_t started = 0;  // tells a process from a later one with its number
};

UniqueFd open_pidfd(pid_t pid);
void send_signal(int pidfd, int signal);

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

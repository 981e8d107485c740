// Starting another program and saying how it ended. vfork: its cost does not grow with the size of this process, as fork's does.
#pragma once

#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace tuneband::os {

// A sanitizer's shadow memory alone is terabytes of addresses: a program built with one cannot be limited in them.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kAddressesCanBeLimited = false;
#else
inline constexpr bool kAddressesCanBeLimited = true;
#endif

struct ChildCommand {
  std::string program = {};                                  // path
  std::vector<std::string> arguments = {};                   // without argv[0]
  std::string name = {};                                     // argv[0]; "": `program`
  std::optional<std::vector<std::string>> environment = {};  // "NAME=value"; nothing: this process's
  std::string working_dir = {};                              // "": this process's
  int stdin_fd = -1;                                         // -1: /dev/null
  int stdout_fd = -1;
  int stderr_fd = -1;
  bool session = true;  // of its own; else only a process group
  // Comes to it when the thread that started it ends, before it runs too: no program can ask for that early enough itself. 0:
  // none.
  int end_signal = 0;
  bool core_dumps = true;
  bool gives_way = false;                             // a batch task (sched(7)), where the system allows it
  std::optional<int> nice = {};                       // as setpriority(2) takes it, where the system allows it
  std::optional<std::int64_t> memory_bytes_max = {};  // address space of each of its processes (RLIMIT_AS)
  bool memory_can_be_raised = false;                  // by itself, for what it starts: the limit is the soft one alone
  std::optional<std::int64_t> cpu_ms_max = {};        // CPU time of each, rounded up to seconds (RLIMIT_CPU)
};

// At the limit of CPU time comes SIGXCPU, which says what happened; who ignores that is killed at this one, a second later.
std::int64_t cpu_ms_killed_at(std::int64_t cpu_ms_max);

struct SpawnFailure {
  enum class Step { set_up, working_dir, execute } step = Step::set_up;
  int error = 0;  // of errno
};
using Spawned = boost::system::result<pid_t, SpawnFailure>;

// In a session or a group of its own (a Ctrl-C at the terminal is not its to handle, and all of it can be ended at once), with
// signals as by default and without any other descriptor of this process. It runs when this returns.
Spawned try_to_spawn(const ChildCommand& command);

// The same. Error: `internal`, naming program and reason.
Result<pid_t> spawn(const ChildCommand& command);

// This process's environment with these on top.
std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& added);

struct ChildEnd {
  siginfo_t how{};
  std::int64_t peak_bytes = 0;  // resident, of it and of the children that it waited for; 0: no more than this process has
  std::int64_t cpu_ms = 0;      // CPU time, of it and of the children that it waited for
};

// This process is told to end (SIGTERM) when its parent ends; `parent`: who it was at the beginning. One that ended before the
// system was asked has left this process to another.
void end_with_parent(pid_t parent);

// What tells a program to end in order: SIGTERM, Ctrl-C, and the end of its terminal unless that is ignored, as with nohup.
std::vector<int> end_signals();

// waitid(2) with WEXITED and `options`. Nothing: it has not ended, or is no child of this process.
std::optional<ChildEnd> reap(idtype_t kind, id_t id, int options = 0);

// Waits for the end of a child that leads a process group: unless it ends by itself within `ms_max` (nothing: it is not to), the
// group is killed.
std::optional<ChildEnd> reap_within(pid_t child, std::optional<int> ms_max);

// "ended with status 3", "was killed by signal 9 (SIGKILL), perhaps out of memory".
std::string describe_exit(const siginfo_t& exit);

// `name` beside the running executable.
std::string program_beside_this_one(const std::string& name);

}  // namespace tuneband::os

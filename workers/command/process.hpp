// One command as a process: started cheaply from a large parent, bounded, and ended with everything it started.
//
// Requires: at most one Process at a time in this process, and no other children than those that stand aside (process_table.hpp).
// start() makes this process the reaper of orphans (PR_SET_CHILD_SUBREAPER), so that whatever the command starts, even in a
// session of its own, stays below us and can be found. One thread. The command is killed when the thread that started it ends
// (PR_SET_PDEATHSIG), so that thread must live as long as it should.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "os/unique_fd.hpp"

namespace tuneband::workers {

struct ProcessSpec {
  std::string executable;                // path, as find_executable() gives it
  std::vector<std::string> argv;         // not empty
  std::vector<std::string> environment;  // "NAME=value", the whole of it
  std::string working_dir;
  std::optional<std::int64_t> memory_bytes_max = {};  // address space of each of its processes (RLIMIT_AS)
  std::optional<std::int64_t> cpu_ms_max = {};        // CPU time of each of its processes, rounded up to seconds (RLIMIT_CPU)
};

struct ExitStatus {
  int code = 0;
  int signal = 0;                    // not 0: ended by this signal
  std::int64_t peak_bytes = 0;       // resident at most, of one of its processes; 0: not known
  std::int64_t cpu_ms = 0;           // CPU time of the process itself
  std::int64_t children_cpu_ms = 0;  // of its children together, as far as they were waited for
};

// Where `name` is: itself when it holds a slash (relative to `working_dir`), else the first executable of that name on
// `path_variable` (as $PATH). Errors (invalid_argument): not there, a directory, not executable; a sentence for the user.
Result<std::string> find_executable(std::string_view name, std::string_view path_variable, const std::string& working_dir);

class Process {
 public:
  // In a process group of its own, standard input empty, output and errors in one pipe, signals as by default.
  // Errors: invalid_argument when the program cannot be executed, unavailable when the machine has no room for it.
  static Result<Process> start(const ProcessSpec& spec);
  ~Process();  // kill_tree()
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;

  int exit_fd() const { return pidfd_.get(); }     // readable once it has ended
  int output_fd() const { return output_.get(); }  // does not block

  // Its status once it has ended; the same on every call.
  std::optional<ExitStatus> poll_exit();
  // To its process group. Nothing when it has ended and been polled.
  void signal_group(int signal);
  // Ends it and all its descendants at once, and reaps them. Gives up on those that the kernel does not let go within a few
  // seconds.
  void kill_tree();

 private:
  Process(pid_t pid, os::UniqueFd pidfd, os::UniqueFd output) : pid_(pid), pidfd_(std::move(pidfd)), output_(std::move(output)) {}

  pid_t pid_ = 0;
  os::UniqueFd pidfd_;
  os::UniqueFd output_;
  std::optional<ExitStatus> status_;
};

}  // namespace tuneband::workers

// Starting another program and saying how it ended. posix_spawn: its cost does not grow with the size of the server.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace tuneband::os {

struct ChildCommand {
  std::string program;                                           // path
  std::vector<std::string> arguments;                            // without argv[0]
  std::vector<std::pair<std::string, std::string>> environment;  // set on top of the server's own
  int stdin_fd = -1;                                             // -1: /dev/null
  int stdout_fd = -1;
  int stderr_fd = -1;
};

// In a session of its own (a Ctrl-C at the server's terminal is the server's to handle), with default signals, without any of the
// server's other descriptors, and as a batch task: it must not delay the server. Error: `internal`, naming program and reason.
Result<pid_t> spawn(const ChildCommand& command);

// "ended with status 3", "was killed by signal 9 (SIGKILL), perhaps out of memory".
std::string describe_exit(const siginfo_t& exit);

// tuneband-worker beside the running executable.
std::string program_beside_this_one(const std::string& name);

}  // namespace tuneband::os

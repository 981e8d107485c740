// Starts a program as a process of its own.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace tuneband::cli {

// `command`: the program's path, then its arguments. In a session of its own, so that a Ctrl-C at the terminal is not its to
// handle, and all of it can be ended as a group; without input, signals as by default. 0, and `pid` is set; or errno.
int spawn(std::vector<std::string> command, int output, int errors, pid_t& pid);

}  // namespace tuneband::cli

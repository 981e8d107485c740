// A job's document checked on this machine for the server (docs/trouble.md): by this program once more, in a process of its own,
// because it touches files and loads the trainer's libraries.
#pragma once

#include <functional>
#include <string>

#include "core/error.hpp"

namespace tuneband::workers {

struct CheckProcessOptions {
  std::string program = "/proc/self/exe";  // a tuneband-worker
  int workers = 1;                         // that share this machine
  int seconds_max = 30;
  std::function<bool()> should_stop = [] { return false; };  // asked several times a second
};

// On the thread that starts commands, whose children it is not counted among. That the program cannot run, runs out of time, is
// stopped or breaks is a warning.
Diagnostics check_in_process(const std::string& document, const CheckProcessOptions& options);

}  // namespace tuneband::workers

// What a program says, and how it ends, within a deadline.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace tuneband::cli {

struct ProgramOutput {
  enum class End { exited, killed_by_signal, out_of_time, not_started };
  End end = End::exited;
  int status = 0;    // exited: its status; killed_by_signal: the signal
  std::string said;  // on stdout and stderr, without the last line ends, cut; not_started: the system's reason

  bool well() const { return end == End::exited && status == 0; }
};

// `command`: the program's path, then its arguments. It has no input. Whatever it started ends with it when the time is over.
ProgramOutput output_of(const std::vector<std::string>& command, std::chrono::milliseconds time_max);

}  // namespace tuneband::cli

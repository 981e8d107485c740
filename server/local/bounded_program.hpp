// A program that the server asks, as its worker program, whatever it does: with bounded time and output, and gone when the server
// ends. Waits: off the loop thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "os/child_process.hpp"
#include "server/local/server_child.hpp"

namespace tuneband::server {

struct ProgramBounds {
  std::int64_t timeout_ms = 0;
  int ending_fd = -1;  // readable: nobody waits for it any more, as when the server is stopping
};

// What the program said, or why nothing came of it: "took too long".
struct ProgramRun {
  std::string output;
  std::string failure;
  bool hung = false;  // it used no processor time for the last half of its time, and had no process of its own to wait for
};

// `input` is for its standard input; environment, input, output and end signal of `command` are set here.
ProgramRun run_program(os::ChildCommand command, std::string_view input, const ProgramBounds& bounds);

}  // namespace tuneband::server

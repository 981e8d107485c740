// A program as a shell runs it, to its end.
#pragma once

#include <stdio.h>
#include <sys/wait.h>

#include <array>
#include <string>

namespace tuneband::test {

struct Ran {
  int status = -1;     // as it is when the program was ended by a signal, or the shell was not started
  std::string output;  // what it wrote to its standard output
};

inline Ran run_program(const std::string& command_line) {
  Ran ran;
  FILE* pipe = ::popen(command_line.c_str(), "r");
  if (pipe == nullptr) return ran;
  std::array<char, 65536> piece;
  while (const std::size_t size = ::fread(piece.data(), 1, piece.size(), pipe)) ran.output.append(piece.data(), size);
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) ran.status = WEXITSTATUS(status);
  return ran;
}

}  // namespace tuneband::test

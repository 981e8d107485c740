// Whether this machine can run a job's command: the program's architecture, instruction set and libraries, the interpreter of a
// script, the script itself and what it imports, and a GPU where one is asked for.
#pragma once

#include <optional>
#include <string>

#include "core/error.hpp"
#include "workers/preflight/checked_command.hpp"
#include "workers/preflight/program_file.hpp"

namespace tuneband::workers {

// The script that the command runs, where an interpreter runs one that is known.
struct CommandScript {
  std::string interpreter;  // path
  std::string script;       // path; "": its place is not known
  std::string module;       // `python -m`
  std::string path;         // in the job
  bool python = false;
  bool certain = true;  // else it may be the operand of an option that is not known here
};
std::optional<CommandScript> script_of(const CheckedCommand& command);

// That it is there and may be read.
void check_script(const CheckedCommand& command, Diagnostics& diagnostics);

void check_program_fits(const CheckedCommand& command, Diagnostics& diagnostics);

// As the above: of the arguments and values that ask for a GPU. `has_gpu`: of this machine.
void check_gpu(const CheckedCommand& command, bool has_gpu, Diagnostics& diagnostics);
bool machine_has_gpu();

}  // namespace tuneband::workers

// A Python script before its first run: what its interpreter says of it without running a line of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "workers/preflight/checked_command.hpp"
#include "workers/preflight/program_check.hpp"

namespace tuneband::workers {

// Syntax; modules that it imports (modules of its own directory with theirs) and the interpreter does not find; a GPU that it
// asks for without looking whether there is one; PyTorch built without CUDA where the job asks for it. What was read: the script
// and the modules of its own directory that it imports.
std::vector<std::string> check_python(const CheckedCommand& command, const CommandScript& script, bool has_gpu,
                                      Diagnostics& diagnostics);

// Whether anything in a script's text tells one rank of a trial from another.
bool knows_of_ranks(std::string_view text);

}  // namespace tuneband::workers

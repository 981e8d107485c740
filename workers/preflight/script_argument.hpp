// Which argument of an interpreter's command line is the script that it runs: by its options, of which each interpreter has its
// own.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuneband::workers {

struct ScriptArgument {
  std::size_t index = 0;  // of argv
  std::string text;       // the script, or the module: it may be a part of the argument only (-mjson.tool)
  bool module = false;    // `python -m`
  bool certain = true;    // else an option came before that is not known here: it may be that one's operand
};

bool is_python(std::string_view program);
// `program`: a file's name, without its directory.
bool runs_scripts(std::string_view program);

// Nothing: no script, a text in its place (-c, -e), the standard input, or another program than runs_scripts() knows.
std::optional<ScriptArgument> script_argument(std::string_view program, const std::vector<std::string>& argv);

}  // namespace tuneband::workers

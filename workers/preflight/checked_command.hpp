// A job's command as its trials would find it here: what is looked at before the first of them starts. The checks run as the
// user, with the environment, the directory and the limits that the trials get.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/json.hpp"
#include "jobs/trainer_spec.hpp"

namespace tuneband::workers {

struct CheckedCommand {
  CommandSpec spec;        // with the values of its references
  std::string executable;  // path of argv[0]
  std::vector<std::string> environment;
  int replicas_max = 1;  // the most ranks that a trial may have
  Json search_space = Json::object();
};

// A text that the command gets, and where it stands in the job: an argument, a variable's value, a value of the search space.
struct CommandText {
  std::string path;
  std::string name;  // the option, variable or parameter that it belongs to, without dashes; "": none
  std::string text;  // of "--name=text" the part behind "="
};
// Those without a placeholder, but for argv[0] and lists of directories (PYTHONPATH, of several).
std::vector<CommandText> texts_of(const CheckedCommand& command);

// What a program of this command's environment, directory and limits says within `seconds_max`.
struct ProgramSaid {
  bool ended = false;  // in time
  int status = -1;     // -1: by a signal, or it could not be started
  std::string output;  // of both streams, at most kSaidBytesMax
};
inline constexpr std::size_t kSaidBytesMax = 256 * 1024;
enum class Limits { of_command, none };
ProgramSaid said_by(const CheckedCommand& command, const std::vector<std::string>& argv, int seconds_max, Limits limits);

// `path` from where the command runs; "": that is a trial's own directory.
std::string from_working_dir(const CheckedCommand& command, const std::string& path);

// The last part of a path.
std::string_view file_name_of(std::string_view path);

}  // namespace tuneband::workers

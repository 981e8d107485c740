#include "workers/preflight/checked_command.hpp"

#include <chrono>
#include <string_view>

#include "os/child_output.hpp"
#include "workers/command/path_check.hpp"
#include "workers/command/process.hpp"

namespace tuneband::workers {

namespace {

bool has_placeholder(std::string_view text) { return text.find('{') != std::string_view::npos; }

std::string option_name(std::string_view argument) {
  const auto begin = argument.find_first_not_of('-');
  return begin == 0 || begin == std::string_view::npos ? "" : std::string(argument.substr(begin));
}

void add_arguments(const std::vector<std::string>& argv, std::vector<CommandText>& texts) {
  std::string option;  // the argument before, when it was one without a value
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const std::string& argument = argv[i];
    const std::string path = join_path("trainer.argv", i);
    const std::string name = option_name(argument);
    const auto equals = name.find('=');
    if (name.empty()) {
      if (!has_placeholder(argument)) texts.push_back({path, option, argument});
    } else if (equals != std::string::npos && !has_placeholder(argument)) {
      texts.push_back({path, name.substr(0, equals), name.substr(equals + 1)});
    }
    option = equals == std::string::npos ? name : "";
  }
}

void add_parameters(const Json& space, std::vector<CommandText>& texts) {
  for (const auto& [name, domain] : space.items()) {
    const std::string path = join_path("search_space", name);
    const Json values = domain.is_object() && domain.contains("values") ? domain["values"] : Json::array();
    const Json fixed = domain.is_object() ? domain.value("value", Json()) : domain;
    if (fixed.is_string()) texts.push_back({path, name, fixed.get<std::string>()});
    if (!values.is_array()) continue;
    for (const Json& value : values) {
      if (value.is_string()) texts.push_back({path, name, value.get<std::string>()});
    }
  }
}

}  // namespace

std::string from_working_dir(const CheckedCommand& command, const std::string& path) {
  if (path.starts_with('/')) return path;
  return command.spec.working_dir.empty() ? "" : path_from(command.spec.working_dir, path);
}

std::string_view file_name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::vector<CommandText> texts_of(const CheckedCommand& command) {
  std::vector<CommandText> texts;
  add_arguments(command.spec.argv, texts);
  for (const auto& [name, value] : command.spec.environment) {
    const bool list = name.ends_with("PATH") && value.find(':') != std::string::npos;
    if (list) continue;  // of which what is not there is passed over
    texts.push_back({join_path("trainer.environment", name), name, value});
  }
  add_parameters(command.search_space, texts);
  return texts;
}

ProgramSaid said_by(const CheckedCommand& command, const std::vector<std::string>& argv, int seconds_max, Limits limits) {
  ProcessSpec spec;
  spec.executable = argv.front();
  spec.argv = argv;
  spec.environment = command.environment;
  spec.working_dir = command.spec.working_dir.empty() ? "/" : command.spec.working_dir;
  if (limits == Limits::of_command) spec.memory_bytes_max = command.spec.memory_bytes_max;
  ProgramSaid said;
  auto process = Process::start(spec);
  if (!process) return said;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds_max);
  said.ended = os::listen_until_it_ends(process->output_fd(), process->exit_fd(), deadline, kSaidBytesMax, said.output);
  if (!said.ended) return said;
  const auto status = process->poll_exit();
  if (status && status->signal == 0) said.status = status->code;
  return said;
}

}  // namespace tuneband::workers

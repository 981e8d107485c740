#include "workers/command/command_line.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <utility>

#include "core/text.hpp"
#include "net/free_port.hpp"
#include "os/unique_fd.hpp"

namespace tuneband::workers {

namespace {

constexpr const char* kLoopback = "127.0.0.1";

std::string scalar_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return format_number(value.get<double>());
  return value.dump();
}

bool name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.'; }

// The name between the brace at `open` and its closing one, or nothing when that is not a placeholder.
std::optional<std::string> placeholder_at(const std::string& text, std::size_t open) {
  std::size_t end = open + 1;
  while (end < text.size() && name_character(text[end])) ++end;
  if (end == open + 1 || end == text.size() || text[end] != '}') return std::nullopt;
  return text.substr(open + 1, end - open - 1);
}

std::optional<std::string> fill_argument(const std::string& text, const std::map<std::string, std::string>& values) {
  std::string filled;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if ((c == '{' || c == '}') && i + 1 < text.size() && text[i + 1] == c) {
      filled += c;
      i += 2;
      continue;
    }
    if (const auto name = c == '{' ? placeholder_at(text, i) : std::nullopt) {
      const auto value = values.find(*name);
      if (value == values.end()) return std::nullopt;
      filled += value->second;
      i += name->size() + 2;
      continue;
    }
    filled += c;
    ++i;
  }
  return filled;
}

// Of a trial on one worker: alone in a group of its own.
protocol::GroupPlace group_place(const protocol::AssignmentOrder& order) {
  if (order.group) return *order.group;
  protocol::GroupPlace alone;
  alone.world_size = 1;
  return alone;
}

// Under the names of torchrun and of dmlc's launchers (which rabit reads). LOCAL_RANK counts the processes of one worker: always
// one.
void add_group_variables(const protocol::AssignmentOrder& order, const std::string& tracker_host,
                         std::map<std::string, std::string>& variables) {
  const protocol::GroupPlace place = group_place(order);
  variables["RANK"] = std::to_string(place.rank);
  variables["WORLD_SIZE"] = std::to_string(place.world_size);
  variables["LOCAL_RANK"] = "0";
  variables["LOCAL_WORLD_SIZE"] = "1";
  if (!order.group) {
    variables["MASTER_ADDR"] = kLoopback;
    variables["MASTER_PORT"] = std::to_string(net::find_free_port());
    return;
  }
  variables["MASTER_ADDR"] = place.master_address;
  variables["MASTER_PORT"] = std::to_string(place.master_port);
  variables["DMLC_ROLE"] = "worker";
  variables["DMLC_TRACKER_URI"] = place.tracker_host.empty() ? tracker_host : place.tracker_host;
  variables["DMLC_TRACKER_PORT"] = std::to_string(place.tracker_port);
  variables["DMLC_NUM_WORKER"] = std::to_string(place.world_size);
  // Of this segment: unlike XGBoost's ranks, which keep their session, a command's meet anew each time they are started.
  variables["DMLC_TASK_ID"] = std::to_string(order.epoch) + ":" + std::to_string(place.rank);
  variables["DMLC_RANK"] = std::to_string(place.rank);
}

}  // namespace

// Each rank writes its own: another may be reading.
std::string parameters_file(const protocol::AssignmentOrder& order) {
  const int rank = order.group ? order.group->rank : 0;
  return order.trial_dir + "/parameters" + (rank == 0 ? "" : "-" + std::to_string(rank)) + ".json";
}

std::map<std::string, std::string> template_values(const protocol::AssignmentOrder& order) {
  std::map<std::string, std::string> values{
      {"resource", std::to_string(order.until_resource)},
      {"from_resource", std::to_string(order.from_resource)},
      {"until_resource", std::to_string(order.until_resource)},
      {"max_resource", std::to_string(order.max_resource)},
      {"checkpoint_dir", protocol::checkpoint_dir(order.trial_dir, order.epoch)},
      {"parameters_file", parameters_file(order)},
      {"trial_dir", order.trial_dir},
      {"seed", std::to_string(order.seed)},
      {"job", std::to_string(order.job)},
      {"trial", std::to_string(order.trial)},
      {"attempt", std::to_string(order.attempt)},
      {"rank", std::to_string(group_place(order).rank)},
      {"world_size", std::to_string(group_place(order).world_size)},
      {"replicas", std::to_string(group_place(order).world_size)},
  };
  for (const auto& [name, value] : order.configuration.items()) values[name] = scalar_text(value);
  return values;
}

std::vector<std::string> fill_argv(const std::vector<std::string>& templates, const std::map<std::string, std::string>& values) {
  std::vector<std::string> argv;
  for (const std::string& text : templates) {
    if (auto filled = fill_argument(text, values)) argv.push_back(std::move(*filled));
  }
  return argv;
}

namespace {

constexpr std::size_t kSecretBytesMax = 64 * 1024;  // the system takes 128 KiB for one variable

// What a program needs to be found, to run and to speak its user's language. The rest may be keys of the server's owner.
bool passes_through(std::string_view name) {
  constexpr std::array<std::string_view, 17> kNames{"PATH",
                                                    "HOME",
                                                    "USER",
                                                    "LOGNAME",
                                                    "SHELL",
                                                    "LANG",
                                                    "LANGUAGE",
                                                    "TZ",
                                                    "TMPDIR",
                                                    "TMP",
                                                    "TEMP",
                                                    "TERM",
                                                    "LD_LIBRARY_PATH",
                                                    "PYTHONPATH",
                                                    "VIRTUAL_ENV",
                                                    "CONDA_PREFIX",
                                                    "CUDA_VISIBLE_DEVICES"};
  return name.starts_with("LC_") || name.starts_with("OMP_") || std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

std::map<std::string, std::string> inherited_variables(const CommandSpec& spec) {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || text.starts_with("TUNEBAND_")) continue;
    const std::string name = text.substr(0, equals);
    const auto& named = spec.pass_environment;
    if (passes_through(name) || std::find(named.begin(), named.end(), name) != named.end())
      variables[name] = text.substr(equals + 1);
  }
  return variables;
}

// A file's text without the line's end that editors add. A file that is no regular one could hold up its reader for ever.
std::optional<std::string> text_of_file(const std::string& path) {
  const os::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  std::string text(kSecretBytesMax + 1, '\0');
  const ssize_t size = ::read(file.get(), text.data(), text.size());
  if (size < 0 || static_cast<std::size_t>(size) > kSecretBytesMax) return std::nullopt;
  text.resize(static_cast<std::size_t>(size));
  if (text.find('\0') != std::string::npos) return std::nullopt;
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text;
}

}  // namespace

Result<CommandSpec> with_references_read(CommandSpec spec) {
  using Source = EnvironmentReference::Source;
  for (const EnvironmentReference& reference : spec.environment_references) {
    const std::string path = join_path("trainer.environment", reference.name);
    if (reference.source == Source::worker_variable) {
      const char* value = std::getenv(reference.from.c_str());
      if (value == nullptr) {
        return Error{ErrorCode::invalid_argument, "the worker has no environment variable `" + reference.from + "`", path,
                     "set it where the server or the worker is started"};
      }
      spec.environment.emplace_back(reference.name, value);
      continue;
    }
    auto text = text_of_file(reference.from);
    if (!text) {
      return Error{ErrorCode::invalid_argument, "the file " + reference.from + " cannot be read", path,
                   "expected a file of text, of at most 64 KiB, that the worker's user may read"};
    }
    spec.environment.emplace_back(reference.name, std::move(*text));
  }
  spec.environment_references.clear();
  return spec;
}

std::vector<std::string> command_environment(const protocol::AssignmentOrder& order, const CommandSpec& spec,
                                             const std::string& tracker_host) {
  std::map<std::string, std::string> variables = inherited_variables(spec);
  variables.emplace("PYTHONUNBUFFERED", "1");  // else its reports come all at once, at the end
  variables["TUNEBAND_JOB"] = std::to_string(order.job);
  variables["TUNEBAND_TRIAL"] = std::to_string(order.trial);
  variables["TUNEBAND_ATTEMPT"] = std::to_string(order.attempt);
  variables["TUNEBAND_SEED"] = std::to_string(order.seed);
  variables["TUNEBAND_FROM_RESOURCE"] = std::to_string(order.from_resource);
  variables["TUNEBAND_UNTIL_RESOURCE"] = std::to_string(order.until_resource);
  variables["TUNEBAND_MAX_RESOURCE"] = std::to_string(order.max_resource);
  variables["TUNEBAND_TRIAL_DIR"] = order.trial_dir;
  variables["TUNEBAND_CHECKPOINT_DIR"] = protocol::checkpoint_dir(order.trial_dir, order.epoch);
  variables["TUNEBAND_EPOCH"] = std::to_string(order.epoch);
  variables["TUNEBAND_PARAMETERS_FILE"] = parameters_file(order);
  const bool distributed = order.group || (order.trainer.is_object() && order.trainer.contains("replicas"));
  if (distributed) add_group_variables(order, tracker_host, variables);
  for (const auto& [name, value] : order.configuration.items()) variables[variable_of_parameter(name)] = scalar_text(value);
  for (const auto& [name, value] : spec.environment) variables[name] = value;

  std::vector<std::string> environment;
  environment.reserve(variables.size());
  for (const auto& [name, value] : variables) environment.push_back(name + "=" + value);
  return environment;
}

std::string environment_value(const std::vector<std::string>& environment, const std::string& name) {
  for (const std::string& entry : environment) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') return entry.substr(name.size() + 1);
  }
  return "";
}

}  // namespace tuneband::workers

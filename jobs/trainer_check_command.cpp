// A command against the rest of its job: placeholders, variables, what it prints.
#include <algorithm>
#include <map>

#include "core/text.hpp"
#include "jobs/path_text.hpp"
#include "jobs/trainer_check_parts.hpp"
#include "scheduler/job_spec.hpp"

namespace tuneband {

namespace {

const std::vector<std::string>& builtin_placeholders() {
  static const std::vector<std::string> names{
      "resource", "from_resource", "until_resource", "max_resource", "checkpoint_dir", "parameters_file", "trial_dir",
      "seed",     "job",           "trial",          "attempt",      "rank",           "world_size",      "replicas"};
  return names;
}

bool placeholder_character(char c) {
  const bool alphanumeric = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  return alphanumeric || c == '_' || c == '-' || c == '.';
}

// The names in braces; "{{" is a brace itself, and braces around what cannot be a name are text.
std::vector<std::string> placeholders_in(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '{') continue;
    const std::size_t begin = ++i;
    if (text[begin] == '{') continue;
    std::size_t end = begin;
    while (placeholder_character(text[end])) ++end;  // a NUL byte ends the text, and is none
    if (end > begin && text[end] == '}') names.push_back(text.substr(begin, end - begin));
  }
  return names;
}

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// A value may be text of any kind, which is why nothing in it is replaced.
void check_environment(const CommandSpec& spec, const std::vector<std::string>& known, Diagnostics& diagnostics) {
  for (const auto& [variable, value] : spec.environment) {
    const std::vector<std::string> names = placeholders_in(value);
    const auto meant = std::ranges::find_if(names, [&](const std::string& name) { return is_among(known, name); });
    if (meant == names.end()) continue;
    const std::string placeholder = "{" + *meant + "}";
    diagnostics.warning(join_path("trainer.environment", variable),
                        "`" + placeholder + "` is passed on as it is: it is replaced in argv alone",
                        "let argv begin with \"env\", \"" + variable + "=" + placeholder + "\"");
  }
}

// Each parameter is in the command's environment too, under a name with fewer characters.
void check_variables(const std::vector<TunedParameter>& tuned, Diagnostics& diagnostics) {
  std::map<std::string, std::string> parameters;
  for (const TunedParameter& parameter : tuned) {
    const auto [other, fresh] = parameters.emplace(variable_of_parameter(parameter.name), parameter.name);
    if (fresh) continue;
    diagnostics.warning(join_path("search_space", parameter.name),
                        "has the environment variable " + other->first + " in common with `" + other->second +
                            "`: it holds the value of one of them",
                        "rename one, or read the parameters from argv or {parameters_file}");
  }
}

}  // namespace

void check_command(const CommandSpec& spec, const std::vector<TunedParameter>& tuned, const std::vector<MetricOfJob>& metrics,
                   Diagnostics& diagnostics) {
  if (!spec.argv.empty()) {
    if (const auto unsupported = unsupported_path(spec.argv.front()))
      diagnostics.error("trainer.argv[0]", unsupported->message, unsupported->hint);
  }
  for (std::size_t i = 1; i < spec.argv.size(); ++i) {
    if (spec.argv[i].starts_with("~/")) {
      diagnostics.warning(join_path("trainer.argv", i), "`~` is passed on as it is: no shell takes part that would replace it");
    }
  }
  std::vector<std::string> known = builtin_placeholders();
  for (const TunedParameter& parameter : tuned) known.push_back(parameter.name);
  for (std::size_t i = 0; i < spec.argv.size(); ++i) {
    for (const std::string& name : placeholders_in(spec.argv[i])) {
      if (is_among(known, name)) continue;
      const std::string meant = did_you_mean(name, known);
      diagnostics.error(join_path("trainer.argv", i), "`{" + name + "}` is no parameter of the search space",
                        meant.empty() ? "write {{" + name + "}} for the braces themselves" : meant);
    }
  }
  check_environment(spec, known, diagnostics);
  check_variables(tuned, diagnostics);
  std::vector<std::string> printed;
  for (const MetricPattern& pattern : spec.metrics) printed.push_back(pattern.name);
  const bool any_name = printed.empty() || is_among(printed, "");
  for (const MetricOfJob& asked : metrics) {
    if (printed.empty() && asked.name == "resource") {
      diagnostics.error(asked.path,
                        "`resource` says how far a training is in the lines of JSON that a command prints, and is no metric",
                        "call the metric otherwise");
    }
    if (any_name || is_among(printed, asked.name)) continue;
    diagnostics.error(asked.path, "`" + asked.name + "` is not among trainer.metrics (" + one_of(printed) + ")",
                      did_you_mean(asked.name, printed));
  }
}

}  // namespace tuneband

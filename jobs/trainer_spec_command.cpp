// The trainer `command`.
#include <algorithm>

#include "core/masked_document.hpp"
#include "core/time.hpp"
#include "core/units.hpp"
#include "jobs/trainer_spec_parts.hpp"
#include "scheduler/job_spec.hpp"

namespace tuneband {

namespace {

constexpr std::size_t kArgumentsMax = 1000;
constexpr std::size_t kArgumentSizeMax = 100'000;  // bytes
constexpr std::size_t kVariablesMax = 1000;
constexpr std::size_t kMetricPatternsMax = 100;
constexpr std::size_t kRegexSizeMax = 2000;  // bytes
constexpr double kSegmentSecondsMax = 30 * 86'400.0;
constexpr std::int64_t kMemoryMbMax = 1LL << 24;

std::vector<std::string> read_argv(ObjectReader& reader) {
  std::vector<std::string> argv;
  constexpr char kExpected[] = "an array of texts, the program first";
  const Json* json = reader.require("argv", kExpected);
  if (json == nullptr) return argv;
  const std::string path = reader.path_to("argv");
  if (!json->is_array() || json->empty() || json->size() > kArgumentsMax) {
    reader.expected("argv", kExpected, *json,
                    json->is_string() ? R"(like ["python3", "train.py"]; for a line of a shell ["sh", "-c", "..."])" : "");
    return argv;
  }
  for (std::size_t i = 0; i < json->size(); ++i) {
    const Json& argument = (*json)[i];
    if (argument.is_string() && argument.get_ref<const std::string&>().size() <= kArgumentSizeMax &&
        !has_nul(argument.get<std::string>())) {
      argv.push_back(argument.get<std::string>());
    } else {
      reader.diagnostics().error(join_path(path, i), "expected a text, got " + excerpt(argument), "numbers go in quotes too");
    }
  }
  if (!argv.empty() && argv[0].empty())
    reader.diagnostics().error(join_path(path, std::size_t{0}), "expected a program, got an empty text");
  return argv;
}

bool is_variable_name(const std::string& name) { return !name.empty() && !has_nul(name) && name.find('=') == std::string::npos; }

void read_reference(const std::string& name, const Json& json, const std::string& path, CommandSpec& spec,
                    Diagnostics& diagnostics) {
  using Source = EnvironmentReference::Source;
  ObjectReader reader(json, path, diagnostics);
  const auto variable = reader.text("from_environment", {1, kPathSizeMax});
  const std::string file = reader.has("file") ? read_path(reader, "file") : "";
  reader.finish();
  if (variable.has_value() == !file.empty()) {
    diagnostics.error(path, "expected a text, {\"from_environment\": NAME} or {\"file\": PATH}");
  } else if (variable && !is_variable_name(*variable)) {
    diagnostics.error(join_path(path, "from_environment"), "is not a name for an environment variable");
  } else {
    spec.environment_references.push_back({name, variable ? Source::worker_variable : Source::file, variable ? *variable : file});
  }
}

void read_environment(ObjectReader& reader, CommandSpec& spec) {
  const Json* json = reader.find("environment");
  if (json == nullptr) return;
  const std::string path = reader.path_to("environment");
  Diagnostics& diagnostics = reader.diagnostics();
  if (!json->is_object() || json->size() > kVariablesMax) {
    return diagnostics.error(path, "expected an object of at most " + std::to_string(kVariablesMax) + " variables");
  }
  for (const auto& [name, value] : json->items()) {
    const std::string at = join_path(path, name);
    auto text = scalar_text(value);
    if (!is_variable_name(name)) {
      diagnostics.error(at, "is not a name for an environment variable");
    } else if (value.is_object()) {
      read_reference(name, value, at, spec, diagnostics);
    } else if (!text || has_nul(*text)) {
      diagnostics.error(at, "expected a text, {\"from_environment\": NAME} or {\"file\": PATH}");
    } else if (*text == kMaskedValue) {
      diagnostics.error(at, "is the mask of a value, not the value", "documents are shown without these values: give it anew");
    } else {
      spec.environment.emplace_back(name, std::move(*text));
    }
  }
}

void read_pass_environment(ObjectReader& reader, CommandSpec& spec) {
  const Json* json = reader.find("pass_environment");
  if (json == nullptr) return;
  const std::string path = reader.path_to("pass_environment");
  if (!json->is_array() || json->size() > kVariablesMax) {
    return reader.diagnostics().error(path, "expected an array of variables' names, got " + excerpt(*json));
  }
  for (std::size_t i = 0; i < json->size(); ++i) {
    const Json& name = (*json)[i];
    if (name.is_string() && name.get_ref<const std::string&>().starts_with("TUNEBAND_")) {
      reader.diagnostics().error(join_path(path, i),
                                 "names that begin with TUNEBAND_ are of the service: " + excerpt(name) + " is not passed on",
                                 "give it another name");
    } else if (name.is_string() && is_variable_name(name.get<std::string>())) {
      spec.pass_environment.push_back(name.get<std::string>());
    } else {
      reader.diagnostics().error(join_path(path, i), "expected the name of an environment variable, got " + excerpt(name));
    }
  }
}

// "[3]\tvalid-auc:0.71\ttrain-auc:0.8", as XGBoost prints its evaluations.
constexpr const char* kXgboostLinePattern = R"(\t([^\s:]+):(\S+))";

void read_metrics(ObjectReader& reader, CommandSpec& spec) {
  const Json* json = reader.find("metrics");
  if (json == nullptr) return;
  const std::string path = reader.path_to("metrics");
  if (json->is_string()) {
    if (reader.word("metrics", {"json", "xgboost"}) == std::size_t{1}) spec.metrics.push_back({"", kXgboostLinePattern});
    return;
  }
  if (!json->is_array() || json->empty() || json->size() > kMetricPatternsMax) {
    reader.diagnostics().error(path,
                               "expected \"json\", \"xgboost\" or an array of {\"name\", \"regex\"}, got " + excerpt(*json));
    return;
  }
  for (std::size_t i = 0; i < json->size(); ++i) {
    ObjectReader pattern((*json)[i], join_path(path, i), reader.diagnostics());
    pattern.require_present("name");
    pattern.require_present("regex");
    spec.metrics.push_back(
        {pattern.text_or("name", "", {0, kMetricNameSizeMax}), pattern.text_or("regex", "", {1, kRegexSizeMax})});
    pattern.finish();
  }
}

void read_may_end_early(ObjectReader& reader, CommandSpec& spec) {
  spec.may_end_early = reader.boolean("may_end_early").value_or(false);
  if (spec.may_end_early && spec.resume == ResumeMode::checkpoint) {
    reader.diagnostics().error(reader.path_to("may_end_early"),
                               "a training that has ended by itself cannot go on from its checkpoint",
                               "leave out one of the two, or let it report its last value for {until_resource}");
  }
}

}  // namespace

CommandSpec read_command(ObjectReader& reader) {
  CommandSpec spec;
  reader.also_called("argv", {"command", "cmd", "args", "entrypoint", "script"});
  reader.also_called("environment", {"env"});
  reader.also_called("working_dir", {"cwd", "workdir", "working_directory"});
  spec.argv = read_argv(reader);
  read_environment(reader, spec);
  read_pass_environment(reader, spec);
  const std::string working_dir = reader.text_or("working_dir", "", {0, kPathSizeMax});
  if (!working_dir.empty()) spec.working_dir = normal_path(working_dir);
  read_metrics(reader, spec);
  spec.resource_regex = reader.text_or("resource_regex", "", {0, kRegexSizeMax});
  spec.resource_name = reader.text_or("resource_name", spec.resource_name, {1, 50});
  if (reader.word("resume", {"checkpoint", "restart"}) == std::size_t{0}) spec.resume = ResumeMode::checkpoint;
  read_may_end_early(reader, spec);
  spec.grace_ms = ms_of(reader.number_or("grace_seconds", kGraceSecondsDefault, {0, kGraceSecondsMax}));
  if (const auto seconds = reader.number("timeout_seconds", {0, kSegmentSecondsMax, true, false}))
    spec.timeout_ms = ms_of(*seconds);
  if (const auto mb = reader.integer("memory_mb", {1, kMemoryMbMax})) spec.memory_bytes_max = *mb * kMegabyte;
  if (const auto seconds = reader.number("cpu_seconds", {0, kSegmentSecondsMax, true, false})) spec.cpu_ms_max = ms_of(*seconds);
  spec.metric_rank = static_cast<int>(reader.integer_or("metric_rank", 0, {0, kRankMax}));
  return spec;
}

}  // namespace tuneband

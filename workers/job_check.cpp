#include "workers/job_check.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <variant>

#include "core/json.hpp"
#include "jobs/parsed_job.hpp"
#include "workers/command/command_line.hpp"
#include "workers/command/metric_parser.hpp"
#include "workers/command/path_check.hpp"
#include "workers/command/process.hpp"
#include "workers/data/data_check.hpp"
#include "workers/preflight/limit_check.hpp"
#include "workers/preflight/place_check.hpp"
#include "workers/preflight/program_check.hpp"
#include "workers/preflight/python_check.hpp"
#include "workers/preflight/scale_check.hpp"
#include "workers/protocol/sync.hpp"
#include "workers/trial_probe.hpp"

namespace tuneband::workers {

namespace {

void add_fault(const std::string& path, const std::optional<PathFault>& fault, Diagnostics& diagnostics) {
  if (fault) diagnostics.error(path, fault->message, fault->hint);
}

// What a trial of the job would be started with; nothing: it was said what is wrong, or it differs from trial to trial.
std::optional<CheckedCommand> find_command(const CommandSpec& spec, Diagnostics& diagnostics) {
  if (!spec.working_dir.empty()) {
    add_fault("trainer.working_dir", fault_of_directory(spec.working_dir), diagnostics);
    if (!diagnostics.ok()) return std::nullopt;
  }
  if (spec.argv.empty()) return std::nullopt;
  const std::string& program = spec.argv.front();
  if (program.find('{') != std::string::npos) return std::nullopt;
  const bool of_trial_dir = spec.working_dir.empty() && program.find('/') != std::string::npos && !program.starts_with('/');
  if (of_trial_dir) {
    diagnostics.error("trainer.argv[0]",
                      "the command `" + program + "` is relative to the trial's own directory, where nothing is yet",
                      "give an absolute path, or set trainer.working_dir");
    return std::nullopt;
  }
  const auto read = with_references_read(spec);
  if (!read) {
    diagnostics.error(read.error());
    return std::nullopt;
  }
  CheckedCommand command{.spec = *read, .executable = "", .environment = command_environment({}, *read)};
  const auto found = find_executable(program, environment_value(command.environment, "PATH"), spec.working_dir);
  if (!found) {
    const std::string path = from_working_dir(command, program);
    const bool on_path = program.find('/') == std::string::npos;
    const bool noexec = !on_path && is_on_noexec_mount(path);
    diagnostics.error(
        "trainer.argv[0]",
        noexec ? path + " is on a file system that is mounted noexec: nothing there may be executed" : found.error().message,
        noexec    ? "put it elsewhere, or name the interpreter before it"
        : on_path ? "give its whole path, or install it where the worker finds it"
                  : "");
    return std::nullopt;
  }
  command.executable = *found;
  return command;
}

void check_command(const CommandSpec& spec, const Json& job, const CheckedMachine& machine, Diagnostics& diagnostics) {
  auto command = find_command(spec, diagnostics);
  const auto parser = MetricParser::create(spec, objective_metric_of(job));
  if (!parser) diagnostics.error(parser.error());
  check_memory_limit(spec, job, machine, diagnostics);
  check_learning_rate(job, diagnostics);
  if (!command) return;
  command->replicas_max = replicas_max_of(job);
  if (const Json space = job.value("search_space", Json()); space.is_object()) command->search_space = space;
  check_program_fits(*command, diagnostics);
  if (diagnostics.ok()) check_execution(*command, diagnostics);
  check_limits(*command, diagnostics);
  const bool has_gpu = machine_has_gpu();
  check_gpu(*command, has_gpu, diagnostics);
  check_paths(*command, diagnostics);
  const auto script = diagnostics.ok() ? script_of(*command) : std::nullopt;
  std::vector<std::string> files;
  if (script && script->python && script->certain) files = check_python(*command, *script, has_gpu, diagnostics);
  if (script) files.push_back(script->script);
  check_ranks_differ(*command, files, diagnostics);
  check_addresses(*command, diagnostics);
}

// A rule that is a program of the job's own never starts where that program does not.
void check_rules(const Json& job, Diagnostics& diagnostics) {
  const Json debug = job.value("debug", Json());
  const Json rules = debug.is_object() ? debug.value("rules", Json()) : Json();
  for (std::size_t i = 0; i < rules.size() && rules.is_array(); ++i) {
    const Json argv = rules[i].is_object() ? rules[i].value("argv", Json()) : Json();
    CommandSpec spec;
    for (const Json& word : argv) spec.argv.push_back(word.is_string() ? word.get<std::string>() : "");
    Diagnostics of_rule;
    const auto command = find_command(spec, of_rule);
    if (command) check_program_fits(*command, of_rule);
    const auto at = [&](const Error& fault) {
      constexpr std::string_view kOfTrainer = "trainer.";
      const std::string path = join_path("debug.rules", i);
      return path + "." + (fault.path.starts_with(kOfTrainer) ? fault.path.substr(kOfTrainer.size()) : "argv");
    };
    for (const Error& fault : of_rule.errors()) diagnostics.error(at(fault), fault.message, fault.hint);
    for (const Error& doubt : of_rule.warnings()) diagnostics.warning(at(doubt), doubt.message, doubt.hint);
  }
}

// Of one rank on this machine.
int threads_of(const TrainerSpec& spec) {
  const auto* xgboost = std::get_if<XgboostSpec>(&spec);
  return xgboost != nullptr ? std::max(1, xgboost->threads) : 1;
}

void check_files(const DataSpec& data, Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < data.train.size(); ++i) {
    const std::string path = data.train.size() == 1 ? "trainer.data.train" : join_path("trainer.data.train", i);
    add_fault(path, fault_of_data_file(data.train[i]), diagnostics);
  }
  if (const std::string* file = data.validation_file())
    add_fault("trainer.data.validation", fault_of_data_file(*file), diagnostics);
  if (const std::string* file = data.test_file()) add_fault("trainer.data.test", fault_of_data_file(*file), diagnostics);
}

}  // namespace

void check_job(std::string_view document, const CheckedMachine& machine, Diagnostics& diagnostics) {
  const auto job = parse_json(document);
  if (!job) {
    diagnostics.error("", job.error().message);
    return;
  }
  const auto trainer = job->is_object() ? job->find("trainer") : job->end();
  if (!job->is_object() || trainer == job->end()) {
    diagnostics.error("trainer", "is missing");
    return;
  }
  const TrainerSpec spec = parse_trainer(*trainer, "trainer", diagnostics);
  if (!diagnostics.ok()) return;
  const std::string objective = objective_metric_of(*job);
  check_distribution(*job, threads_of(spec), machine, diagnostics);
  if (const auto* command = std::get_if<CommandSpec>(&spec)) check_command(*command, *job, machine, diagnostics);
  if (const auto* xgboost = std::get_if<XgboostSpec>(&spec)) {
    check_files(xgboost->data, diagnostics);
    if (diagnostics.ok()) check_data(*xgboost, *job, machine, diagnostics);
  }
  check_rules(*job, diagnostics);
  const bool probed = trainer->contains("preflight") && (*trainer)["preflight"] == kPreflightLocal;
  if (!probed || !diagnostics.ok()) return;
  const auto whole = parse_stored_job(document);
  if (whole) return probe_trial(whole->spec, diagnostics);
  diagnostics.error(whole.error());
}

void check_command_parts(const CommandSpec& spec, Diagnostics& diagnostics) {
  if (const auto command = find_command(spec, diagnostics)) check_script(*command, diagnostics);
}

std::string diagnostics_json(const Diagnostics& diagnostics) { return json_line(protocol::faults_to_json(diagnostics)); }

}  // namespace tuneband::workers

#include "workers/job_check.hpp"

#include <cstdlib>
#include <optional>
#include <variant>

#include "core/json.hpp"
#include "workers/command/command_line.hpp"
#include "workers/command/metric_parser.hpp"
#include "workers/command/path_check.hpp"
#include "workers/command/process.hpp"
#include "workers/data/data_check.hpp"
#include "workers/protocol/trainer_spec.hpp"
#include "workers/trial_probe.hpp"

namespace tuneband::workers {

namespace {

void add_fault(const std::string& path, const std::optional<PathFault>& fault, Diagnostics& diagnostics) {
  if (fault) diagnostics.error(path, fault->message, fault->hint);
}

// The program itself; not its other arguments, which may name what only a trial makes.
void check_program(const protocol::CommandSpec& spec, Diagnostics& diagnostics) {
  if (!spec.working_dir.empty()) {
    add_fault("trainer.working_dir", fault_of_directory(spec.working_dir), diagnostics);
    if (!diagnostics.ok()) return;
  }
  if (spec.argv.empty()) return;
  const std::string& program = spec.argv.front();
  if (program.find('{') != std::string::npos) return;  // differs from trial to trial
  const bool of_trial_dir = spec.working_dir.empty() && program.find('/') != std::string::npos && !program.starts_with('/');
  if (of_trial_dir) {
    diagnostics.error("trainer.argv[0]",
                      "the command `" + program + "` is relative to the trial's own directory, where nothing is yet",
                      "give an absolute path, or set trainer.working_dir");
    return;
  }
  const auto read = with_references_read(spec);
  if (!read) {
    diagnostics.error(read.error().path, read.error().message, read.error().hint);
    return;
  }
  const auto found = find_executable(program, environment_value(command_environment({}, *read), "PATH"), spec.working_dir);
  if (!found) diagnostics.error("trainer.argv[0]", found.error().message);
}

void check_command(const protocol::CommandSpec& spec, const std::string& objective, Diagnostics& diagnostics) {
  check_program(spec, diagnostics);
  const auto parser = MetricParser::create(spec, objective);
  if (!parser) diagnostics.error(parser.error().path, parser.error().message, parser.error().hint);
}

void check_files(const protocol::DataSpec& data, Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < data.train.size(); ++i) {
    const std::string path = data.train.size() == 1 ? "trainer.data.train" : join_path("trainer.data.train", i);
    add_fault(path, fault_of_data_file(data.train[i]), diagnostics);
  }
  if (const auto* validation = std::get_if<std::string>(&data.validation)) {
    add_fault("trainer.data.validation", fault_of_data_file(*validation), diagnostics);
  }
}

std::string objective_metric_of(const Json& job) {
  const auto objective = job.find("objective");
  if (objective == job.end() || !objective->is_object()) return "";
  const auto metric = objective->find("metric");
  return metric != objective->end() && metric->is_string() ? metric->get<std::string>() : "";
}

Json faults_json(const std::vector<Error>& faults) {
  Json list = Json::array();
  for (const Error& fault : faults) list.push_back({{"message", fault.message}, {"path", fault.path}, {"hint", fault.hint}});
  return list;
}

}  // namespace

void check_job(std::string_view document, Diagnostics& diagnostics) {
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
  const protocol::TrainerSpec spec = protocol::parse_trainer(*trainer, "trainer", "", diagnostics);
  if (!diagnostics.ok()) return;
  const std::string objective = objective_metric_of(*job);
  if (const auto* command = std::get_if<protocol::CommandSpec>(&spec)) check_command(*command, objective, diagnostics);
  if (const auto* xgboost = std::get_if<protocol::XgboostSpec>(&spec)) {
    check_files(xgboost->data, diagnostics);
    if (diagnostics.ok()) check_data(*xgboost, *job, diagnostics);
  }
  const bool probed = trainer->contains("preflight") && (*trainer)["preflight"] == protocol::kPreflightLocal;
  if (probed && diagnostics.ok() && !objective.empty()) probe_trial(*job, diagnostics);
}

std::string diagnostics_json(const Diagnostics& diagnostics) {
  const Json json{{"errors", faults_json(diagnostics.errors())}, {"warnings", faults_json(diagnostics.warnings())}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tuneband::workers

#include "workers/job_check.hpp"

#include <cstdlib>
#include <filesystem>
#include <variant>

#include "core/json.hpp"
#include "workers/command_line.hpp"
#include "workers/data_check.hpp"
#include "workers/metric_parser.hpp"
#include "workers/process.hpp"
#include "workers/protocol/trainer_spec.hpp"
#include "workers/trial_probe.hpp"

namespace tuneband::workers {

namespace {

// The program itself; not its other arguments, which may name what only a trial makes.
void check_program(const protocol::CommandSpec& spec, Diagnostics& diagnostics) {
  if (spec.argv.empty()) return;
  const std::string& program = spec.argv.front();
  if (program.find('{') != std::string::npos) return;  // differs from trial to trial
  if (!spec.working_dir.empty() && !std::filesystem::is_directory(spec.working_dir)) {
    diagnostics.error("trainer.working_dir", "the directory " + spec.working_dir + " is not there");
    return;
  }
  const bool of_trial_dir = spec.working_dir.empty() && program.find('/') != std::string::npos && !program.starts_with('/');
  if (of_trial_dir) {
    diagnostics.error("trainer.argv[0]",
                      "the command `" + program + "` is relative to the trial's own directory, where nothing is yet",
                      "give an absolute path, or set trainer.working_dir");
    return;
  }
  const auto found = find_executable(program, environment_value(command_environment({}, spec), "PATH"), spec.working_dir);
  if (!found) diagnostics.error("trainer.argv[0]", found.error().message);
}

void check_command(const protocol::CommandSpec& spec, const std::string& objective, Diagnostics& diagnostics) {
  check_program(spec, diagnostics);
  const auto parser = MetricParser::create(spec, objective);
  if (!parser) diagnostics.error(parser.error().path, parser.error().message, parser.error().hint);
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
  if (const auto* xgboost = std::get_if<protocol::XgboostSpec>(&spec)) check_data(*xgboost, *job, diagnostics);
  const bool probed = trainer->contains("preflight") && (*trainer)["preflight"] == protocol::kPreflightLocal;
  if (probed && diagnostics.ok() && !objective.empty()) probe_trial(*job, diagnostics);
}

std::string diagnostics_json(const Diagnostics& diagnostics) {
  const Json json{{"errors", faults_json(diagnostics.errors())}, {"warnings", faults_json(diagnostics.warnings())}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tuneband::workers

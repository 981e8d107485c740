// The program's commands: their words, options and checks. What they do is in cli/commands.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/client/embedded_server.hpp"
#include "cli/commands/commands.hpp"
#include "command_line/checks.hpp"
#include "core/shell_word.hpp"
#include "scheduler/job_spec.hpp"

namespace tuneband::cli {

struct Arguments {
  std::string server = "http://127.0.0.1:7070";
  std::string token_file;  // "": the environment may have the server's token
  std::string server_program;
  std::string data_dir;  // of a kept run, to look at without its server; "": the server is asked
  bool json = false;
  bool plot = false;
  std::string job;                // id or name
  std::vector<std::string> jobs;  // of `compare`
  int trial = 0;
  SubmitOptions submit;
  ListOptions list;
  ChangeOptions change;
  TrialsOptions trials;
  LogsOptions logs;
  TensorsOptions tensors;
  std::optional<int> one_trial;  // nothing: all, or the job
  CheckOptions check;
  CheckFileOptions check_file;
  ExportOptions exported;
  ReportOptions report;
  PlanOptions plan;
  PredictOptions predict;
  EnsembleOptions ensemble;
  SimulateOptions simulate;
  RunOptions run;
  DoctorOptions doctor;
  BackupOptions backup;
  std::string shell;
};

inline constexpr const char* kRefitHelp = "Train each of the models that are joined once more, on the validation rows too";

using Command = std::function<Finished(Console&)>;

// A command that talks to the server of --server.
template <class Function>
Command with_running_server(const Arguments& arguments, Function function) {
  return [&arguments, function](Console& console) -> Finished {
    if (!arguments.data_dir.empty()) {
      return bad_input("is for looking only, and this command needs a server that runs", "--data-dir",
                       "where one runs on it, leave this out and name that by --server, with the address in " +
                           shell_word(arguments.data_dir + "/server.json") + "; else start one: tuneband-server --data-dir " +
                           shell_word(arguments.data_dir));
    }
    const auto token = token_to_show(arguments.token_file);
    if (!token) return token.error();
    auto api = ApiClient::create(arguments.server, *token);
    if (!api) return api.error();
    return function(Session{*api, console});
  };
}

// A command that only reads: with --data-dir, from a private server that changes nothing there.
template <class Function>
Command with_server(const Arguments& arguments, Function function) {
  return [&arguments, function](Console& console) -> Finished {
    if (arguments.data_dir.empty()) return with_running_server(arguments, function)(console);
    const auto server = EmbeddedServer::start({arguments.server_program, arguments.data_dir, std::nullopt, /*read_only=*/true});
    if (!server) return server.error();
    auto api = ApiClient::create((*server)->url());
    if (!api) return api.error();
    console.name_commands_with(arguments.data_dir);
    return function(Session{*api, console});
  };
}

// A command whose output is none that --json could change: it is refused rather than passed over.
Command without_json(const std::string& output, Command command);

// The one that the command line names becomes `chosen`.
CLI::App* add_command(CLI::App& app, Command& chosen, const std::string& name, const std::string& about, Command command);

void add_job(CLI::App* command, std::string& job);
void add_trial(CLI::App* command, int& trial);
// It may be left out.
void add_one_trial(CLI::App* command, Arguments& arguments, const std::string& otherwise);
// Of a command that reads a job's document.
CLI::Option* add_changes(CLI::App* command, std::vector<std::string>& changes);

void add_job_commands(CLI::App& app, Command& chosen, Arguments& arguments);
void add_trial_commands(CLI::App& app, Command& chosen, Arguments& arguments);
void add_debugger_commands(CLI::App& app, Command& chosen, Arguments& arguments);
void add_dashboard_commands(CLI::App& app, Command& chosen, Arguments& arguments);
void add_planning_commands(CLI::App& app, Command& chosen, Arguments& arguments);
void add_model_commands(CLI::App& app, Command& chosen, Arguments& arguments);
void add_upkeep_commands(CLI::App& app, Command& chosen, Arguments& arguments);
void add_completion(CLI::App& app, Command& chosen, Arguments& arguments);

}  // namespace tuneband::cli

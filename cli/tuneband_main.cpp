// The command line: reads the arguments, calls the command, reports its failure.
#include <boost/system/system_error.hpp>
#include <iostream>
#include <system_error>
#include <utility>

#include "cli/program/program.hpp"
#include "command_line/fault.hpp"
#include "command_line/help_layout.hpp"
#include "os/child_process.hpp"
#include "os/fault_text.hpp"

namespace cli = tuneband::cli;

namespace {

// The commands with a --data-dir of their own take one that stands before them, too.
void give_data_dir(const CLI::App& app, cli::Arguments& arguments) {
  if (arguments.data_dir.empty()) return;
  for (const auto& [name, own] : {std::pair{"run", &arguments.run.data_dir},
                                  {"backup", &arguments.backup.data_dir},
                                  {"doctor", &arguments.doctor.data_dir}}) {
    if (app.get_subcommand(name)->count("--data-dir") == 0) *own = arguments.data_dir;
  }
}

// What the system refuses where nobody looks for it (a file handle, a thread) ends the command with a sentence.
cli::Finished run(const cli::Command& command, cli::Console& console) {
  try {
    return command(console);
  } catch (const std::system_error& failure) {
    return cli::bad_input(tuneband::os::fault_text(failure));
  } catch (const boost::system::system_error& failure) {
    return cli::bad_input(tuneband::os::fault_text(failure));
  } catch (const tuneband::Json::exception& failure) {
    return cli::Failure{{{tuneband::ErrorCode::internal, std::string("an answer cannot be read: ") + failure.what(), "",
                          "is it a tuneband-server, and as new as this program?"}},
                        cli::kExitFailed};
  }
}

}  // namespace

int main(int argument_count, char** argument_values) {
  cli::Arguments arguments;
  arguments.server_program = tuneband::os::program_beside_this_one("tuneband-server");
  arguments.run.server_program = arguments.server_program;
  arguments.predict.worker_program = tuneband::os::program_beside_this_one("tuneband-worker");
  cli::Command chosen;

  CLI::App app("Hyperparameter tuning that stops weak trials early.", "tuneband");
  app.formatter(tuneband::command_line::help_layout());
  app.set_version_flag("--version", "tuneband " TUNEBAND_VERSION);
  app.add_option("--server", arguments.server, "The server's address")
      ->envname("TUNEBAND_SERVER")
      ->capture_default_str()
      ->type_name("URL");
  app.add_option("--token-file", arguments.token_file,
                 "A file with the server's token, where it has one; without it, TUNEBAND_TOKEN may have the token itself")
      ->check(tuneband::command_line::not_empty())
      ->type_name("FILE");
  app.add_option("--data-dir", arguments.data_dir,
                 "Look at a data directory instead, without its server and without a change to it; for what only reads, as list, "
                 "describe, compare, export, predict and their like")
      ->check(tuneband::command_line::not_empty())
      ->type_name("DIR");
  app.add_flag("--json", arguments.json, "Print JSON");
  app.fallthrough();
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 done (with --wait and run: the job completed), 1 the job failed or was stopped, 2 bad input, "
      "3 no server, 130 interrupted.");
  cli::add_job_commands(app, chosen, arguments);
  cli::add_trial_commands(app, chosen, arguments);
  cli::add_debugger_commands(app, chosen, arguments);
  cli::add_dashboard_commands(app, chosen, arguments);
  cli::add_planning_commands(app, chosen, arguments);
  cli::add_model_commands(app, chosen, arguments);
  cli::add_upkeep_commands(app, chosen, arguments);
  cli::add_completion(app, chosen, arguments);
  try {
    app.parse(argument_count, argument_values);
  } catch (const CLI::Success& success) {
    return app.exit(success);  // --help, --version
  } catch (const CLI::ParseError& error) {
    cli::Console(cli::detect_terminal(), std::cout, std::cerr, false).note(tuneband::command_line::fault_of(app, error));
    return cli::kExitBadInput;
  }

  give_data_dir(app, arguments);
  cli::Console console(cli::detect_terminal(), std::cout, std::cerr, arguments.json);
  const cli::Finished finished = run(chosen, console);
  if (!std::cout.flush()) {
    console.note("the output could not be written: is the disk full?");
    return cli::kExitBadInput;
  }
  if (finished) return *finished;
  console.report(finished.error());
  return finished.error().exit_status;
}

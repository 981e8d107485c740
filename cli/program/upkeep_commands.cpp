// Backup, a check of the installation, and what completes the commands in a shell.
#include "cli/program/program.hpp"
#include "command_line/completion.hpp"

namespace tuneband::cli {

void add_upkeep_commands(CLI::App& app, Command& chosen, Arguments& arguments) {
  auto* backup = add_command(app, chosen, "backup", "Copy a data directory to a new one, also while its server runs",
                             [&](Console& console) { return back_up(console, arguments.backup); });
  backup->add_option("DIR", arguments.backup.destination, "The new directory")->required()->check(command_line::not_empty());
  backup->add_option("--data-dir", arguments.backup.data_dir, "What to copy")
      ->capture_default_str()
      ->check(command_line::not_empty())
      ->type_name("DIR");

  auto* doctor = add_command(app, chosen, "doctor", "Check this installation, and say what is wrong with it",
                             [&](Console& console) -> Finished {
                               const auto token = token_to_show(arguments.token_file);
                               if (!token) return token.error();
                               arguments.doctor.token = *token;
                               arguments.doctor.server = arguments.server;
                               return run_doctor(console, arguments.doctor);
                             });
  doctor->add_option("--data-dir", arguments.doctor.data_dir, "Where the server is to keep its data")
      ->capture_default_str()
      ->check(command_line::not_empty())
      ->type_name("DIR");
  doctor->add_option("--workers", arguments.doctor.workers, "Workers to reckon with; default: one a core")
      ->check(command_line::whole_number_between(1, command_line::kWorkersMax))
      ->type_name("N");
  doctor->add_option("--worker-threads", arguments.doctor.worker_threads, "Threads of each")
      ->capture_default_str()
      ->check(command_line::whole_number_between(1, command_line::kWorkersMax))
      ->type_name("N");
}

void add_completion(CLI::App& app, Command& chosen, Arguments& arguments) {
  const auto print = [&](Console& console) -> Finished {
    const command_line::JobNames jobs{{"--server", "--token-file", "--data-dir"},
                                      "list --limit 100 2>/dev/null | tail -n +2 | cut -f2"};
    using command_line::Shell;
    const Shell shell = arguments.shell == "bash" ? Shell::bash : arguments.shell == "zsh" ? Shell::zsh : Shell::fish;
    console.pass_on(command_line::completion(app, shell, jobs));
    return kExitOk;
  };
  auto* completion = add_command(app, chosen, "completion", "Print what lets a shell complete these commands (docs/server.md)",
                                 without_json("words of a shell", print));
  completion->add_option("SHELL", arguments.shell, "The shell")
      ->required()
      ->check(command_line::one_of_words({"bash", "zsh", "fish"}));
}

}  // namespace tuneband::cli

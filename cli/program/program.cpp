#include "cli/program/program.hpp"

namespace tuneband::cli {

CLI::App* add_command(CLI::App& app, Command& chosen, const std::string& name, const std::string& about, Command command) {
  CLI::App* sub = app.add_subcommand(name, about);
  sub->callback([&chosen, command = std::move(command)] { chosen = command; });
  return sub;
}

Command without_json(const std::string& output, Command command) {
  return [output, command = std::move(command)](Console& console) -> Finished {
    if (console.json()) return bad_input("is not for this command, which prints " + output, "--json", "leave it out");
    return command(console);
  };
}

void add_job(CLI::App* command, std::string& job) {
  command->add_option("JOB", job, "The job's name or number")->required()->check(command_line::not_empty());
}

void add_trial(CLI::App* command, int& trial) {
  command->add_option("TRIAL", trial, "The trial's number")->required()->check(command_line::whole_number_between(0, kTrialsMax));
}

void add_one_trial(CLI::App* command, Arguments& arguments, const std::string& otherwise) {
  command->add_option("TRIAL", arguments.one_trial, "The trial's number; default: " + otherwise)
      ->check(command_line::whole_number_between(0, kTrialsMax));
}

CLI::Option* add_changes(CLI::App* command, std::vector<std::string>& changes) {
  return command->add_option("--set", changes, "Another value in the document (null removes it); may be repeated")
      ->allow_extra_args(false)  // what stands behind it is the document
      ->type_name("PATH=VALUE");
}

}  // namespace tuneband::cli

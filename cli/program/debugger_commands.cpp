// What the debugger saved of a trial and found in it, and what is checked of a document or a trial.
#include "cli/program/program.hpp"

namespace tuneband::cli {

namespace {

// Of a document, or of a trial.
void add_check(CLI::App& app, Command& chosen, Arguments& arguments) {
  const auto of_trial = with_server(arguments, [&](Session session) {
    arguments.check.job = arguments.job;
    arguments.check.trial = arguments.trial;
    return check_trial(session, arguments.check);
  });
  auto* check = app.add_subcommand(
      "check",
      "A job's document before it is submitted, or rules over what was saved of a trial; exit status 1 when it finds something");
  check->add_option("JOB", arguments.job, "The job's JSON document; with TRIAL the job's name or number")
      ->required()
      ->type_name("JOB.json");
  auto* trial =
      check->add_option("TRIAL", arguments.trial, "The trial's number")->check(command_line::whole_number_between(0, kTrialsMax));
  auto* rules = check
                    ->add_option("--rule", arguments.check.rules,
                                 "A rule and its parameters, or a rule as a job has it (JSON); may be repeated")
                    ->needs(trial)
                    ->type_name("TYPE[,PARAMETER=VALUE...]");
  check->add_option("--rank", arguments.check.rank, "Of a distributed trial")
      ->check(command_line::whole_number_between(0, kRankMax))
      ->needs(trial)
      ->type_name("N");
  trial->needs(rules);
  add_changes(check, arguments.check_file.changes)->excludes(trial);
  check
      ->add_option("--seconds-per-unit", arguments.check_file.seconds_per_unit,
                   "Of a document: seconds that one unit of resource takes")
      ->check(command_line::number_between(1e-9, 1e9))
      ->excludes(trial)
      ->type_name("S");
  auto* measure = check->add_flag("--measure", arguments.check_file.measure,
                                  "Of a document: train a little, on one rank and on more, by a private server here");
  measure->excludes(trial);
  check->add_option("--measure-seconds", arguments.check_file.measure_seconds, "About, of each training that is measured")
      ->check(command_line::number_between(0.01, 3600))
      ->needs(measure)
      ->capture_default_str()
      ->type_name("S");
  check->callback([&chosen, &arguments, of_trial, trial] {
    if (trial->count() > 0) {
      chosen = of_trial;
      return;
    }
    chosen = [&arguments](Console& console) -> Finished {
      const auto token = token_to_show(arguments.token_file);
      if (!token) return token.error();
      arguments.check_file.token = *token;
      arguments.check_file.job_file = arguments.job;
      arguments.check_file.server = arguments.server;
      arguments.check_file.server_program = arguments.server_program;
      arguments.check_file.may_be_private = arguments.server == Arguments{}.server;
      return check_file(console, arguments.check_file);
    };
  });
}

}  // namespace

void add_debugger_commands(CLI::App& app, Command& chosen, Arguments& arguments) {
  auto* tensors = add_command(app, chosen, "tensors", "What the debugger saved of a trial: names, or one of them over its steps",
                              with_server(arguments, [&](Session session) { return show_tensors(session, arguments.tensors); }));
  add_job(tensors, arguments.tensors.job);
  add_trial(tensors, arguments.tensors.trial);
  tensors->add_option("NAME", arguments.tensors.name, "A tensor, as the list has it");
  tensors->add_option("--mode", arguments.tensors.mode, "Of this mode alone; none: that have none")
      ->check(command_line::one_of_words({"none", "train", "validation", "predict"}))
      ->type_name("MODE");
  tensors->add_option("--step", arguments.tensors.step, "All that is known of it at this step")
      ->check(command_line::whole_number_between(0, kStepMax))
      ->type_name("N");
  tensors->add_option("--reduction", arguments.tensors.reduction, "Of arrays; default: mean")->type_name("NAME");
  tensors->add_option("--beside", arguments.tensors.beside, "Another trial of the job, to compare with")
      ->check(command_line::whole_number_between(0, kTrialsMax))
      ->type_name("TRIAL");
  tensors->add_option("--rank", arguments.tensors.rank, "Of a distributed trial")
      ->check(command_line::whole_number_between(0, kRankMax))
      ->type_name("N");
  tensors->add_option("-o,--output", arguments.tensors.output, "Write the array at --step to this .npy file")->type_name("FILE");

  auto* findings = add_command(
      app, chosen, "findings", "What the rules found in a job or in one trial",
      with_server(arguments, [&](Session session) { return show_findings(session, arguments.job, arguments.one_trial); }));
  add_job(findings, arguments.job);
  add_one_trial(findings, arguments, "all");

  auto* rules = add_command(
      app, chosen, "rules", "How each rule of the debugger stands in a job or in one trial",
      with_server(arguments, [&](Session session) { return show_rules(session, arguments.job, arguments.one_trial); }));
  add_job(rules, arguments.job);
  add_one_trial(rules, arguments, "all together");

  add_check(app, chosen, arguments);
}

}  // namespace tuneband::cli

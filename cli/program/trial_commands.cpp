// What shows the trials of a job, and writes them down.
#include "cli/program/program.hpp"

namespace tuneband::cli {

void add_trial_commands(CLI::App& app, Command& chosen, Arguments& arguments) {
  auto* trials = add_command(app, chosen, "trials", "The trials of a job",
                             with_server(arguments, [&](Session session) { return list_trials(session, arguments.trials); }));
  add_job(trials, arguments.trials.job);
  trials->add_option("--state", arguments.trials.state, "Only those in these states, separated by commas")->type_name("STATES");
  trials->add_option("--sort", arguments.trials.sort, "By number, or the best objective first")
      ->check(command_line::one_of_words({"number", "objective"}))
      ->capture_default_str();
  trials->add_option("--limit", arguments.trials.limit, "At most so many; 0: all")
      ->check(command_line::whole_number_between(0, kTrialsMax))
      ->type_name("N");

  auto* explain = add_command(
      app, chosen, "explain", "Why a trial was promoted or stopped at each rung",
      with_server(arguments, [&](Session session) { return explain_trial(session, arguments.job, arguments.trial); }));
  add_job(explain, arguments.job);
  add_trial(explain, arguments.trial);

  const auto show = with_server(arguments, [&](Session session) {
    if (arguments.logs.follow && !arguments.data_dir.empty()) {
      return Finished(bad_input("is for logs of a server that runs", "--follow", "leave it out with --data-dir"));
    }
    return show_log(session, arguments.logs);
  });
  auto* logs = add_command(app, chosen, "logs", "What a trial printed", without_json("a log as it is", show));
  add_job(logs, arguments.logs.job);
  add_trial(logs, arguments.logs.trial);
  logs->add_flag("-f,--follow", arguments.logs.follow, "Go on until the trial ends");
  logs->add_option("--rank", arguments.logs.rank, "Of a distributed trial what this worker of it printed; default: the first, 0")
      ->check(command_line::whole_number_between(0, kRankMax))
      ->type_name("RANK");

  auto* exported = add_command(
      app, chosen, "export", "A row a trial, for a spreadsheet or a program", with_server(arguments, [&](Session session) {
        if (arguments.json && (arguments.exported.csv || arguments.exported.curves)) {
          return Finished(bad_input("asks for JSON, and --csv and --curves for CSV", "--json", "leave one of them out"));
        }
        arguments.exported.csv = !arguments.json;
        return export_job(session, arguments.exported);
      }));
  add_job(exported, arguments.exported.job);
  exported->add_flag("--csv", arguments.exported.csv, "CSV; this is the default");
  exported->add_flag("--curves", arguments.exported.curves, "The trials' learning curves as a table for `tuneband simulate`");
  exported->add_option("-o,--output", arguments.exported.output, "Write this file instead of standard output")->type_name("FILE");
}

}  // namespace tuneband::cli

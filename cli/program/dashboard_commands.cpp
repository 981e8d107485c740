// The dashboard, and pages for those who have none.
#include "cli/program/program.hpp"

namespace tuneband::cli {

void add_dashboard_commands(CLI::App& app, Command& chosen, Arguments& arguments) {
  auto* open = add_command(app, chosen, "open", "The dashboard's address, of a job's page; in a browser where there is a screen",
                           with_running_server(arguments, [&](Session s) { return open_dashboard(s, arguments.job); }));
  open->add_option("JOB", arguments.job, "The job's name or number; default: all jobs");

  auto* report = add_command(app, chosen, "report", "A page with everything about a job in it, to send or to keep",
                             with_server(arguments, [&](Session session) {
                               return arguments.report.trial ? write_trial_report(session, arguments.report)
                                                             : write_report(session, arguments.report);
                             }));
  add_job(report, arguments.report.job);
  report->add_option("--trial", arguments.report.trial, "Of this trial alone: what the debugger saved of it, as plots")
      ->check(command_line::whole_number_between(0, kTrialsMax))
      ->type_name("TRIAL");
  report->add_option("-o,--output", arguments.report.output, "Write this file; default: JOB.html")->type_name("FILE");
}

}  // namespace tuneband::cli

// What needs no server, or brings its own: plan, run, simulate; and the workers there are.
#include "cli/program/program.hpp"
#include "simulator/comparison.hpp"

namespace tuneband::cli {

namespace {

void add_simulate(CLI::App& app, Command& chosen, Arguments& arguments) {
  SimulateOptions& options = arguments.simulate;
  auto* simulate = add_command(app, chosen, "simulate",
                               "What a job would have found on recorded learning curves, within seconds; needs no server",
                               [&](Console& console) { return simulate_job(console, options); });
  simulate->add_option("--table", options.table, "Learning curves: a CSV file, may be gzip (docs/search.md; export --curves)")
      ->required()
      ->type_name("FILE");
  simulate->add_option("--configs", options.configurations, "The table's configurations, when in a file of their own")
      ->type_name("FILE");
  simulate->add_option("--job", options.job_file, "The job's document; what the table knows may be left out")
      ->required()
      ->type_name("JOB.json");
  add_changes(simulate, options.changes);
  simulate
      ->add_option("--scheduler", options.schedulers, "Instead of the job's: asha_delayed or hyperband,eta=4; may be repeated")
      ->type_name("TYPE[,FIELD=VALUE...]");
  simulate->add_option("--sampler", options.samplers, "Instead of the job's; may be repeated")
      ->type_name("TYPE[,FIELD=VALUE...]");
  simulate->add_option("--workers", options.workers, "Simulated workers")
      ->check(command_line::whole_number_between(1, command_line::kWorkersMax))
      ->capture_default_str();
  simulate->add_option("--seeds", options.seeds, "Runs of each, with different seeds")
      ->check(command_line::whole_number_between(1, kSeedsMax))
      ->capture_default_str()
      ->type_name("N");
  simulate->add_option("--budget", options.budgets, "Resource at which to look, in units of max_resource; may be repeated")
      ->check(command_line::number_between(0.01, 1e6))
      ->type_name("B");
  simulate->add_flag("--in-order", options.in_order,
                     "The table's configurations from first to last: a job again, under other rules");
  simulate->add_option("--csv", options.csv, "Write every run's regret to this file")->type_name("FILE");
  simulate->add_option("--plot", options.plot, "Write a chart to this SVG file")->type_name("FILE");
}

}  // namespace

void add_planning_commands(CLI::App& app, Command& chosen, Arguments& arguments) {
  auto* plan = add_command(app, chosen, "plan", "Brackets, rungs, trials and cost of a job before it runs; needs no server",
                           [&](Console& console) { return show_plan(console, arguments.plan); });
  plan->add_option("FILE", arguments.plan.job_file, "The job's JSON document")->required()->type_name("JOB.json");
  add_changes(plan, arguments.plan.changes);
  plan->add_option("--workers", arguments.plan.workers, "Workers to reckon with; default: one a core")
      ->check(command_line::whole_number_between(1, command_line::kWorkersMax))
      ->type_name("N");
  plan->add_option("--seconds-per-unit", arguments.plan.seconds_per_unit, "Seconds that one unit of resource takes")
      ->check(command_line::number_between(1e-9, 1e9))
      ->type_name("S");

  add_command(app, chosen, "workers", "The server's workers and what they do",
              with_running_server(arguments, [](Session session) { return list_workers(session); }));

  auto* run = add_command(app, chosen, "run",
                          "Run one job from start to end with a private server; Ctrl-C ends it and keeps what it found",
                          [&](Console& console) { return run_job(console, arguments.run); });
  run->add_option("FILE", arguments.run.job_file, "The job's JSON document")->required()->type_name("JOB.json");
  add_changes(run, arguments.run.changes);
  run->add_option("--workers", arguments.run.workers, "Local workers; default: one a core, and enough for the job's replicas")
      ->check(command_line::whole_number_between(1, command_line::kWorkersMax))
      ->type_name("N");
  run->add_option(
         "--data-dir", arguments.run.data_dir,
         "Where jobs, logs and models are kept. A run that was cut short, also by Ctrl-C, goes on when the same command is given "
         "again, as long as its max_runtime_seconds is not over. Default: a new directory below ./tuneband-runs, and Ctrl-C "
         "stops the job for good")
      ->check(command_line::not_empty())
      ->type_name("DIR");
  run->add_flag("--keep", arguments.run.keep, "Keep the server up after the job's end, until Ctrl-C");
  auto* refit = run->add_flag("--refit", arguments.run.refit, kRefitHelp);
  run->add_flag_callback(
         "--no-ensemble", [&arguments] { arguments.run.ensemble = false; },
         "Do not join the models of the best trials into one at the job's end")
      ->excludes(refit);
  run->add_option("--allow-webhook", arguments.run.allowed_webhooks,
                  "A host that findings of the debugger may be told to; without it, none is called")
      ->type_name("HOST[:PORT]");

  add_simulate(app, chosen, arguments);
}

}  // namespace tuneband::cli

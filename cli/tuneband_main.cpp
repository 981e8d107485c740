// The command line: reads the arguments, calls the command, reports its failure.
#include <CLI/CLI.hpp>
#include <functional>
#include <iostream>

#include "cli/client/embedded_server.hpp"
#include "cli/commands/commands.hpp"
#include "command_line/checks.hpp"
#include "command_line/completion.hpp"
#include "command_line/fault.hpp"
#include "command_line/help_layout.hpp"
#include "os/child_process.hpp"
#include "scheduler/job_spec.hpp"
#include "simulator/comparison.hpp"

namespace {

using tuneband::kTrialsMax;
using tuneband::cli::ApiClient;
using tuneband::cli::Console;
using tuneband::cli::Finished;
using tuneband::cli::Session;
using tuneband::command_line::kWorkersMax;
using tuneband::command_line::number_between;
using tuneband::command_line::one_of_words;
using tuneband::command_line::whole_number_between;

struct Arguments {
  std::string server = "http://127.0.0.1:7070";
  std::string server_program;
  std::string data_dir;  // of a kept run, to look at without its server; "": the server is asked
  bool json = false;
  bool plot = false;
  std::string job;                // id or name
  std::vector<std::string> jobs;  // of `compare`
  int trial = 0;
  tuneband::cli::SubmitOptions submit;
  tuneband::cli::ListOptions list;
  tuneband::cli::ChangeOptions change;
  tuneband::cli::TrialsOptions trials;
  tuneband::cli::LogsOptions logs;
  tuneband::cli::TensorsOptions tensors;
  std::optional<int> one_trial;  // nothing: all, or the job
  tuneband::cli::CheckOptions check;
  tuneband::cli::CheckFileOptions check_file;
  tuneband::cli::ExportOptions exported;
  tuneband::cli::ReportOptions report;
  tuneband::cli::PlanOptions plan;
  tuneband::cli::PredictOptions predict;
  tuneband::cli::SimulateOptions simulate;
  tuneband::cli::RunOptions run;
  tuneband::cli::DoctorOptions doctor;
  tuneband::cli::BackupOptions backup;
  std::string shell;
};

using Command = std::function<Finished(Console&)>;

// A command that talks to the server of --server.
template <class Function>
Command with_running_server(const Arguments& arguments, Function function) {
  return [&arguments, function](Console& console) -> Finished {
    if (!arguments.data_dir.empty()) {
      return tuneband::cli::bad_input("is for looking only, and this command needs a server that runs", "--data-dir",
                                      "start one: tuneband-server --data-dir " + arguments.data_dir);
    }
    auto api = ApiClient::create(arguments.server);
    if (!api) return api.error();
    return function(Session{*api, console});
  };
}

// A command that only reads: with --data-dir, from a private server that changes nothing there.
template <class Function>
Command with_server(const Arguments& arguments, Function function) {
  return [&arguments, function](Console& console) -> Finished {
    if (arguments.data_dir.empty()) return with_running_server(arguments, function)(console);
    const auto server =
        tuneband::cli::EmbeddedServer::start({arguments.server_program, arguments.data_dir, std::nullopt, /*read_only=*/true});
    if (!server) return server.error();
    auto api = ApiClient::create((*server)->url());
    if (!api) return api.error();
    console.name_commands_with(arguments.data_dir);
    return function(Session{*api, console});
  };
}

CLI::App* add_command(CLI::App& app, Command& chosen, const std::string& name, const std::string& about, Command command) {
  CLI::App* sub = app.add_subcommand(name, about);
  sub->callback([&chosen, command = std::move(command)] { chosen = command; });
  return sub;
}

void add_job(CLI::App* command, Arguments& arguments) {
  command->add_option("JOB", arguments.job, "The job's name or number")->required();
}

void add_trial(CLI::App* command, Arguments& arguments) {
  command->add_option("TRIAL", arguments.trial, "The trial's number")->required()->check(whole_number_between(0, kTrialsMax));
}

// It may be left out.
void add_one_trial(CLI::App* command, Arguments& arguments, const std::string& otherwise) {
  command->add_option("TRIAL", arguments.one_trial, "The trial's number; default: " + otherwise)
      ->check(whole_number_between(0, kTrialsMax));
}

// Of a command that reads a job's document.
CLI::Option* add_changes(CLI::App* command, std::vector<std::string>& changes) {
  return command->add_option("--set", changes, "Another value in the document (null removes it); may be repeated")
      ->allow_extra_args(false)  // what stands behind it is the document
      ->type_name("PATH=VALUE");
}

void add_change(CLI::App& app, Command& chosen, Arguments& arguments) {
  tuneband::cli::ChangeOptions& options = arguments.change;
  auto* change = add_command(app, chosen, "change", "Change the share or the limits of a job that runs",
                             with_running_server(arguments, [&](Session session) {
                               options.job = arguments.job;
                               return tuneband::cli::change_job(session, options);
                             }));
  add_job(change, arguments);
  change->add_option("--weight", options.weight, "Its share of the workers' time against other jobs")
      ->check(number_between(tuneband::kWeightMin, tuneband::kWeightMax))
      ->type_name("W");
  change
      ->add_option("--max-parallel-trials", options.max_parallel_trials,
                   "So many trials at once; those above it come to their rung")
      ->check(whole_number_between(1, tuneband::kParallelTrialsMax))
      ->type_name("N");
  change->add_option("--max-runtime-seconds", options.max_runtime_seconds, "It ends so long after its submission")
      ->check(number_between(0.001, tuneband::kRuntimeSecondsMax))
      ->type_name("S");
  change->add_flag("--no-more-trials", options.no_more_trials, "Start no more trials; those there are go on");
  change->parse_complete_callback([&options] {
    const bool some = options.weight || options.max_parallel_trials || options.max_runtime_seconds || options.no_more_trials;
    if (!some) throw CLI::RequiredError("What to change");
  });
}

void add_job_commands(CLI::App& app, Command& chosen, Arguments& arguments) {
  auto* submit = add_command(
      app, chosen, "submit", "Start a job from its document",
      with_running_server(arguments, [&](Session session) { return tuneband::cli::submit(session, arguments.submit); }));
  auto* file = submit->add_option("FILE", arguments.submit.job_file, "The job's JSON document")->type_name("JOB.json");
  auto* like =
      submit->add_option("--like", arguments.submit.like, "The document of this job instead")->type_name("JOB")->excludes(file);
  submit->add_option("--name", arguments.submit.name, "With --like, the new job's name; default: that job's and a number")
      ->needs(like)
      ->type_name("NAME");
  submit
      ->add_option("--max-trials", arguments.submit.max_trials,
                   "With --like, so many trials; +N: N further ones, which begin with what that job saw")
      ->needs(like)
      ->type_name("[+]N");
  add_changes(submit, arguments.submit.changes);
  submit->parse_complete_callback([file, like] {
    if (file->count() + like->count() == 0) throw CLI::RequiredError("FILE or --like");
  });
  submit->add_flag("-w,--wait", arguments.submit.wait, "Show its progress until it ends; exit status 0 when it completed");

  auto* list =
      add_command(app, chosen, "list", "Jobs, newest first",
                  with_server(arguments, [&](Session session) { return tuneband::cli::list_jobs(session, arguments.list); }));
  list->add_option("--state", arguments.list.state, "Only those in this state")
      ->check(one_of_words({"running", "stopping", "completed", "stopped", "failed"}));
  list->add_option("--limit", arguments.list.limit, "At most so many; 0: all")
      ->check(whole_number_between(0, kTrialsMax))
      ->type_name("N");

  auto* describe = add_command(
      app, chosen, "describe", "A job: its best trial, its state, plan against actual, what was saved, failures",
      with_server(arguments, [&](Session s) { return tuneband::cli::describe_job(s, arguments.job, arguments.plot); }));
  describe->add_flag("--plot", arguments.plot, "And the best so far over time and resource, and the best trial's learning curve");
  add_job(describe, arguments);
  add_job(add_command(app, chosen, "watch", "A job's progress until it ends; Ctrl-C leaves the job alone",
                      with_running_server(arguments, [&](Session s) { return tuneband::cli::watch(s, arguments.job); })),
          arguments);
  add_job(add_command(app, chosen, "best", "The best trial: value, parameters, model file",
                      with_server(arguments, [&](Session s) { return tuneband::cli::show_best(s, arguments.job); })),
          arguments);
  add_job(add_command(app, chosen, "importance", "Which parameters matter, and where they are best",
                      with_server(arguments, [&](Session s) { return tuneband::cli::show_importance(s, arguments.job); })),
          arguments);
  add_command(app, chosen, "compare", "What several jobs found, at what cost, and where their documents differ",
              with_server(arguments, [&](Session s) { return tuneband::cli::compare_jobs(s, arguments.jobs); }))
      ->add_option("JOB", arguments.jobs, "The jobs' names or numbers")
      ->required()
      ->expected(2, tuneband::cli::kComparedMax);
  add_change(app, chosen, arguments);
  add_job(
      add_command(app, chosen, "hold", "Run nothing of a job until it is released; what runs is given back, with its checkpoint",
                  with_running_server(arguments, [&](Session s) { return tuneband::cli::hold_job(s, arguments.job, true); })),
      arguments);
  add_job(
      add_command(app, chosen, "release", "Go on with a job that is held",
                  with_running_server(arguments, [&](Session s) { return tuneband::cli::hold_job(s, arguments.job, false); })),
      arguments);
  auto* stop = add_command(app, chosen, "stop", "Stop a job, or one of its trials; what it found is kept",
                           with_running_server(arguments, [&](Session session) {
                             return arguments.one_trial ? tuneband::cli::stop_trial(session, arguments.job, *arguments.one_trial)
                                                        : tuneband::cli::stop_job(session, arguments.job);
                           }));
  add_job(stop, arguments);
  add_one_trial(stop, arguments, "the whole job");
  add_job(add_command(app, chosen, "delete", "Delete a job that has ended, with its logs and models",
                      with_running_server(arguments, [&](Session s) { return tuneband::cli::delete_job(s, arguments.job); })),
          arguments);
}

void add_trial_commands(CLI::App& app, Command& chosen, Arguments& arguments) {
  auto* trials = add_command(app, chosen, "trials", "The trials of a job", with_server(arguments, [&](Session session) {
                               arguments.trials.job = arguments.job;
                               return tuneband::cli::list_trials(session, arguments.trials);
                             }));
  add_job(trials, arguments);
  trials->add_option("--state", arguments.trials.state, "Only those in these states, separated by commas")->type_name("STATES");
  trials->add_option("--sort", arguments.trials.sort, "By number, or the best objective first")
      ->check(one_of_words({"number", "objective"}))
      ->capture_default_str();
  trials->add_option("--limit", arguments.trials.limit, "At most so many; 0: all")
      ->check(whole_number_between(0, kTrialsMax))
      ->type_name("N");

  auto* explain = add_command(app, chosen, "explain", "Why a trial was promoted or stopped at each rung",
                              with_server(arguments, [&](Session session) {
                                return tuneband::cli::explain_trial(session, arguments.job, arguments.trial);
                              }));
  add_job(explain, arguments);
  add_trial(explain, arguments);

  auto* logs = add_command(app, chosen, "logs", "What a trial printed", with_server(arguments, [&](Session session) {
                             if (arguments.logs.follow && !arguments.data_dir.empty()) {
                               return Finished(tuneband::cli::bad_input("is for logs of a server that runs", "--follow",
                                                                        "leave it out with --data-dir"));
                             }
                             arguments.logs.job = arguments.job;
                             arguments.logs.trial = arguments.trial;
                             return tuneband::cli::show_log(session, arguments.logs);
                           }));
  add_job(logs, arguments);
  add_trial(logs, arguments);
  logs->add_flag("-f,--follow", arguments.logs.follow, "Go on until the trial ends");
  logs->add_option("--rank", arguments.logs.rank, "Of a distributed trial what this worker of it printed; default: the first, 0")
      ->check(whole_number_between(0, tuneband::kReplicasMax - 1))
      ->type_name("RANK");

  auto* exported = add_command(app, chosen, "export", "A row a trial, for a spreadsheet or a program",
                               with_server(arguments, [&](Session session) {
                                 arguments.exported.job = arguments.job;
                                 arguments.exported.csv = !arguments.json;
                                 return tuneband::cli::export_job(session, arguments.exported);
                               }));
  add_job(exported, arguments);
  exported->add_flag("--csv", arguments.exported.csv, "CSV; this is the default");
  exported->add_flag("--curves", arguments.exported.curves, "The trials' learning curves as a table for `tuneband simulate`");
  exported->add_option("-o,--output", arguments.exported.output, "Write this file instead of standard output")->type_name("FILE");
}

void add_dashboard_commands(CLI::App& app, Command& chosen, Arguments& arguments) {
  auto* open =
      add_command(app, chosen, "open", "The dashboard's address, of a job's page; in a browser where there is a screen",
                  with_running_server(arguments, [&](Session s) { return tuneband::cli::open_dashboard(s, arguments.job); }));
  open->add_option("JOB", arguments.job, "The job's name or number; default: all jobs");

  auto* report = add_command(app, chosen, "report", "A page with everything about a job in it, to send or to keep",
                             with_server(arguments, [&](Session session) {
                               arguments.report.job = arguments.job;
                               return arguments.report.trial ? tuneband::cli::write_trial_report(session, arguments.report)
                                                             : tuneband::cli::write_report(session, arguments.report);
                             }));
  add_job(report, arguments);
  report->add_option("--trial", arguments.report.trial, "Of this trial alone: what the debugger saved of it, as plots")
      ->check(whole_number_between(0, kTrialsMax))
      ->type_name("TRIAL");
  report->add_option("-o,--output", arguments.report.output, "Write this file; default: JOB.html")->type_name("FILE");
}

// A file of that name is a model; else it is a job's.
void add_predict(CLI::App& app, Command& chosen, Arguments& arguments) {
  tuneband::cli::PredictOptions& options = arguments.predict;
  const auto with_job =
      with_server(arguments, [&](Session session) { return tuneband::cli::predict(&session.api, session.console, options); });
  auto* predict = add_command(app, chosen, "predict", "What the model of a job's best trial says of new rows, as CSV",
                              [&options, with_job](Console& console) -> tuneband::cli::Finished {
                                const auto file = tuneband::cli::names_model_file(options);
                                if (!file) return file.error();
                                return *file ? tuneband::cli::predict(nullptr, console, options) : with_job(console);
                              });
  predict->add_option("JOB", options.from, "The job's name or number, or a model file")->required();
  predict->add_option("DATA", options.data, "CSV with the columns of the features, or LibSVM as the model was trained on")
      ->required()
      ->check(CLI::ExistingFile);
  predict->add_option("--trial", options.trial, "The model of this trial instead of the best one's")
      ->check(whole_number_between(0, kTrialsMax))
      ->type_name("TRIAL");
  predict->add_option("-o,--output", options.output, "Write this file instead of standard output")->type_name("FILE");
  predict
      ->add_option("--delimiter", options.delimiter,
                   "Between the cells of a line; \\t is a tab; default: as in the training file")
      ->type_name("C");
  auto* header = predict->add_flag_callback(
      "--header", [&options] { options.header = true; }, "The first line is a header; default: as in the training file");
  predict
      ->add_flag_callback(
          "--no-header", [&options] { options.header = false; }, "The first line is a row; columns stand as in the training file")
      ->excludes(header);
}

void add_simulate(CLI::App& app, Command& chosen, Arguments& arguments) {
  tuneband::cli::SimulateOptions& options = arguments.simulate;
  auto* simulate = add_command(app, chosen, "simulate",
                               "What a job would have found on recorded learning curves, within seconds; needs no server",
                               [&](Console& console) { return tuneband::cli::simulate_job(console, options); });
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
      ->check(whole_number_between(1, kWorkersMax))
      ->capture_default_str();
  simulate->add_option("--seeds", options.seeds, "Runs of each, with different seeds")
      ->check(whole_number_between(1, tuneband::kSeedsMax))
      ->capture_default_str()
      ->type_name("N");
  simulate->add_option("--budget", options.budgets, "Resource at which to look, in units of max_resource; may be repeated")
      ->check(number_between(0.01, 1e6))
      ->type_name("B");
  simulate->add_flag("--in-order", options.in_order,
                     "The table's configurations from first to last: a job again, under other rules");
  simulate->add_option("--csv", options.csv, "Write every run's regret to this file")->type_name("FILE");
  simulate->add_option("--plot", options.plot, "Write a chart to this SVG file")->type_name("FILE");
}

// Of a document, or of a trial.
void add_check(CLI::App& app, Command& chosen, Arguments& arguments) {
  const auto of_trial = with_server(arguments, [&](Session session) {
    arguments.check.job = arguments.job;
    arguments.check.trial = arguments.trial;
    return tuneband::cli::check_trial(session, arguments.check);
  });
  auto* check = app.add_subcommand(
      "check",
      "A job's document before it is submitted, or rules over what was saved of a trial; exit status 1 when it finds something");
  check->add_option("JOB", arguments.job, "The job's JSON document; with TRIAL the job's name or number")
      ->required()
      ->type_name("JOB.json");
  auto* trial = check->add_option("TRIAL", arguments.trial, "The trial's number")->check(whole_number_between(0, kTrialsMax));
  auto* rules = check
                    ->add_option("--rule", arguments.check.rules,
                                 "A rule and its parameters, or a rule as a job has it (JSON); may be repeated")
                    ->needs(trial)
                    ->type_name("TYPE[,PARAMETER=VALUE...]");
  check->add_option("--rank", arguments.check.rank, "Of a distributed trial")
      ->check(whole_number_between(0, kWorkersMax))
      ->needs(trial)
      ->type_name("N");
  trial->needs(rules);
  add_changes(check, arguments.check_file.changes)->excludes(trial);
  check
      ->add_option("--seconds-per-unit", arguments.check_file.seconds_per_unit,
                   "Of a document: seconds that one unit of resource takes")
      ->check(number_between(1e-9, 1e9))
      ->excludes(trial)
      ->type_name("S");
  auto* measure = check->add_flag("--measure", arguments.check_file.measure,
                                  "Of a document: train a little, on one rank and on more, by a private server here");
  measure->excludes(trial);
  check->add_option("--measure-seconds", arguments.check_file.measure_seconds, "About, of each training that is measured")
      ->check(number_between(0.01, 3600))
      ->needs(measure)
      ->capture_default_str()
      ->type_name("S");
  check->callback([&chosen, &arguments, of_trial, trial] {
    if (trial->count() > 0) {
      chosen = of_trial;
      return;
    }
    chosen = [&arguments](Console& console) {
      arguments.check_file.job_file = arguments.job;
      arguments.check_file.server = arguments.server;
      arguments.check_file.server_program = arguments.server_program;
      arguments.check_file.may_be_private = arguments.server == Arguments{}.server;
      return tuneband::cli::check_file(console, arguments.check_file);
    };
  });
}

void add_debugger_commands(CLI::App& app, Command& chosen, Arguments& arguments) {
  auto* tensors = add_command(app, chosen, "tensors", "What the debugger saved of a trial: names, or one of them over its steps",
                              with_server(arguments, [&](Session session) {
                                arguments.tensors.job = arguments.job;
                                arguments.tensors.trial = arguments.trial;
                                return tuneband::cli::show_tensors(session, arguments.tensors);
                              }));
  add_job(tensors, arguments);
  add_trial(tensors, arguments);
  tensors->add_option("NAME", arguments.tensors.name, "A tensor, as the list has it");
  tensors->add_option("--mode", arguments.tensors.mode, "Of this mode alone; none: that have none")
      ->check(one_of_words({"none", "train", "validation", "predict"}))
      ->type_name("MODE");
  tensors->add_option("--step", arguments.tensors.step, "All that is known of it at this step")
      ->check(whole_number_between(0, tuneband::cli::kStepMax))
      ->type_name("N");
  tensors->add_option("--reduction", arguments.tensors.reduction, "Of arrays; default: mean")->type_name("NAME");
  tensors->add_option("--beside", arguments.tensors.beside, "Another trial of the job, to compare with")
      ->check(whole_number_between(0, kTrialsMax))
      ->type_name("TRIAL");
  tensors->add_option("--rank", arguments.tensors.rank, "Of a distributed trial")
      ->check(whole_number_between(0, kWorkersMax))
      ->type_name("N");
  tensors->add_option("-o,--output", arguments.tensors.output, "Write the array at --step to this .npy file")->type_name("FILE");

  auto* findings = add_command(app, chosen, "findings", "What the rules found in a job or in one trial",
                               with_server(arguments, [&](Session session) {
                                 return tuneband::cli::show_findings(session, arguments.job, arguments.one_trial);
                               }));
  add_job(findings, arguments);
  add_one_trial(findings, arguments, "all");

  auto* rules = add_command(app, chosen, "rules", "How each rule of the debugger stands in a job or in one trial",
                            with_server(arguments, [&](Session session) {
                              return tuneband::cli::show_rules(session, arguments.job, arguments.one_trial);
                            }));
  add_job(rules, arguments);
  add_one_trial(rules, arguments, "all together");

  add_check(app, chosen, arguments);
}

void add_planning_commands(CLI::App& app, Command& chosen, Arguments& arguments) {
  auto* plan = add_command(app, chosen, "plan", "Brackets, rungs, trials and cost of a job before it runs; needs no server",
                           [&](Console& console) { return tuneband::cli::show_plan(console, arguments.plan); });
  plan->add_option("FILE", arguments.plan.job_file, "The job's JSON document")->required()->type_name("JOB.json");
  add_changes(plan, arguments.plan.changes);
  plan->add_option("--workers", arguments.plan.workers, "Workers to reckon with; default: one a core")
      ->check(whole_number_between(1, kWorkersMax))
      ->type_name("N");
  plan->add_option("--seconds-per-unit", arguments.plan.seconds_per_unit, "Seconds that one unit of resource takes")
      ->check(number_between(1e-9, 1e9))
      ->type_name("S");

  add_command(app, chosen, "workers", "The server's workers and what they do",
              with_running_server(arguments, [](Session session) { return tuneband::cli::list_workers(session); }));

  auto* run = add_command(app, chosen, "run",
                          "Run one job from start to end with a private server; Ctrl-C ends it and keeps what it found",
                          [&](Console& console) { return tuneband::cli::run_job(console, arguments.run); });
  run->add_option("FILE", arguments.run.job_file, "The job's JSON document")->required()->type_name("JOB.json");
  add_changes(run, arguments.run.changes);
  run->add_option("--workers", arguments.run.workers, "Local workers; default: one a core, and enough for the job's replicas")
      ->check(whole_number_between(1, kWorkersMax))
      ->type_name("N");
  run->add_option(
         "--data-dir", arguments.run.data_dir,
         "Where jobs, logs and models are kept. A run that was cut short, also by Ctrl-C, goes on when the same command is given "
         "again. Default: a new directory below ./tuneband-runs, and Ctrl-C stops the job for good")
      ->type_name("DIR");
  run->add_flag("--keep", arguments.run.keep, "Keep the server up after the job's end, until Ctrl-C");
  run->add_option("--allow-webhook", arguments.run.allowed_webhooks,
                  "A host that findings of the debugger may be told to; without it, none is called")
      ->type_name("HOST[:PORT]");
}

void add_upkeep_commands(CLI::App& app, Command& chosen, Arguments& arguments) {
  auto* backup = add_command(app, chosen, "backup", "Copy a data directory to a new one, also while its server runs",
                             [&](Console&) { return tuneband::cli::back_up(arguments.backup); });
  backup->add_option("DIR", arguments.backup.destination, "The new directory")->required();
  backup->add_option("--data-dir", arguments.backup.data_dir, "What to copy")->capture_default_str()->type_name("DIR");

  auto* doctor =
      add_command(app, chosen, "doctor", "Check this installation, and say what is wrong with it", [&](Console& console) {
        arguments.doctor.server = arguments.server;
        return tuneband::cli::run_doctor(console, arguments.doctor);
      });
  doctor->add_option("--data-dir", arguments.doctor.data_dir, "Where the server is to keep its data")
      ->capture_default_str()
      ->type_name("DIR");
  doctor->add_option("--workers", arguments.doctor.workers, "Workers to reckon with; default: one a core")
      ->check(whole_number_between(1, kWorkersMax))
      ->type_name("N");
  doctor->add_option("--worker-threads", arguments.doctor.worker_threads, "Threads of each")
      ->capture_default_str()
      ->check(whole_number_between(1, kWorkersMax))
      ->type_name("N");
}

void add_completion(CLI::App& app, Command& chosen, Arguments& arguments) {
  constexpr const char* kJobs = "tuneband list --limit 100 2>/dev/null | tail -n +2 | cut -f2";
  const auto print = [&](Console& console) -> Finished {
    using tuneband::command_line::Shell;
    const Shell shell = arguments.shell == "bash" ? Shell::bash : arguments.shell == "zsh" ? Shell::zsh : Shell::fish;
    console.pass_on(tuneband::command_line::completion(app, shell, kJobs));
    return tuneband::cli::kExitOk;
  };
  auto* completion =
      add_command(app, chosen, "completion", "Print what lets a shell complete these commands (docs/server.md)", print);
  completion->add_option("SHELL", arguments.shell, "The shell")->required()->check(one_of_words({"bash", "zsh", "fish"}));
}

}  // namespace

int main(int argument_count, char** argument_values) {
  Arguments arguments;
  arguments.server_program = tuneband::os::program_beside_this_one("tuneband-server");
  arguments.run.server_program = arguments.server_program;
  arguments.predict.worker_program = tuneband::os::program_beside_this_one("tuneband-worker");
  Command chosen;

  CLI::App app("Hyperparameter tuning that stops weak trials early.", "tuneband");
  app.formatter(tuneband::command_line::help_layout());
  app.set_version_flag("--version", "tuneband " TUNEBAND_VERSION);
  app.add_option("--server", arguments.server, "The server's address")
      ->envname("TUNEBAND_SERVER")
      ->capture_default_str()
      ->type_name("URL");
  app.add_option("--data-dir", arguments.data_dir,
                 "Look at a data directory instead, without its server and without a change to it: for list, describe, best, "
                 "trials, explain, logs, importance, report and export")
      ->type_name("DIR");
  app.add_flag("--json", arguments.json, "Print JSON");
  app.fallthrough();
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 done (with --wait and run: the job completed), 1 the job failed or was stopped, 2 bad input, "
      "3 no server, 130 interrupted.");
  add_job_commands(app, chosen, arguments);
  add_trial_commands(app, chosen, arguments);
  add_debugger_commands(app, chosen, arguments);
  add_dashboard_commands(app, chosen, arguments);
  add_planning_commands(app, chosen, arguments);
  add_predict(app, chosen, arguments);
  add_simulate(app, chosen, arguments);
  add_upkeep_commands(app, chosen, arguments);
  add_completion(app, chosen, arguments);
  try {
    app.parse(argument_count, argument_values);
  } catch (const CLI::Success& success) {
    return app.exit(success);  // --help, --version
  } catch (const CLI::ParseError& error) {
    Console(tuneband::cli::detect_terminal(), std::cout, std::cerr, false).note(tuneband::command_line::fault_of(app, error));
    return tuneband::cli::kExitBadInput;
  }

  Console console(tuneband::cli::detect_terminal(), std::cout, std::cerr, arguments.json);
  const Finished finished = chosen(console);
  if (finished) return *finished;
  console.report(finished.error());
  return finished.error().exit_status;
}

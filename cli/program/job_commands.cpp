// What starts, shows, compares, changes and ends jobs.
#include "cli/program/program.hpp"

namespace tuneband::cli {

namespace {

void add_change(CLI::App& app, Command& chosen, Arguments& arguments) {
  ChangeOptions& options = arguments.change;
  auto* change = add_command(app, chosen, "change", "Change the share or the limits of a job that runs",
                             with_running_server(arguments, [&](Session session) { return change_job(session, options); }));
  add_job(change, options.job);
  change->add_option("--weight", options.weight, "Its share of the workers' time against other jobs")
      ->check(command_line::number_between(kWeightMin, kWeightMax))
      ->type_name("W");
  change
      ->add_option("--max-parallel-trials", options.max_parallel_trials,
                   "So many trials at once; those above it come to their rung")
      ->check(command_line::whole_number_between(1, kParallelTrialsMax))
      ->type_name("N");
  change->add_option("--max-runtime-seconds", options.max_runtime_seconds, "It ends so long after its submission")
      ->check(command_line::number_between(0.001, kRuntimeSecondsMax))
      ->type_name("S");
  change->add_flag("--no-more-trials", options.no_more_trials, "Start no more trials; those there are go on");
  change->parse_complete_callback([&options] {
    const bool some = options.weight || options.max_parallel_trials || options.max_runtime_seconds || options.no_more_trials;
    if (!some) throw CLI::RequiredError("What to change");
  });
}

}  // namespace

void add_job_commands(CLI::App& app, Command& chosen, Arguments& arguments) {
  auto* submit =
      add_command(app, chosen, "submit", "Start a job from its document",
                  with_running_server(arguments, [&](Session session) { return cli::submit(session, arguments.submit); }));
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

  auto* list = add_command(app, chosen, "list", "Jobs, newest first",
                           with_server(arguments, [&](Session session) { return list_jobs(session, arguments.list); }));
  list->add_option("--state", arguments.list.state, "Only those in this state")
      ->check(command_line::one_of_words({"running", "stopping", "completed", "stopped", "failed"}));
  list->add_option("--limit", arguments.list.limit, "At most so many; 0: all")
      ->check(command_line::whole_number_between(0, kTrialsMax))
      ->type_name("N");

  auto* describe =
      add_command(app, chosen, "describe", "A job: its best trial, its state, plan against actual, what was saved, failures",
                  with_server(arguments, [&](Session s) { return describe_job(s, arguments.job, arguments.plot); }));
  describe->add_flag("--plot", arguments.plot, "And the best so far over time and resource, and the best trial's learning curve");
  add_job(describe, arguments.job);
  add_job(add_command(app, chosen, "watch", "A job's progress until it ends; Ctrl-C leaves the job alone",
                      with_running_server(arguments, [&](Session s) { return watch(s, arguments.job); })),
          arguments.job);
  add_job(add_command(app, chosen, "best", "The best trial: value, parameters, model file",
                      with_server(arguments, [&](Session s) { return show_best(s, arguments.job); })),
          arguments.job);
  add_job(add_command(app, chosen, "importance", "Which parameters matter, and where they are best",
                      with_server(arguments, [&](Session s) { return show_importance(s, arguments.job); })),
          arguments.job);
  add_command(app, chosen, "compare", "What several jobs found, at what cost, and where their documents differ",
              with_server(arguments, [&](Session s) { return compare_jobs(s, arguments.jobs); }))
      ->add_option("JOB", arguments.jobs, "The jobs' names or numbers, 2 to " + std::to_string(kComparedMax))
      ->required()
      ->expected(2, kComparedMax);
  add_change(app, chosen, arguments);
  add_job(
      add_command(app, chosen, "hold", "Run nothing of a job until it is released; what runs is given back, with its checkpoint",
                  with_running_server(arguments, [&](Session s) { return hold_job(s, arguments.job, true); })),
      arguments.job);
  add_job(add_command(app, chosen, "release", "Go on with a job that is held",
                      with_running_server(arguments, [&](Session s) { return hold_job(s, arguments.job, false); })),
          arguments.job);
  auto* stop = add_command(app, chosen, "stop", "Stop a job, or one of its trials; what it found is kept",
                           with_running_server(arguments, [&](Session session) {
                             return arguments.one_trial ? stop_trial(session, arguments.job, *arguments.one_trial)
                                                        : stop_job(session, arguments.job);
                           }));
  add_job(stop, arguments.job);
  add_one_trial(stop, arguments, "the whole job");
  add_job(add_command(app, chosen, "delete", "Delete a job that has ended, with its logs and models",
                      with_running_server(arguments, [&](Session s) { return delete_job(s, arguments.job); })),
          arguments.job);
}

}  // namespace tuneband::cli

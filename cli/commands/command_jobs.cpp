#include <fmt/format.h>

#include "cli/commands/answer.hpp"
#include "cli/format.hpp"
#include "cli/terminal/job_plots.hpp"
#include "cli/terminal/job_report.hpp"
#include "core/time.hpp"

namespace tuneband::cli {

namespace {

std::string age_of(const JobInfo& job) {
  if (!job.created_ms) return "-";
  return format_duration(seconds_of(std::max<std::int64_t>(0, now_ms() - *job.created_ms))) + " ago";
}

Cell state_cell(const std::string& state) {
  if (state == "failed") return {state, Style::bad};
  if (state == "running" || state == "executing") return {state, Style::accent};
  if (state == "completed") return {state, Style::good};
  return {state};
}

std::string or_dash(const std::optional<std::int64_t>& number) { return number ? std::to_string(*number) : "-"; }

Finished patch_job(Session session, const std::string& job, const Json& changes) {
  const auto answer = session.api.patch(job_path(job), changes.dump());
  if (!answer) return answer.error();
  if (session.console.json()) {
    session.console.print_json(*answer);
    return kExitOk;
  }
  const JobInfo info = job_from_json(*answer);
  const std::string limits = limits_text(info);
  session.console.print(
      fmt::format("{} (job {}) is {}{}{}", info.name, info.id, info.state_word(), limits.empty() ? "" : ": ", limits));
  return kExitOk;
}

}  // namespace

Finished list_jobs(Session session, const ListOptions& options) {
  const std::string target = options.state.empty() ? "/v1/jobs" : "/v1/jobs?state=" + percent_encoded(options.state);
  const auto items = session.api.get_list(target, "jobs", options.limit);
  if (!items) return items.error();
  if (session.console.json()) {
    session.console.print_json({{"jobs", *items}});
    return kExitOk;
  }
  Table table({{"id", Align::right},
               {"name"},
               {"state"},
               {"trials", Align::right},
               {"best", Align::right},
               {"metric"},
               {"scheduler"},
               {"submitted"}});
  for (const Json& item : *items) {
    const JobInfo job = job_from_json(item);
    const auto& best = job.best_known();
    const std::string planned = job.trials.planned ? fmt::format("/{}", *job.trials.planned) : "";
    table.add_row({std::to_string(job.id), job.name, state_cell(job.state_word()),
                   fmt::format("{}{}", job.trials.ended(), planned),
                   best ? format_value(best->value, session.console.precision()) : "-", job.metric, job.scheduler, age_of(job)});
  }
  if (table.empty() && session.console.terminal().interactive) {
    session.console.print("no jobs yet: `tuneband submit JOB.json` starts one");
    return kExitOk;
  }
  session.console.print_table(table);
  return kExitOk;
}

Finished describe_job(Session session, const std::string& job, bool plot) {
  if (session.console.json()) {
    if (plot)
      return bad_input("is for eyes, and --json for programs", "--plot",
                       session.console.command("export " + job + " --json") + " has the best so far in numbers");
    const auto printed = print_result_json(session.api, session.console, job);
    if (!printed) return printed.error();
    return kExitOk;
  }
  const auto printed = print_result(session.api, session.console, job);
  if (!printed) return printed.error();
  if (!plot) return kExitOk;
  const auto plotted = print_plots(session.api, session.console, job);
  if (!plotted) return plotted.error();
  return kExitOk;
}

Finished show_best(Session session, const std::string& job) {
  const auto info = session.api.job(job);
  if (!info) return info.error();
  const auto best = fetch_best(session.api, job);
  if (!best) return best.error();
  if (!*best)
    return bad_input(fmt::format("no trial of {} has a value {}", info->name,
                                 info->constraints.empty() ? "yet" : "that meets the constraints"),
                     "", session.console.command("describe " + info->name) + " says how far it is");
  if (session.console.json()) {
    session.console.print_json((**best).document);
  } else {
    print_best(session.console, *info, **best);
  }
  return kExitOk;
}

Finished change_job(Session session, const ChangeOptions& options) {
  Json changes = Json::object();
  if (options.weight) changes["weight"] = *options.weight;
  if (options.max_parallel_trials) changes["limits"]["max_parallel_trials"] = *options.max_parallel_trials;
  if (options.max_runtime_seconds) changes["limits"]["max_runtime_seconds"] = *options.max_runtime_seconds;
  if (options.no_more_trials) changes["starts_no_more"] = true;
  return patch_job(session, options.job, changes);
}

Finished hold_job(Session session, const std::string& job, bool held) { return patch_job(session, job, {{"held", held}}); }

Finished stop_job(Session session, const std::string& job) {
  const auto answer = session.api.post(job_path(job) + "/stop", "");
  if (!answer) return answer.error();
  if (session.console.json()) {
    session.console.print_json(answer->body);
    return kExitOk;
  }
  const JobInfo info = job_from_json(answer->body);
  session.console.print(fmt::format("{} (job {}) is {}", info.name, info.id, info.state));
  return kExitOk;
}

Finished stop_trial(Session session, const std::string& job, int trial) {
  const auto answer = session.api.post(trial_path(job, trial) + "/stop", "");
  if (!answer) return answer.error();
  if (session.console.json()) {
    session.console.print_json(answer->body);
    return kExitOk;
  }
  session.console.print(fmt::format("trial {} of {} is {}", trial, job, trial_from_json(answer->body).state));
  return kExitOk;
}

Finished delete_job(Session session, const std::string& job) {
  const auto info = session.api.job(job);
  if (!info) return info.error();
  const auto removed = session.api.remove(job_path(std::to_string(info->id)));
  if (!removed) return removed.error();
  if (session.console.json()) {
    session.console.print_json({{"deleted", info->name}, {"id", info->id}});
  } else {
    session.console.print(fmt::format("{} (job {}) is deleted, with its trials, logs and models", info->name, info->id));
  }
  return kExitOk;
}

namespace {

// Behind the table: most workers lack nothing.
void print_lacks(Console& console, const std::vector<WorkerInfo>& workers) {
  for (const WorkerInfo& worker : workers) {
    for (const LackInfo& lack : worker.lacks) {
      const std::string jobs = lack.job ? fmt::format("job {}", *lack.job) : "any job";
      console.print(fmt::format("{} is given nothing of {}: {}", worker.name, jobs, lack.message));
    }
  }
}

Finished print_workers(Session session, const Json& answer) {
  Table table({{"name"},
               {"state"},
               {"job", Align::right},
               {"trial", Align::right},
               {"rank", Align::right},
               {"last seen"},
               {"data", Align::right},
               {"id"}});
  const std::vector<WorkerInfo> workers = list_from_json(answer, "workers", worker_from_json);
  for (const WorkerInfo& worker : workers) {
    const auto seen = worker.last_seen_ms
                          ? format_duration(seconds_of(std::max<std::int64_t>(0, now_ms() - *worker.last_seen_ms))) + " ago"
                          : "-";
    table.add_row({worker.name, state_cell(worker.state), or_dash(worker.job), or_dash(worker.trial), or_dash(worker.rank), seen,
                   std::to_string(worker.data_keys), worker.id});
  }
  if (table.empty() && session.console.terminal().interactive) {
    session.console.print(fmt::format("no workers: start some with `tuneband-worker --server {}`", session.api.url()));
    return kExitOk;
  }
  session.console.print_table(table);
  print_lacks(session.console, workers);
  return kExitOk;
}

}  // namespace

Finished list_workers(Session session) {
  return show_answer(session, "/v1/workers", [session](const Json& answer) { return print_workers(session, answer); });
}

}  // namespace tuneband::cli

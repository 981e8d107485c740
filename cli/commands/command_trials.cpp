#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/commands/commands.hpp"
#include "cli/format.hpp"
#include "core/text.hpp"

namespace tuneband::cli {

namespace {

std::vector<std::string> parameter_names(const std::vector<TrialInfo>& trials) {
  std::set<std::string> names;
  for (const TrialInfo& trial : trials) {
    if (!trial.configuration.is_object()) continue;
    for (const auto& [name, value] : trial.configuration.items()) names.insert(name);
  }
  return {names.begin(), names.end()};
}

Style style_of(const TrialInfo& trial) {
  if (trial.state == "failed") return Style::bad;
  if (trial.state == "completed") return Style::good;
  return trial.state == "running" ? Style::accent : Style::plain;
}

// Values that stand beside the first objective: those of the others, and how far the trial is outside of the constraints.
std::vector<Cell> further_values(const TrialInfo& trial, const JobInfo& job, Precision precision) {
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < job.more_metrics.size(); ++i) {
    const bool has = trial.objective && i < trial.more_objectives.size();
    cells.emplace_back(has ? format_value(trial.more_objectives[i], precision) : "-");
  }
  if (!job.constraints.empty()) cells.emplace_back(trial.objective ? format_value(trial.violation, precision) : "-");
  return cells;
}

Table trials_table(const std::vector<TrialInfo>& trials, const JobInfo& job, Precision precision) {
  const std::vector<std::string> names = parameter_names(trials);
  std::vector<Column> columns{{"trial", Align::right},    {"state"},
                              {"bracket", Align::right},  {"rung", Align::right},
                              {"resource", Align::right}, {job.more_metrics.empty() ? "objective" : job.metric, Align::right}};
  const bool kept =
      std::any_of(trials.begin(), trials.end(), [](const TrialInfo& trial) { return trial.kept_value.has_value(); });
  if (kept) columns.push_back({"kept", Align::right});
  for (const std::string& metric : job.more_metrics) columns.push_back({metric, Align::right});
  if (!job.constraints.empty()) columns.push_back({"violation", Align::right});
  for (const std::string& name : names) columns.push_back({name, Align::right});
  for (const char* title : {"training", "queued", "attempts"}) columns.push_back({title, Align::right});
  columns.push_back({"worker"});
  Table table(std::move(columns));
  for (const TrialInfo& trial : trials) {
    std::vector<Cell> row{std::to_string(trial.number),   Cell(trial.state, style_of(trial)),
                          std::to_string(trial.bracket),  std::to_string(trial.rung),
                          std::to_string(trial.resource), format_value(trial.objective, precision)};
    if (kept) row.emplace_back(format_value(trial.kept_value, precision));
    for (Cell& cell : further_values(trial, job, precision)) row.push_back(std::move(cell));
    for (const std::string& name : names) {
      const bool has = trial.configuration.is_object() && trial.configuration.contains(name);
      row.push_back(has ? format_parameter(trial.configuration[name], precision) : "-");
    }
    row.push_back(format_seconds(trial.training_seconds, precision));
    row.push_back(format_seconds(trial.queue_seconds, precision));
    row.push_back(std::to_string(trial.attempts));
    row.push_back(precision == Precision::exact ? trial.worker : short_worker(trial.worker));
    table.add_row(std::move(row));
  }
  return table;
}

}  // namespace

Finished list_trials(Session session, const TrialsOptions& options) {
  std::string query = "sort=" + percent_encoded(options.sort);
  if (!options.state.empty()) query += "&state=" + percent_encoded(options.state);
  const auto items = session.api.get_list(job_path(options.job) + "/trials?" + query, "trials", options.limit);
  if (!items) return items.error();
  if (session.console.json()) {
    session.console.print_json({{"trials", *items}});
    return kExitOk;
  }
  std::vector<TrialInfo> trials;
  for (const Json& item : *items) trials.push_back(trial_from_json(item));
  const bool readable = session.console.terminal().interactive;
  if (trials.empty() && readable) {
    session.console.print("no such trials");
    return kExitOk;
  }
  const auto job = session.api.job(options.job);
  if (!job) return job.error();
  session.console.print_table(trials_table(trials, *job, readable ? Precision::readable : Precision::exact));
  return kExitOk;
}

Finished explain_trial(Session session, const std::string& job_name, int number) {
  const auto job = session.api.job(job_name);
  if (!job) return job.error();
  const auto trial_json = session.api.get(trial_path(job_name, number));
  if (!trial_json) return trial_json.error();
  const auto decisions = session.api.get(trial_path(job_name, number) + "/decisions");
  if (!decisions) return decisions.error();
  Console& console = session.console;
  if (console.json()) {
    Json all = *decisions;
    all["trial"] = *trial_json;
    console.print_json(all);
    return kExitOk;
  }
  const TrialInfo trial = trial_from_json(*trial_json);
  const bool readable = console.terminal().interactive;
  console.print_line({{fmt::format("Trial {} of {}", trial.number, job->name), Style::bold},
                      {fmt::format(": {}{}", trial.state, trial.origin == "enqueued" ? ", an enqueued configuration" : "")}});
  console.print(join(format_configuration(trial.configuration, readable ? Precision::readable : Precision::exact), " "));
  for (const Json& sentence : decisions->value("explanation", Json::array())) console.print(sentence.get<std::string>());
  return kExitOk;
}

Finished show_log(Session session, const LogsOptions& options) {
  std::string target = trial_path(options.job, options.trial) + "/log";
  if (options.follow) target += "?follow=true";
  if (options.rank > 0) target += fmt::format("{}rank={}", options.follow ? '&' : '?', options.rank);
  bool empty = true;
  const auto ended = session.api.stream(target, [&](std::string_view piece) {
    empty = empty && piece.empty();
    return session.console.pass_on(piece);
  });
  if (!ended) return ended.error();
  const bool asks_for_rank = empty && options.rank > 0;
  if (!options.follow && !asks_for_rank) return kExitOk;
  const auto reply = session.api.get(trial_path(options.job, options.trial));
  if (!reply) return reply.error();
  const TrialInfo trial = trial_from_json(*reply);
  if (asks_for_rank && trial.segments > 0 && options.rank >= trial.replicas) {
    return bad_input(
        "the trial has no rank " + std::to_string(options.rank), "--rank",
        trial.replicas == 1 ? "it is trained by one worker" : fmt::format("its ranks are 0 to {}", trial.replicas - 1));
  }
  if (!options.follow || trial.ended()) return kExitOk;
  return Failure{{{ErrorCode::unavailable, "the server broke the log off, and the trial goes on", "", "ask again"}}, kExitFailed};
}

}  // namespace tuneband::cli

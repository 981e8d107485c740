#include "cli/terminal/job_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cli/format.hpp"
#include "cli/terminal/progress_frame.hpp"
#include "cli/terminal/replicas_report.hpp"
#include "core/text.hpp"

namespace tuneband::cli {

namespace {

constexpr std::int64_t kParallelTrialsDefault = 1000;  // as docs/job.md says

constexpr std::size_t kBracketsShownInReport = 20;
constexpr std::size_t kUnfitShownMax = 10;  // workers

void print_parameters(Console& console, const Json& configuration) {
  if (!configuration.is_object()) return;
  std::size_t width = 0;
  for (const auto& [name, value] : configuration.items()) width = std::max(width, display_width(name));
  for (const auto& [name, value] : configuration.items()) {
    const std::string text = format_parameter(value, Precision::exact);
    if (console.terminal().interactive) {
      console.print_line({{fmt::format("{:<{}}{:<{}}  ", "", kFieldNameWidth, name, width), Style::dim}, {text}},
                         kFieldNameWidth + width + 2);
    } else {
      console.field(name, text);
    }
  }
}

// What a training by XGBoost alone needs beside the configuration. Its learning rate where another one is of the model.
std::string refit_text(const TrialInfo& trial) {
  std::string text = "num_boost_round=" + std::to_string(trial.refit_rounds);
  const Json& eta = member(trial.refit_parameters, "eta");
  const bool shown = eta == member(trial.configuration, "eta") || eta == member(trial.configuration, "learning_rate");
  if (!eta.is_null() && !shown) text += " eta=" + format_parameter(eta, Precision::exact);
  text += " seed=" + format_parameter(member(trial.refit_parameters, "seed"), Precision::exact);
  return trial.refit_exact ? text : text + ", with other draws";
}

std::string counts_text(const TrialCounts& trials) {
  std::vector<std::string> parts;
  const auto add = [&](std::int64_t count, const char* what) {
    if (count > 0) parts.push_back(fmt::format("{} {}", count, what));
  };
  add(trials.completed, "completed");
  add(trials.stopped, "stopped early");
  add(trials.failed, "failed");
  add(trials.cancelled, "cancelled");
  add(trials.running, "running");
  add(trials.paused, "paused");
  add(trials.pending, "queued");
  return fmt::format("{}{}{}", trials.created, parts.empty() ? "" : ": ", join(parts, ", "));
}

void print_heading(Console& console, const JobInfo& job) {
  if (console.terminal().interactive) {
    console.print_line({{job.name, Style::bold}, {fmt::format("  job {}", job.id), Style::dim}}, 2);
  } else {
    console.field("job", std::to_string(job.id));
    console.field("name", job.name);
  }
}

// A value at a lower rung that the trials at max_resource did not reach.
void note_better_lower(Console& console, const JobInfo& job, const TrialInfo& best) {
  const auto& lower = job.best_anywhere;
  if (!lower || !lower->value || !best.objective || best.kept_value || !job.better(*lower->value, *best.objective)) return;
  console.field("lower rung",
                fmt::format("{} at {}, trial {}: better than any at {}", format_value(*lower->value, Precision::readable),
                            format_resource(lower->resource, job.resource_name), lower->trial,
                            format_resource(best.objective_resource, job.resource_name)));
}

// Below a field's name.
void print_sentences(Console& console, std::initializer_list<std::string> sentences) {
  for (const std::string& sentence : sentences) {
    if (!sentence.empty()) console.field("", sentence);
  }
}

// Values that rank after all others, and what may be behind them.
void print_not_finite(Console& console, const SummaryInfo& summary, const JobInfo& job) {
  if (summary.trials_not_finite <= 0) return;
  const bool all = summary.trials_not_finite >= summary.trials_measured;
  console.field(
      "not finite",
      all ? fmt::format("{} is NaN or infinite in every trial that has a value: {}", job.metric, summary.trials_not_finite)
          : fmt::format("{} is NaN or infinite in {} of {} trials; they rank last", job.metric, summary.trials_not_finite,
                        summary.trials_measured),
      all ? Style::bad : Style::warning);
  const bool auc = job.metric.find("auc") != std::string::npos;
  print_sentences(console, {all && auc ? "An auc is NaN when the validation data lacks one of the classes."
                            : all      ? "Look for NaN or infinity in the data or the labels, and for a metric that is not "
                                         "defined for them (a logarithm of 0)."
                                       : "A learning rate that is too large often is behind it: lower its upper bound.",
                            console.command(fmt::format("logs {} {}", job.name, summary.first_not_finite)) +
                                " shows how such a trial went."});
}

void print_rungs(Console& console, const PlanInfo& plan, const JobInfo& job) {
  if (console.terminal().interactive) {
    const Table table = rung_table(plan, job.resource_name, kBracketsShownInReport);
    if (table.empty()) return;
    console.print("");
    console.print_line({{plan.exact ? "trials at each rung, and planned" : "trials at each rung", Style::dim}});
    console.print_table(table);
    return;
  }
  Table table(
      {{"bracket"}, {"rung"}, {job.resource_name}, {"planned"}, {"reached"}, {"promoted"}, {"stopped"}, {"waiting"}, {"failed"}});
  for (const RungInfo& rung : plan.actual) {
    table.add_row({std::to_string(rung.bracket), std::to_string(rung.rung), std::to_string(rung.resource),
                   rung.planned ? std::to_string(*rung.planned) : "-", std::to_string(rung.reached),
                   std::to_string(rung.promoted), std::to_string(rung.stopped), std::to_string(rung.waiting),
                   std::to_string(rung.failed)});
  }
  if (!table.empty()) console.print_table(table);
}

void print_replicas(Console& console, const ReplicasReport& report, const JobInfo& job) {
  const Table table = replicas_table(report, job);
  if (table.empty()) return;
  const std::string star = "* nothing is both better and faster";
  if (console.terminal().interactive) {
    console.print("");
    console.print_line({{"quality against time, for each number of replicas (" + star + ")", Style::dim}});
  } else {
    console.field("replicas", star);
  }
  console.print_table(table);
}

void print_pareto(Console& console, const std::vector<ParetoInfo>& front, const JobInfo& job) {
  if (front.empty()) return;
  const Precision precision = console.precision();
  std::vector<Column> columns{{"trial", Align::right}, {job.metric, Align::right}};
  for (const std::string& metric : job.more_metrics) columns.push_back({metric, Align::right});
  Table table(columns);
  for (const ParetoInfo& point : front) {
    std::vector<Cell> cells{std::to_string(point.trial)};
    for (const double value : point.values) cells.push_back(format_value(value, precision));
    cells.resize(columns.size(), Cell(""));
    table.add_row(std::move(cells));
  }
  if (console.terminal().interactive) {
    console.print("");
    console.print_line({{"Pareto front: no trial is better in one objective and not worse in the others", Style::dim}});
  }
  console.print_table(table);
  constexpr std::size_t kFrontMin = 3;  // points of which a trade-off can be read
  if (front.size() < kFrontMin && job.ended() && console.terminal().interactive) {
    console.print_line({{"few trials came to max_resource: more `limits.max_trials` bring a fuller front", Style::dim}});
  }
}

}  // namespace

Outcome<std::optional<BestReport>> fetch_best(ApiClient& api, std::string_view job) {
  auto document = api.get(job_path(job) + "/best");
  if (!document) {
    // A job without a value answers "not found"; so does a job that is not there, which the caller has just seen.
    const bool none = document.error().exit_status == kExitBadInput;
    if (none) return std::optional<BestReport>();
    return document.error();
  }
  BestReport best;
  best.trial = trial_from_json(document->contains("trial") ? (*document)["trial"] : Json());
  const auto model = document->find("model");
  if (model != document->end() && model->is_string()) best.model = model->get<std::string>();
  best.test_value = number_from_json(document->value("test_value", Json()));
  best.document = std::move(*document);
  return std::optional<BestReport>(std::move(best));
}

namespace {

void print_further_objectives(Console& console, const JobInfo& job, const TrialInfo& trial) {
  const bool readable = console.terminal().interactive;
  for (std::size_t i = 0; i < std::min(trial.more_objectives.size(), job.more_metrics.size()); ++i) {
    const std::string value = format_value(trial.more_objectives[i], readable ? Precision::readable : Precision::exact);
    if (readable)
      console.field("", fmt::format("{}  {}", value, job.more_metrics[i]));
    else
      console.field("objective." + job.more_metrics[i], value);
  }
}

// How far the training came that the trial's objective is of: to its rung, or as far as it was when its job ended.
std::int64_t trained(const TrialInfo& trial) {
  const bool unfinished = trial.state == "cancelled" && trial.objective_resource == trial.until_resource;
  return unfinished ? trial.resource : trial.objective_resource;
}

}  // namespace

std::string latest_end_text(double max_runtime_seconds) {
  return fmt::format("ends {} after its submission at the latest", format_duration(max_runtime_seconds));
}

std::string limits_text(const JobInfo& job) {
  std::vector<std::string> words;
  if (job.weight != 1) words.push_back(fmt::format("weight {}", job.weight));
  if (job.max_parallel_trials < kParallelTrialsDefault) {
    words.push_back(fmt::format("at most {} at once", format_count(job.max_parallel_trials, "trial")));
  }
  if (job.max_runtime_seconds) {
    words.push_back(latest_end_text(*job.max_runtime_seconds));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

// In two digits: an error is no better known. "": there is none.
std::string plus_or_minus(std::optional<double> error, const Terminal& terminal) {
  return error ? fmt::format(" {} {:.2g}", terminal.utf8 ? "±" : "+-", *error) : "";
}

void print_best(Console& console, const JobInfo& job, const BestReport& best) {
  const TrialInfo& trial = best.trial;
  const bool readable = console.terminal().interactive;
  const bool kept = trial.kept_value.has_value();  // what its model has, and what made it the best
  const std::string value =
      format_value(kept ? trial.kept_value : trial.objective, readable ? Precision::readable : Precision::exact);
  std::string where = fmt::format("trial {} at {}", trial.number, format_resource(trained(trial), job.resource_name));
  if (kept) where += fmt::format(", its model after {}", trial.kept_resource);
  if (readable) {
    console.print_line({{fmt::format("{:<{}}", "best", kFieldNameWidth), Style::dim},
                        {value, Style::good},
                        {fmt::format("{}  {}, {}", plus_or_minus(trial.standard_error, console.terminal()), job.metric, where)}},
                       kFieldNameWidth);
    print_further_objectives(console, job, trial);
  } else {
    console.field("best", value);
    console.field("metric", job.metric);
    print_further_objectives(console, job, trial);
    console.field("trial", std::to_string(trial.number));
    console.field(job.resource_name, std::to_string(trained(trial)));
    if (kept) console.field("kept", std::to_string(trial.kept_resource));
    if (trial.standard_error) console.field("standard error", format_value(trial.standard_error, Precision::exact));
  }
  if (best.test_value) {
    console.field("test", format_value(best.test_value, readable ? Precision::readable : Precision::exact) +
                              (readable ? " on the test rows, which no trial and no choice has seen" : ""));
  }
  print_parameters(console, trial.configuration);
  if (trial.refit_rounds > 0) console.field("refit", refit_text(trial));
  if (!best.model.empty()) console.field("model", best.model);
  if (best.joined) return print_joined(console, *best.joined, job.name);
  const bool others = job.ended() && job.trials.ended() > 1;
  if (readable && kept && others)
    console.field("", console.command("ensemble " + job.name) + " joins it with those of the next best trials");
}

std::string saved_text(const SummaryInfo& summary, const JobInfo& job) {
  if (summary.resource_saved == 0) return "early stopping saved nothing";
  if (summary.resource_saved < 0) {
    return fmt::format("early stopping saved nothing: {} without it, to train anew at each rung cost {} more",
                       format_resource(summary.resource_without_stopping, job.resource_name), -summary.resource_saved);
  }
  const std::string seconds = summary.training_seconds_saved > 0
                                  ? fmt::format("about {} of training", format_duration(summary.training_seconds_saved))
                                  : "but no time: to begin anew took as long";
  return fmt::format(
      "early stopping saved {} of {} ({}), {}", summary.resource_saved,
      format_resource(summary.resource_without_stopping, job.resource_name),
      format_percent(static_cast<double>(summary.resource_saved), static_cast<double>(summary.resource_without_stopping)),
      seconds);
}

namespace {

// Not in words once more what the job ended with, as its state says.
void print_failures(Console& console, const JobInfo& job, const std::vector<FailureGroup>& failures) {
  for (const FailureGroup& group : failures) {
    const std::string which = group.trials == 1
                                  ? fmt::format("trial {}", group.example)
                                  : fmt::format("{}, for example {}", format_count(group.trials, "trial"), group.example);
    console.field("failed", fmt::format("{}: {}", group.exit_class, which), Style::bad);
    for (const std::string& sentence : {group.message, group.advice}) {
      const bool told = job.state == "failed" && job.reason.find(sentence) != std::string::npos;
      if (!told) print_sentences(console, {sentence});
    }
  }
  if (!failures.empty() && console.terminal().interactive)
    console.field("", console.command(fmt::format("logs {} {}", job.name, failures.front().example)) + " shows what it printed");
}

void print_crowded_bounds(Console& console, const std::vector<CrowdedBoundInfo>& bounds) {
  for (const CrowdedBoundInfo& bound : bounds) {
    console.field("bound",
                  fmt::format("{} = {}, its {}: {} of the best {} trials lie within 2 % of it", bound.parameter,
                              bound.bound.dump(), bound.end, bound.trials, bound.of),
                  Style::warning);
    print_sentences(console, {"Better ones may lie beyond: consider a wider range."});
  }
}

// What the debugger's rules found; those that ended a trial are among the failures too.
void print_findings(Console& console, const JobSummary& summary) {
  bool some = false;
  for (const RuleOfJobInfo& rule : summary.rules) {
    if (rule.found == 0 || !rule.example) continue;
    some = true;
    const std::string where = rule.found == 1
                                  ? fmt::format("trial {}", *rule.example)
                                  : fmt::format("{}, for example {}", format_count(rule.found, "trial"), *rule.example);
    console.field("found", fmt::format("{}: {}", rule.rule, where), Style::warning);
  }
  if (some && console.terminal().interactive)
    console.field("", console.command("findings " + summary.job.name) + " shows them, and what helps");
}

// Rules that were asked for and said nothing: their silence is no good news.
void print_not_judged(Console& console, const JobSummary& summary) {
  bool some = false;
  const auto tell = [&](const char* name, const RuleOfJobInfo& rule, const std::string& what) {
    console.field(name, fmt::format("{}: {}", rule.rule, what), Style::warning);
    some = true;
  };
  for (const RuleOfJobInfo& rule : summary.rules) {
    if (rule.status == "error") tell("rule failed", rule, rule.details);
    if (rule.status == "not_judged" && rule.not_judged > 0) tell("not judged", rule, rule.details);
    if (rule.status == "in_progress" && rule.not_judged > 0 && rule.judged == 0)
      tell("not judged", rule,
           fmt::format("in no trial yet; {} over", rule.not_judged == 1 ? "1 is" : fmt::format("{} are", rule.not_judged)));
  }
  if (some && console.terminal().interactive)
    console.field("", console.command("rules " + summary.job.name) + " says how each rule stands, and what it lacks");
}

// What the debugger saved, where some of it found no room.
void print_tensors(Console& console, const Json& answer, const JobInfo& job) {
  constexpr double kMebibyte = 1024.0 * 1024.0;
  const Json tensors = answer.value("tensors", Json());
  if (!tensors.is_object()) return;
  const Json dropped = tensors.value("dropped", Json::object());
  const auto rows = dropped.value("rows", std::int64_t{0});
  if (rows == 0) return;
  console.field("tensors",
                fmt::format("{} found no room, beside {:.1f} MiB that are saved", format_count(rows, "tensor"),
                            tensors.value("bytes", 0.0) / kMebibyte),
                Style::warning);
  print_sentences(console, {console.command("tensors " + job.name + " TRIAL") +
                            " says of which trial; `trial_megabytes_max` and `job_megabytes_max` in the job's `debug` "
                            "section are the bounds."});
}

void print_best_of(Console& console, const JobSummary& summary, const std::optional<JoinedReport>& joined) {
  const JobInfo& job = summary.job;
  if (!summary.best) {
    const SummaryInfo& costs = summary.costs;
    const bool only_nan = costs.trials_measured > 0 && costs.trials_measured == costs.trials_not_finite;
    const bool outside = costs.trials_violating > 0 && costs.trials_measured > costs.trials_not_finite;
    console.field("best", fmt::format("nothing{}: {}", job.ended() || (only_nan && !outside) ? "" : " yet",
                                      outside    ? "no trial meets the constraints"
                                      : only_nan ? "no value is a finite number"
                                                 : "no trial has a value"));
    return;
  }
  print_best(console, job, {*summary.best, summary.model, summary.test_value, joined, Json()});
  const bool low = job.trials.completed == 0;
  const std::string top = format_resource(job.max_resource, job.resource_name);
  if (low) console.field("", job.ended() ? "no trial reached " + top : "no trial has reached " + top + " yet");
  note_better_lower(console, job, *summary.best);
}

// What the job was expected to spend when it was submitted.
std::string planned_text(const PlanInfo& plan) {
  if (!plan.bounded) return "";
  const std::string fronts =
      plan.front_resource > 0 ? fmt::format(", or up to {} with the fronts", plan.total_resource + plan.front_resource) : "";
  return fmt::format(" of {}{} planned{}", plan.exact ? "" : "about ", plan.total_resource, fronts);
}

// "size at most 10 and recall at least 0.8"
std::string constraints_text(const std::vector<ConstraintInfo>& constraints) {
  std::vector<std::string> words;
  const auto shown = [](const std::optional<double>& bound) { return format_value(bound, Precision::exact); };
  for (const ConstraintInfo& one : constraints) {
    words.push_back(one.min && one.max ? fmt::format("{} from {} to {}", one.metric, shown(one.min), shown(one.max))
                    : one.min          ? fmt::format("{} at least {}", one.metric, shown(one.min))
                                       : fmt::format("{} at most {}", one.metric, shown(one.max)));
  }
  return join_and(words);
}

void print_constraints(Console& console, const JobSummary& summary) {
  if (summary.job.constraints.empty()) return;
  const std::int64_t measured = summary.costs.trials_measured;
  console.field("within", fmt::format("{}: {} of {}", constraints_text(summary.job.constraints),
                                      measured - summary.costs.trials_violating, format_count(measured, "trial")));
}

void print_state(Console& console, const JobSummary& summary) {
  const JobInfo& job = summary.job;
  const std::string limits = job.ended() ? "" : limits_text(job);
  console.field("state", job.reason.empty() ? job.state_word() : fmt::format("{}: {}", job.state, job.reason));
  if (!limits.empty()) console.field("limits", limits);
  console.field("trials", counts_text(job.trials));
  const char* name = "waiting";
  for (const auto& [reason, trials] : job.waiting) {
    console.field(std::exchange(name, ""), fmt::format("{}: {}", format_count(trials, "trial"), reason));
  }
  if (job.queue_position && (*job.queue_position > 1 || job.trials.created == 0)) {
    console.field("queue", fmt::format("place {} for the next free worker (time used, by weight)", *job.queue_position));
  }
  console.field("spent", fmt::format("{}{}, {} of training, {} {}", format_resource(job.resource_spent, job.resource_name),
                                     planned_text(summary.plan), format_duration(job.training_seconds),
                                     format_duration(job.seconds(now_ms())), job.ended() ? "from start to end" : "so far"));
  console.field("saved", saved_text(summary.costs, job));
  if (job.expected_improvement) {
    console.field("expected", fmt::format("the model expects one more trial to improve {} by {}", job.metric,
                                          format_value(job.expected_improvement, Precision::readable)));
  }
}

// Those whose machines lack something for a job that goes on, and what.
void print_unfit_workers(ApiClient& api, Console& console, const JobInfo& job) {
  if (job.ended()) return;
  const auto answer = api.get("/v1/workers");
  if (!answer) return;
  std::vector<WorkerInfo> workers = list_from_json(*answer, "workers", worker_from_json);
  std::erase_if(workers, [](const WorkerInfo& worker) { return worker.state == "draining"; });
  std::vector<std::string> unfit;
  for (const WorkerInfo& worker : workers) {
    const auto lack = std::find_if(worker.lacks.begin(), worker.lacks.end(),
                                   [&](const LackInfo& its) { return !its.job || *its.job == job.id; });
    if (lack != worker.lacks.end()) unfit.push_back(worker.name + ": " + lack->message);
  }
  if (unfit.empty()) return;
  console.field("workers", fmt::format("{} of {} cannot run it now", unfit.size(), format_count(workers.size(), "worker")));
  for (std::size_t i = 0; i < std::min(unfit.size(), kUnfitShownMax); ++i) console.field("", unfit[i]);
  if (unfit.size() > kUnfitShownMax) console.field("", "and more: `tuneband workers` has all of them");
}

void note_left_out(Console& console, std::int64_t count, std::string_view what) {
  if (count > 0 && console.terminal().interactive) console.print_line({{fmt::format("and {} more {}", count, what), Style::dim}});
}

}  // namespace

Outcome<void> print_result(ApiClient& api, Console& console, std::string_view job_name,
                           const std::optional<JoinedReport>& joined) {
  const auto answer = api.get(job_path(job_name) + "/summary");
  if (!answer) return answer.error();
  const JobSummary summary = job_summary_from_json(*answer);
  print_heading(console, summary.job);
  print_best_of(console, summary, joined);
  print_constraints(console, summary);
  print_not_finite(console, summary.costs, summary.job);
  print_state(console, summary);
  print_unfit_workers(api, console, summary.job);
  print_failures(console, summary.job, summary.failures);
  print_findings(console, summary);
  print_not_judged(console, summary);
  print_tensors(console, *answer, summary.job);
  print_crowded_bounds(console, summary.crowded_bounds);
  if (summary.importance_known && !summary.costs.none_counts() && console.terminal().interactive) {
    console.field("importance", console.command("importance " + summary.job.name) + " says which parameters matter");
  }
  print_rungs(console, summary.plan, summary.job);
  note_left_out(console, summary.brackets_left_out, "brackets");
  print_replicas(console, summary.replicas, summary.job);
  print_pareto(console, summary.pareto, summary.job);
  note_left_out(console, summary.pareto_left_out, "on the front: `tuneband export` has them all");
  return {};
}

Outcome<void> print_result_json(ApiClient& api, Console& console, std::string_view job_name, const Json& more) {
  auto summary = api.get(job_path(job_name) + "/summary");
  if (!summary) return summary.error();
  auto job = api.get(job_path(job_name));
  if (!job) return job.error();
  // It never changes, so it is of the same moment.
  if (job->contains("spec") && summary->contains("job")) (*summary)["job"]["spec"] = std::move((*job)["spec"]);
  summary->update(more);
  console.print_json(*summary);
  return {};
}

int exit_status_of(const JobInfo& job) { return job.state == "completed" ? kExitOk : kExitFailed; }

}  // namespace tuneband::cli

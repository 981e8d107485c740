#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "cli/commands/commands.hpp"
#include "cli/commands/job_file.hpp"
#include "cli/format.hpp"
#include "core/text.hpp"
#include "scheduler/forecast.hpp"
#include "scheduler/plan.hpp"

namespace tuneband::cli {

namespace {

Table plan_table(const Plan& plan, const std::string& resource_name) {
  std::vector<Column> columns{{"bracket"}};
  for (const std::int64_t level : plan.ladder) columns.push_back({format_resource(level, resource_name), Align::right});
  columns.push_back({"in all", Align::right});
  Table table(std::move(columns));
  for (const PlannedBracket& bracket : plan.brackets) {
    std::vector<Cell> row{fmt::format("{} (s={}{})", bracket.index, bracket.s, bracket.trimmed ? ", trimmed" : "")};
    for (const std::int64_t level : plan.ladder) {
      const auto rung =
          std::find_if(bracket.rungs.begin(), bracket.rungs.end(), [&](const auto& r) { return r.resource == level; });
      row.push_back(rung == bracket.rungs.end() ? Cell("") : Cell(rung->trials == 0 ? "-" : std::to_string(rung->trials)));
    }
    row.push_back(std::to_string(bracket.total_resource()));
    table.add_row(std::move(row));
  }
  return table;
}

std::string resource_text(const Plan& plan, const std::string& resource_name) {
  const std::int64_t whole = plan.total_resource_without_stopping;
  const std::int64_t saved = whole - plan.total_resource;
  const std::string share = format_percent(static_cast<double>(std::abs(saved)), static_cast<double>(whole));
  return fmt::format("{}{}; {} if every trial ran to the end: {} {}", plan.exact ? "" : "about ",
                     format_resource(plan.total_resource, resource_name), whole, share, saved < 0 ? "more" : "saved");
}

std::string trials_text(const Plan& plan) {
  return plan.trials ? fmt::format("{}", *plan.trials) : "until another limit ends the job; the table shows one pass";
}

std::string forecast_text(const Forecast& forecast, const PlanOptions& options, const std::string& resource_name) {
  const std::string workers = format_count(forecast.workers, "worker");
  if (options.seconds_per_unit) {
    return fmt::format("about {} with {}; without early stopping {}", format_duration(forecast.wall_seconds), workers,
                       format_duration(forecast.wall_seconds_without_stopping));
  }
  return fmt::format("with {} as long as {} in a row; without early stopping {} (--seconds-per-unit makes it seconds)", workers,
                     format_resource(static_cast<std::int64_t>(forecast.wall_seconds + 0.5), resource_name),
                     static_cast<std::int64_t>(forecast.wall_seconds_without_stopping + 0.5));
}

std::string learning_rate_text(const PlannedLearningRate& rate) {
  return fmt::format("begin with {} {:.3g} to {:.3g}, and go on with what their curves call for", rate.parameter, rate.min,
                     rate.max);
}

void print_plan(Console& console, const ParsedJob& job, const std::optional<Forecast>& expected, const PlanOptions& options) {
  const JobSpec& spec = job.spec;
  const Plan& plan = job.plan;
  const std::string& unit = job.resource_name;
  console.print_table(plan_table(plan, unit));
  if (plan.brackets_left_out > 0) console.print(fmt::format("and {} more", format_count(plan.brackets_left_out, "bracket")));
  console.field("trials", trials_text(plan));
  console.field("resource", resource_text(plan, unit));
  if (plan.model_resource > 0) {
    console.field("", fmt::format("of that about {} where the sampler's model expects to learn most, in trials of its choice",
                                  format_resource(plan.model_resource, unit)));
    console.field("",
                  "about twice as much in all where lower rungs mislead, as curves that cross do: more trials go on to see it");
  }
  if (plan.audit_resource > 0) {
    console.field("", fmt::format("up to about {} if the lower rungs turn out to mislead, and new trials start above them",
                                  format_resource(plan.total_resource + plan.audit_resource, unit)));
  }
  if (plan.front_resource > 0) {
    console.field("", fmt::format("up to about {} where many are the best in one of the objectives: at the end they all go on",
                                  format_resource(plan.total_resource + plan.front_resource, unit)));
  }
  if (spec.scheduler.early_end)
    console.field("", "less where trainings to the end are ended early, which depends on their curves");
  if (spec.scheduler.first_resource > 0) {
    console.field("at first", fmt::format("trials of several workers start at {}, until one has come to {}: a third at most",
                                          format_resource(plan.ladder[0], unit), format_resource(plan.ladder[1], unit)));
  }
  if (plan.restarts && plan.ladder.size() > 1) console.field("rungs", "each is a training of its own, from nothing");
  if (plan.learning_rate) console.field("new trials", learning_rate_text(*plan.learning_rate));
  if (plan.early_work < 1) {
    console.field("", fmt::format("below {} with fewer folds, which takes {} of the time",
                                  format_resource(spec.scheduler.max_resource, unit), format_percent(plan.early_work, 1)));
  }
  if (expected) console.field("time", forecast_text(*expected, options, unit));
  if (spec.limits.max_runtime_ms)
    console.field("", "the job ends after " + in_seconds(*spec.limits.max_runtime_ms) + " at the latest");
}

}  // namespace

Finished show_plan(Console& console, const PlanOptions& options) {
  const auto file = read_job_file(options.job_file, options.changes);
  if (!file) return file.error();
  const auto checked = check_job_file(*file);
  if (!checked) return checked.error();
  for (const Error& warning : checked->warnings) console.note("warning: " + describe(warning));
  const ParsedJob& job = checked->job;
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const auto expected = forecast(job.spec, options.workers.value_or(cores), options.seconds_per_unit.value_or(1));
  if (console.json()) {
    Json document = to_json(job.plan);
    document["forecast"] = to_json(expected);
    console.print_json(document);
  } else {
    print_plan(console, job, expected, options);
  }
  return kExitOk;
}

}  // namespace tuneband::cli

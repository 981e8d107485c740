#include "cli/terminal/job_plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/format.hpp"
#include "cli/terminal/text_plot.hpp"

namespace tuneband::cli {

namespace {

constexpr int kCurvePoints = 200;

double number_at(const Json& columns, const char* name, std::size_t row) {
  const auto column = columns.find(name);
  if (column == columns.end() || row >= column->size()) return std::nan("");
  return number_from_json(column->at(row)).value_or(std::nan(""));
}

// A step line: the value holds until the next is better.
std::vector<PlotPoint> points_of(const BestSoFar& best) {
  std::vector<PlotPoint> points;
  for (const BestStep& step : best.steps) {
    if (!points.empty()) points.push_back({step.cost, points.back().y});
    points.push_back({step.cost, step.value});
  }
  if (!points.empty()) points.push_back({best.end, points.back().y});
  return points;
}

std::string cost_text(double cost, Cost unit, const JobInfo& job) {
  return unit == Cost::seconds ? format_duration(cost) : fmt::format("{} {}", static_cast<std::int64_t>(cost), job.resource_name);
}

bool draws(const Console& console) { return console.terminal().interactive && console.terminal().utf8; }

void print_best_so_far(Console& console, const BestSoFar& best, Cost unit, const JobInfo& job) {
  const char* over = unit == Cost::seconds ? "time" : "what was trained";
  console.print("");
  const std::string where = best.resource == 0 ? "any rung" : fmt::format("{} {}", best.resource, job.resource_name);
  console.print(fmt::format("best {} so far over {}, of trials at {}", job.metric, over, where));
  if (best.steps.empty()) return console.print("no value yet");
  if (best.steps.size() == 1 && draws(console)) {
    const BestStep& only = best.steps.front();
    return console.print(fmt::format("{} by trial {} after {}, the first one there; nothing better since",
                                     format_value(only.value, Precision::readable), only.trial, cost_text(only.cost, unit, job)));
  }
  if (!draws(console)) {
    Table table({{unit == Cost::seconds ? "seconds" : job.resource_name, Align::right},
                 {job.metric, Align::right},
                 {"trial", Align::right}});
    for (const BestStep& step : best.steps)
      table.add_row(
          {format_value(step.cost, Precision::exact), format_value(step.value, Precision::exact), std::to_string(step.trial)});
    return console.print_table(table);
  }
  const PlotEnds ends{cost_text(best.steps.front().cost, unit, job), cost_text(best.end, unit, job)};
  for (const std::string& line : text_plot(points_of(best), console.terminal().width, ends)) console.print(line);
}

Outcome<void> print_curve(ApiClient& api, Console& console, const JobInfo& job, std::int64_t trial) {
  const auto answer = api.get(fmt::format("{}/trials/{}/observations?points={}", job_path(job.name), trial, kCurvePoints));
  if (!answer) return answer.error();
  std::vector<PlotPoint> points;
  Table table({{job.resource_name, Align::right}, {job.metric, Align::right}});
  for (const Json& one : answer->at("observations")) {
    const auto value = number_from_json(one.at("objective"));
    if (!value) continue;
    const auto resource = one.at("resource").get<std::int64_t>();
    points.push_back({static_cast<double>(resource), *value});
    table.add_row({std::to_string(resource), format_value(*value, Precision::exact)});
  }
  console.print("");
  console.print(fmt::format("learning curve of the best trial, {}", trial));
  if (points.empty()) {
    console.print("it reported its end alone");
  } else if (draws(console)) {
    const PlotEnds ends{fmt::format("{}", points.front().x), fmt::format("{} {}", points.back().x, job.resource_name)};
    for (const std::string& line : text_plot(points, console.terminal().width, ends)) console.print(line);
  } else {
    console.print_table(table);
  }
  return {};
}

}  // namespace

BestSoFar best_so_far(const Json& columns, const JobInfo& job, Cost cost, double now_seconds) {
  BestSoFar best;
  const Json& results = columns.at("best_so_far");
  const std::size_t count = results.at("trial").size();
  if (!job.rungs_compare) {
    for (std::size_t i = 0; i < count; ++i)
      best.resource = std::max(best.resource, results.at("resource").at(i).get<std::int64_t>());
  }
  for (std::size_t i = 0; i < count; ++i) {
    const double value = number_at(results, "value", i);
    if (results.at("resource").at(i).get<std::int64_t>() < best.resource) continue;
    if (!best.steps.empty() && !job.better(value, best.steps.back().value)) continue;
    const double at = number_at(results, cost == Cost::resource ? "resource_so_far" : "seconds", i);
    best.steps.push_back({at, value, results.at("trial").at(i).get<std::int64_t>()});
  }
  for (std::size_t row = 0; row < columns.at("number").size(); ++row) {
    if (std::isnan(number_at(columns, "started", row))) continue;
    const double ended = number_at(columns, "ended", row);
    const double spent = number_at(columns, "resource_so_far", row);
    best.end = std::max(best.end, cost == Cost::resource ? spent : std::isnan(ended) ? now_seconds : ended);
  }
  return best;
}

Outcome<void> print_plots(ApiClient& api, Console& console, std::string_view job_name) {
  const auto job = api.job(job_name);
  if (!job) return job.error();
  const auto columns = api.get(fmt::format("{}/columns?trials_max={}", job_path(job_name), kTrialsPlottedMax));
  if (!columns) return columns.error();
  for (const Cost cost : {Cost::seconds, Cost::resource})
    print_best_so_far(console, best_so_far(*columns, *job, cost, job->seconds(now_ms())), cost, *job);
  const auto& best = job->best_known();
  return best ? print_curve(api, console, *job, best->trial) : Outcome<void>{};
}

}  // namespace tuneband::cli

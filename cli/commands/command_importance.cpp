// `tuneband importance JOB`: which parameters matter, and where they are best.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/commands/answer.hpp"
#include "cli/format.hpp"
#include "cli/terminal/table.hpp"
#include "core/text.hpp"

namespace tuneband::cli {

namespace {

constexpr int kTrialsNeeded = 10;  // as many as search_spaces/importance.hpp wants
constexpr int kShareBarWidth = 20;
constexpr double kExplainedMin = 0.1;  // below, the shares say next to nothing

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string bar(double share) {
  std::string text;
  for (long i = 0; i < std::lround(std::clamp(share, 0.0, 1.0) * kShareBarWidth); ++i) text += "\u2588";
  return text;
}

// The value at which the mean over all other parameters is best.
std::string best_value(const Json& importance, const std::string& parameter, bool maximize) {
  for (const Json& one : importance.value("dependence", Json::array())) {
    if (text_of(one, "parameter") != parameter) continue;
    const Json means = one.value("mean", Json::array());
    const Json values = one.value("values", Json::array());
    std::size_t best = 0;
    for (std::size_t i = 0; i < std::min(means.size(), values.size()); ++i) {
      const bool better = maximize ? means[i] > means[best] : means[i] < means[best];
      if (better) best = i;
    }
    return best < values.size() ? format_parameter(values[best], Precision::readable) : "-";
  }
  return "-";
}

void print_shares(Console& console, const Json& importance, bool maximize) {
  const bool readable = console.terminal().interactive;
  Table table({{"parameter"}, {"share", Align::right}, {"+-", Align::right}, {""}, {"best near", Align::right}});
  const auto add = [&](const std::string& name, const Json& effect, const std::string& best) {
    const double share = number_of(effect, "share").value_or(0);
    const double deviation = number_of(effect, "deviation").value_or(0);
    table.add_row({name, readable ? percent(share) : fmt::format("{}", share),
                   readable ? percent(deviation) : fmt::format("{}", deviation), readable ? bar(share) : "", best});
  };
  for (const Json& effect : importance.value("parameters", Json::array())) {
    const std::string name = text_of(effect, "parameter");
    add(name, effect, best_value(importance, name, maximize));
  }
  for (const Json& effect : importance.value("interactions", Json::array())) {
    add(text_of(effect, "first") + " with " + text_of(effect, "second"), effect, "");
  }
  console.print_table(table);
}

// Why there is no importance yet.
std::string unknown_because(const JobSummary& summary) {
  const SummaryInfo& costs = summary.costs;
  if (!summary.importance_known || !costs.none_counts())
    return fmt::format("fewer than {} trials have a result at one rung, or nothing is tuned", kTrialsNeeded);
  return fmt::format("none of the {} with a result {}", format_count(costs.trials_measured, "trial"),
                     costs.trials_not_finite == 0  ? "meets the constraints"
                     : costs.trials_violating == 0 ? "has a finite value"
                                                   : "has a finite value and meets the constraints");
}

Finished print_importance(Console& console, const Json& importance, const JobInfo& job) {
  const double explained = number_of(importance, "explained").value_or(0);
  console.field("metric", job.metric);
  console.field("from", fmt::format("{} with a result at {}", format_count(integer_of(importance, "trials"), "trial"),
                                    format_resource(integer_of(importance, "resource"), job.resource_name)));
  console.field("explained", fmt::format("{} of the variance of trials that the model has not seen", percent(explained)));
  if (explained < kExplainedMin) console.field("", "so little that the shares below say next to nothing: more trials are needed");
  print_shares(console, importance, job.maximize);
  return kExitOk;
}

}  // namespace

Finished show_importance(Session session, const std::string& name) {
  const auto job = session.api.job(name);
  if (!job) return job.error();
  return show_answer(session, job_path(name) + "/importance", [&](const Json& answer) -> Finished {
    const Json importance = answer.value("importance", Json());
    if (importance.is_object()) return print_importance(session.console, importance, *job);
    const auto summary = session.api.get(job_path(name) + "/summary");
    if (!summary) return summary.error();
    session.console.print(unknown_because(job_summary_from_json(*summary)) + ": nothing can be said yet");
    return kExitOk;
  });
}

}  // namespace tuneband::cli

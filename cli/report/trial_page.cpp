#include "cli/report/trial_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cli/format.hpp"
#include "cli/report/svg_plot.hpp"
#include "core/markup_text.hpp"

namespace tuneband::cli {

namespace {

constexpr std::size_t kFeaturesShown = 20;
constexpr std::size_t kFeaturesOverTime = 6;
constexpr std::size_t kMatricesShown = 4;
constexpr std::size_t kLabelBins = 10;

constexpr const char* kStyle = R"(<style>
:root { color-scheme: light dark; --ink: #1c2430; --soft: #667; --grid: #dde1e7; --bar: #2f6db3; --paper: #fff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #9aa3b0; --grid: #333b47; --bar: #6aa5e8;
  --paper: #15191f; } }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 1000px;
  margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin: 2em 0 .5em; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(340px, 1fr)); gap: 1em; }
svg { width: 100%; max-width: 480px; height: auto; font-size: 11px; }
svg text { fill: var(--soft); } svg .title { fill: var(--ink);
  font-weight: 600; font-size: 12px; }
svg .count { fill: var(--ink); }
.grid { stroke: var(--grid); fill: none; } .line { fill: none; stroke-width: 1.6; } .bar, .cell { fill: var(--bar); }
.c0 { stroke: #2f6db3; } .c1 { stroke: #d9722e; } .c2 { stroke: #2e9b6f; } .c3 { stroke: #c0458a; }
.c4 { stroke: #8a7a1f; } .c5 { stroke: #6b57c8; } .c6 { stroke: #4aa8c9; } .c7 { stroke: #8a8f98; }
table { border-collapse: collapse; } td, th { text-align: left; padding: .15em 1.2em .15em 0; vertical-align: top; }
th { font-weight: 600; color: var(--soft); } .missing { color: var(--soft); border-left: 3px solid var(--grid);
  padding-left: .8em; }
code { font-size: .92em; }
@media print { body { margin: 0; max-width: none; } .plots { break-inside: avoid; } }
</style>
)";

std::string page_text(const Json& json, const char* field) {
  const auto found = json.find(field);
  if (found == json.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

std::string page_row(const std::string& name, const std::string& text) {
  return text.empty() ? "" : "<tr><th>" + markup_text(name) + "</th><td>" + markup_text(text) + "</td></tr>\n";
}

std::string page_section(const std::string& title, const std::string& body) {
  return "<h2>" + markup_text(title) + "</h2>\n" + body;
}

std::string page_plots(const std::vector<std::string>& all) {
  std::string body = "<div class=\"plots\">\n";
  for (const std::string& plot : all) body += plot.empty() ? "" : "<div>" + plot + "</div>\n";
  return body + "</div>\n";
}

std::string not_saved(const std::string& what, const std::string& collections) {
  return "<p class=\"missing\">" + markup_text(what) +
         " To have it in the page of a later trial, name in the job's document: <code>" +
         markup_text("\"debug\": {\"collections\": {" + collections + "}}") + "</code></p>\n";
}

constexpr const char* kPredictionsSaved = R"("labels": {"raw": true}, "predictions": {"raw": true})";

std::string head_of(const TrialSaved& saved) {
  const Json& trial = saved.trial;
  std::string table = "<table>\n" + page_row("job", saved.job) + page_row("state", page_text(trial, "state")) +
                      page_row("objective", page_text(trial, "objective")) + page_row("resource", page_text(trial, "resource")) +
                      page_row("ended as", page_text(trial, "exit_class")) + page_row("message", page_text(trial, "message"));
  const Json configuration = trial.value("configuration", Json::object());
  for (const auto& [name, value] : configuration.items())
    table += page_row(name, value.is_string() ? value.get<std::string>() : value.dump());
  return table + "</table>\n";
}

std::string findings_of(const TrialSaved& saved) {
  if (saved.findings.empty()) return "<p>No rule found anything.</p>\n";
  std::string list = "<ul>\n";
  for (const Json& finding : saved.findings) {
    list += "<li><b>" + markup_text(page_text(finding, "rule")) + "</b>, step " + markup_text(page_text(finding, "step")) + ": " +
            markup_text(page_text(finding, "message")) + ". What helps: " + markup_text(page_text(finding, "remedy")) + "</li>\n";
  }
  return list + "</ul>\n";
}

std::string curves_of(const TrialSaved& saved) {
  std::map<std::string, std::vector<PlotLine>> by_metric;
  for (const auto& [name, series] : saved.metrics) by_metric[metric_of_plot(name)].push_back({name, series});
  if (by_metric.empty()) return not_saved("No metric was saved.", R"("metrics": {})");
  std::vector<std::string> all;
  for (const auto& [metric, lines] : by_metric) all.push_back(line_plot(lines, {metric, saved.of_trees ? "round" : "step", ""}));
  return page_plots(all);
}

std::vector<std::pair<std::string, double>> largest_bars(std::vector<std::pair<std::string, double>> bars, std::size_t count) {
  std::stable_sort(bars.begin(), bars.end(),
                   [](const auto& a, const auto& b) { return std::abs(a.second) > std::abs(b.second); });
  bars.resize(std::min(bars.size(), count));
  return bars;
}

std::string importance_of(const TrialSaved& saved) {
  if (saved.importance.empty()) return not_saved("The importance of the features was not saved.", R"("feature_importance": {})");
  std::vector<std::string> all;
  for (const auto& [kind, features] : saved.importance) {
    double last = 0;
    for (const auto& [feature, series] : features) last = series.empty() ? last : std::max(last, series.back().first);
    std::vector<std::pair<std::string, double>> bars;
    for (const auto& [feature, series] : features) {
      if (!series.empty() && series.back().first == last) bars.emplace_back(feature, series.back().second);
    }
    bars = largest_bars(std::move(bars), kFeaturesShown);
    if (kind == "gain" || kind == "weight") all.push_back(bar_plot(bars, {fmt::format("{} at round {:.0f}, share", kind, last)}));
    if (kind != "gain") continue;
    std::vector<PlotLine> lines;
    for (const auto& [feature, value] : largest_bars(bars, kFeaturesOverTime)) lines.push_back({feature, features.at(feature)});
    all.push_back(line_plot(lines, {"gain over the rounds, share", "round", ""}));
  }
  return page_plots(all);
}

// Evenly, the last one among them.
std::vector<std::size_t> chosen_evenly(std::size_t count, std::size_t most) {
  std::vector<std::size_t> which;
  const std::size_t shown = std::min(count, most);
  for (std::size_t i = 0; i < shown; ++i) which.push_back(shown == 1 ? count - 1 : i * (count - 1) / (shown - 1));
  return which;
}

std::string confusion_section(const TrialSaved& saved, Task task) {
  std::vector<std::string> all;
  std::vector<PlotLine> right;
  for (const auto& [step, predicted] : saved.predictions) {
    const auto counts = confusion_of(predicted, task);
    if (counts.empty()) return "<p class=\"missing\">There are too many classes to draw.</p>\n";
    right.resize(std::max(right.size(), counts.size()));
    for (std::size_t k = 0; k < counts.size(); ++k) {
      const double sum = std::accumulate(counts[k].begin(), counts[k].end(), 0.0);
      right[k].name = "class " + std::to_string(k);
      if (sum > 0) right[k].points.emplace_back(static_cast<double>(step), counts[k][k] / sum);
    }
  }
  for (const std::size_t i : chosen_evenly(saved.predictions.size(), kMatricesShown)) {
    const auto& [step, predicted] = saved.predictions[i];
    all.push_back(matrix_plot(confusion_of(predicted, task),
                              {fmt::format("round {}", step), "predicted class; shades are shares of the row", "label"}));
  }
  all.push_back(line_plot(right, {"share of each class that is right", "round", ""}));
  return page_plots(all);
}

std::string roc_section(const TrialSaved& saved) {
  std::vector<PlotLine> lines;
  for (const std::size_t i : chosen_evenly(saved.predictions.size(), 3)) {
    const auto& [step, predicted] = saved.predictions[i];
    if (const auto roc = roc_of(predicted)) lines.push_back({fmt::format("round {}, area {:.4f}", step, roc->area), roc->points});
  }
  if (lines.empty()) return "<p class=\"missing\">The validation data has one class only.</p>\n";
  lines.push_back({"guessing", {{0, 0}, {1, 1}}});
  return page_plots({line_plot(lines, {"ROC", "false positives, share", "true positives, share"})});
}

std::string residuals_section(const TrialSaved& saved) {
  const auto& [step, predicted] = saved.predictions.back();
  PlotLine errors{"root mean square", error_by_label(predicted, kLabelBins)};
  return page_plots(
      {histogram_plot(residuals_of(predicted), {fmt::format("label less prediction, round {}", step), "residual", "rows"}),
       line_plot({errors}, {"error by label, in tenths of the rows", "label", "residual"})});
}

std::string predictions_of(const TrialSaved& saved) {
  if (saved.predictions.empty()) {
    return page_section("Predictions",
                        not_saved(saved.predictions_reduced ? "Of labels and predictions only reductions were saved: confusion "
                                                              "matrix, ROC and residuals need every row."
                                                            : "Labels and predictions were not saved: confusion matrix, ROC and "
                                                              "residuals are made of them.",
                                  kPredictionsSaved));
  }
  const Task task = saved.of_margins ? Task::margins : task_of(saved.predictions.back().second);
  if (task == Task::regression) return page_section("Residuals on the validation data", residuals_section(saved));
  std::string body = page_section("Confusion on the validation data", confusion_section(saved, task));
  if (task != Task::classes) body += page_section("ROC on the validation data", roc_section(saved));
  return body;
}

std::string contributions_of(const TrialSaved& saved) {
  if (saved.contributions.empty()) return not_saved("Contributions of the features (SHAP) were not saved.", R"("shap": {})");
  std::vector<std::pair<std::string, double>> sizes;
  for (const Contribution& one : saved.contributions) sizes.emplace_back(one.feature, one.mean_absolute);
  const auto shown = largest_bars(std::move(sizes), kFeaturesShown);
  std::vector<std::pair<std::string, double>> means;
  std::vector<std::string> spreads;
  for (const auto& [feature, size] : shown) {
    const auto one = std::find_if(saved.contributions.begin(), saved.contributions.end(),
                                  [&, name = feature](const Contribution& each) { return each.feature == name; });
    means.emplace_back(feature, one->mean);
    if (spreads.size() < kMatricesShown && !one->rows.empty())
      spreads.push_back(histogram_plot(one->rows, {feature + ", by row", "contribution to the margin", "rows"}));
  }
  std::vector<std::string> all = {
      bar_plot(shown, {fmt::format("mean of the absolute contributions, round {}", saved.contributions_step)}),
      bar_plot(means, {"mean of the contributions, with their sign"})};
  all.insert(all.end(), spreads.begin(), spreads.end());
  const std::string more =
      spreads.empty()
          ? "<p class=\"missing\">How they spread over the rows: <code>&quot;shap&quot;: {&quot;raw&quot;: true}</code></p>\n"
          : "";
  return page_plots(all) + more;
}

}  // namespace

std::string metric_of_plot(const std::string& metric) {
  for (const std::string_view prefix :
       {"train-", "validation-", "train_", "training_", "validation_", "valid_", "val_", "test_"}) {
    if (metric.starts_with(prefix) && metric.size() > prefix.size()) return metric.substr(prefix.size());
  }
  return metric;
}

std::string trial_page(const TrialSaved& saved) {
  const std::string title = fmt::format("{}, trial {}", saved.job, page_text(saved.trial, "number"));
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      markup_text(title) + "</title>\n" + kStyle + "</head>\n<body>\n<h1>" + markup_text(title) + "</h1>\n";
  page += head_of(saved);
  page += page_section("Findings", findings_of(saved));
  page += page_section("Learning curves", curves_of(saved));
  const auto has = [&](bool some) { return saved.of_trees || some; };  // what others could not have saved is not missed
  if (has(!saved.importance.empty())) page += page_section("Importance of the features", importance_of(saved));
  if (has(!saved.predictions.empty())) page += predictions_of(saved);
  if (has(!saved.contributions.empty())) page += page_section("Contributions of the features (SHAP)", contributions_of(saved));
  return page + "</body>\n</html>\n";
}

}  // namespace tuneband::cli

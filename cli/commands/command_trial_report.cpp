// The page of one trial: what the debugger saved of it, read over the API.
#include <algorithm>
#include <cmath>

#include "cli/commands/answer.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/output_file.hpp"
#include "cli/report/trial_page.hpp"
#include "debugger/files/array_formats.hpp"
#include "debugger/mode.hpp"

namespace tuneband::cli {

namespace {

constexpr std::size_t kPredictionsRead = 24;    // steps of them, evenly
constexpr std::size_t kContributionsRead = 40;  // features whose rows are read
constexpr const char* kLabels = "labels/validation";
constexpr const char* kPredictions = "predictions/validation";

class TrialTensors {
 public:
  TrialTensors(ApiClient& api, const std::string& job, int trial) : api_(api), base_(trial_path(job, trial) + "/tensors") {}

  Outcome<Json> list() { return api_.get(base_); }

  SavedSeries series(const std::string& name, const char* reduction = "mean", const std::string& mode = "") {
    SavedSeries points;
    const auto answer =
        api_.get(base_ + "/series?name=" + percent_encoded(name) + (mode.empty() ? "" : "&mode=" + percent_encoded(mode)));
    if (!answer) return points;
    for (const Json& step : answer->value("steps", Json::array())) {
      const Json& reductions = step.at("reductions");
      const Json value = step.contains("value") ? step.at("value") : reductions.value(reduction, Json());
      points.emplace_back(step.at("step").get<double>(), number_from_json(value).value_or(std::nan("")));
    }
    return points;
  }

  // Steps at which a tensor was kept whole.
  std::vector<std::int64_t> whole_steps(const std::string& name) {
    std::vector<std::int64_t> steps;
    const auto answer = api_.get(base_ + "/series?name=" + percent_encoded(name));
    if (!answer) return steps;
    for (const Json& step : answer->value("steps", Json::array())) {
      if (step.value("whole", false)) steps.push_back(step.at("step").get<std::int64_t>());
    }
    return steps;
  }

  struct Array {
    std::vector<double> values;
    std::size_t columns = 1;
  };
  std::optional<Array> array(const std::string& name, std::int64_t step) {
    std::string bytes;
    const auto read = api_.stream(base_ + "/array?name=" + percent_encoded(name) + "&step=" + std::to_string(step),
                                  [&](std::string_view piece) {
                                    bytes.append(piece);
                                    return true;
                                  });
    if (!read) return std::nullopt;
    const auto view = debugger::files::read_npy(std::as_bytes(std::span<const char>(bytes)));
    if (!view || view->shape.empty() || view->shape.size() > 2) return std::nullopt;
    return Array{debugger::values_of(*view), view->shape.size() == 2 ? static_cast<std::size_t>(view->shape[1]) : 1};
  }

 private:
  ApiClient& api_;
  std::string base_;
};

// "feature_importance/gain/age" -> "gain", "age"; a feature's name may hold a slash.
void read_importance(TrialTensors& tensors, const std::string& name, TrialSaved& saved) {
  const std::size_t kind = name.find('/') + 1;
  const std::size_t feature = name.find('/', kind);
  if (feature != std::string::npos)
    saved.importance[name.substr(kind, feature - kind)][name.substr(feature + 1)] = tensors.series(name);
}

// "losses/ce" in two modes -> "train-ce", "validation-ce", which stand in one plot.
void read_loss(TrialTensors& tensors, const Json& tensor, TrialSaved& saved) {
  const std::string name = tensor.at("name");
  const std::string own = name.substr(name.find('/') + 1);
  const Json mode = tensor.value("mode", Json());
  const bool told = mode.is_string() && debugger::named_mode(name).mode == debugger::Mode::none;
  const std::string word = mode.is_string() ? mode.get<std::string>() : "none";
  saved.metrics[told ? word + "-" + own : own] = tensors.series(name, "mean", word);
}

void read_predictions(TrialTensors& tensors, TrialSaved& saved) {
  const std::vector<std::int64_t> with_labels = tensors.whole_steps(kLabels);
  std::vector<std::int64_t> steps;
  const std::vector<std::int64_t> with_predictions = tensors.whole_steps(kPredictions);
  std::set_intersection(with_labels.begin(), with_labels.end(), with_predictions.begin(), with_predictions.end(),
                        std::back_inserter(steps));
  const std::size_t read = std::min(steps.size(), kPredictionsRead);
  for (std::size_t i = 0; i < read; ++i) {
    const std::int64_t step = steps[read == 1 ? steps.size() - 1 : i * (steps.size() - 1) / (read - 1)];
    auto labels = tensors.array(kLabels, step);
    auto values = tensors.array(kPredictions, step);
    if (!labels || !values || labels->values.empty() || labels->values.size() * values->columns != values->values.size())
      continue;
    saved.predictions.push_back({step, {std::move(labels->values), std::move(values->values), values->columns}});
  }
}

void read_contributions(TrialTensors& tensors, const std::vector<std::string>& names, TrialSaved& saved) {
  for (const std::string& name : names) {
    const SavedSeries means = tensors.series(name);
    const SavedSeries sizes = tensors.series(name, "abs_mean");
    if (means.empty() || sizes.empty()) continue;
    saved.contributions_step = std::max(saved.contributions_step, static_cast<std::int64_t>(means.back().first));
    saved.contributions.push_back({name.substr(name.find('/') + 1), means.back().second, sizes.back().second, {}});
  }
  auto& all = saved.contributions;
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.mean_absolute > b.mean_absolute; });
  for (std::size_t i = 0; i < std::min(all.size(), kContributionsRead); ++i) {
    if (auto rows = tensors.array("shap/" + all[i].feature, saved.contributions_step)) all[i].rows = std::move(rows->values);
  }
}

void read_tensors(TrialTensors& tensors, const Json& list, TrialSaved& saved) {
  std::vector<std::string> contributions;
  bool predicted = false;
  for (const Json& tensor : list.value("tensors", Json::array())) {
    const std::string name = tensor.at("name");
    const std::string collection = tensor.at("collection");
    if (collection == "metrics") saved.metrics[name.substr(name.find('/') + 1)] = tensors.series(name);
    if (collection == "losses") read_loss(tensors, tensor, saved);
    if (collection == "feature_importance") read_importance(tensors, name, saved);
    if (collection == "shap") contributions.push_back(name);
    predicted = predicted || name == kPredictions;
  }
  if (predicted) read_predictions(tensors, saved);
  saved.predictions_reduced = predicted && saved.predictions.empty();
  read_contributions(tensors, contributions, saved);
}

}  // namespace

Finished write_trial_report(Session session, const ReportOptions& options) {
  const auto job = session.api.job(options.job);
  if (!job) return job.error();
  const auto trial = session.api.get(trial_path(job->name, *options.trial));
  if (!trial) return trial.error();
  TrialTensors tensors(session.api, job->name, *options.trial);
  const auto list = tensors.list();
  if (!list) return list.error();
  TrialSaved saved;
  saved.job = job->name;
  saved.trial = *trial;
  if (const auto document = session.api.get(job_path(job->name))) {
    const Json trainer = document->value("spec", Json::object()).value("trainer", Json::object());
    saved.of_trees = trainer.value("type", Json()) == "xgboost";
    const bool fixed = member(member(trainer, "parameters"), "objective") == "binary:logitraw";
    saved.of_margins = saved.of_trees && (fixed || member(member(*trial, "configuration"), "objective") == "binary:logitraw");
  }
  const auto findings = session.api.get(trial_path(job->name, *options.trial) + "/findings");
  saved.findings = findings ? findings->value("findings", Json::array()) : Json::array();
  read_tensors(tensors, *list, saved);
  const std::string path = options.output.empty() ? job->name + "-" + std::to_string(*options.trial) + ".html" : options.output;
  const auto written = write_file(path, trial_page(saved));
  if (!written) return written.error();
  return tell_of_report(session.console, path);
}

}  // namespace tuneband::cli

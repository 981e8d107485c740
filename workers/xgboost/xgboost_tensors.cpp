#include "workers/xgboost/xgboost_tensors.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text.hpp"
#include "jobs/xgboost_parameters.hpp"
#include "scheduler/job_spec.hpp"

namespace tuneband::workers {

namespace {

using debugger::view_of;

constexpr double kResourcesEverySeconds = 0.25;  // reading them costs more than a round of a small table should bear

double sigmoid(double margin) { return 1 / (1 + std::exp(-margin)); }

// Of multi:softprob and multi:softmax: probability of each class less 1 for that of the label.
void softmax_gradients(std::span<const float> margins, std::span<const float> labels, std::vector<double>& gradients) {
  const std::size_t classes = margins.size() / labels.size();
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const auto of_row = margins.subspan(row * classes, classes);
    const double largest = *std::max_element(of_row.begin(), of_row.end());
    double sum = 0;
    for (const float margin : of_row) sum += std::exp(margin - largest);
    for (std::size_t k = 0; k < classes; ++k) {
      const double probability = std::exp(of_row[k] - largest) / sum;
      gradients.push_back(probability - (labels[row] == static_cast<float>(k) ? 1 : 0));
    }
  }
}

// First derivatives of the loss by the margin, of the objectives whose formula is known. Empty: of another. `positive_weight`:
// XGBoost's scale_pos_weight, which rows with the label 1 have.
std::vector<double> gradients_of(std::string_view objective, double positive_weight, std::span<const float> margins,
                                 std::span<const float> labels) {
  std::vector<double> gradients;
  if (labels.empty() || margins.size() % labels.size() != 0) return gradients;
  if (objective.starts_with("multi:soft")) {
    softmax_gradients(margins, labels, gradients);
    return gradients;
  }
  const bool logistic = objective.starts_with("binary:log") || objective == "reg:logistic";
  if (margins.size() != labels.size() || (!logistic && objective != "reg:squarederror" && objective != "count:poisson"))
    return gradients;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const double margin = margins[row];
    const double predicted = logistic ? sigmoid(margin) : objective == "count:poisson" ? std::exp(margin) : margin;
    const bool weighed = labels[row] == 1 && objective != "count:poisson";
    gradients.push_back((weighed ? positive_weight : 1) * (predicted - labels[row]));
  }
  return gradients;
}

}  // namespace

XgboostTensors::XgboostTensors(std::unique_ptr<debugger::files::Recorder> recorder, const XgboostParameters& parameters,
                               std::shared_ptr<const WarmData> data, int threads, bool from_nothing)
    : recorder_(std::move(recorder)),
      data_(std::move(data)),
      parameters_(parameters),
      is_linear_(parameter_or(parameters_, "booster", "gbtree") == "gblinear"),
      changes_earlier_trees_(parameter_or(parameters_, "booster", "gbtree") == "dart"),
      usage_(::getpid(), threads),
      first_step_(from_nothing) {
  if (!from_nothing) return;
  for (const auto& [name, value] : parameters_) {
    if (const auto number = parse_number(value)) recorder_->add(0, "hyperparameters/" + name, *number);
  }
  recorder_->commit(0);
}

std::optional<SegmentResult> XgboostTensors::round_done(std::int64_t step, XgboostBooster& booster, const Metrics& metrics,
                                                        bool last, TrialReporter& reporter, TrialLog& log) {
  for (const auto& [name, value] : metrics) {
    // A rule would take a standard error for a loss.
    if (!name.ends_with(kStandardErrorEnding)) recorder_->add(step, "metrics/" + name, value);
  }
  if (wants("resources", step)) {
    add_resources(step);
    add_imbalance(step);
  }
  add_predictions(step, booster);
  if (wants("gradients", step)) add_gradients(step, booster);
  if (wants("feature_importance", step)) add_importance(step, booster);
  if (is_linear_) {
    if (trouble_.empty() && (wants("trees", step) || wants("shap", step)))
      trouble_ = "a linear model has no trees, of which `trees` and `shap` tell";
  } else {
    if (wants("trees", step)) add_trees(step, booster);
    if (wants("shap", step)) add_shap(step, booster);
  }
  recorder_->commit(step);
  if (last) recorder_->settle();
  if (trouble_.empty()) trouble_ = recorder_->fault();
  if (!trouble_.empty() && !std::exchange(trouble_told_, true)) log.note("the debugger: " + trouble_);
  return tell_findings(*recorder_, reporter, log);
}

void XgboostTensors::add_imbalance(std::int64_t step) {
  const auto work = std::exchange(ranks_work_, std::nullopt);
  if (!work || work->most_ns == 0) return;
  recorder_->add(step, "resources/rank_imbalance", 1 - static_cast<double>(work->least_ns) / static_cast<double>(work->most_ns));
}

void XgboostTensors::add_resources(std::int64_t step) {
  if (!first_step_ && usage_.seconds_since_sample() < kResourcesEverySeconds) return;
  const auto use = usage_.sample();
  if (!use) return;
  if (std::exchange(first_step_, false)) recorder_->add(step, "resources/first_step_seconds", use->since_start);
  const auto steps = static_cast<double>(std::max<std::int64_t>(1, step - saved_step_));
  if (saved_step_ > 0) recorder_->add(step, "resources/step_seconds", use->wall_seconds / steps);
  saved_step_ = step;
  recorder_->add(step, "resources/cpu_share", use->cpu_share);
  recorder_->add(step, "resources/io_wait_share", use->io_wait_share);
  recorder_->add(step, "resources/memory_bytes", use->memory_bytes);
}

void XgboostTensors::add_array(std::int64_t step, const std::string& name, const PredictedRows& rows) {
  auto shape = rows.shape;
  if (shape.size() == 2 && shape.back() == 1) shape.pop_back();
  recorder_->add(step, name, view_of(rows.values, std::move(shape)));
}

// Of the validation data.
void XgboostTensors::add_predictions(std::int64_t step, XgboostBooster& booster) {
  if (data_->validation.handle() == nullptr) return;
  if (wants("labels", step)) {
    const auto labels = data_->validation.labels();
    recorder_->add(step, "labels/validation", view_of(labels, {static_cast<std::int64_t>(labels.size())}));
  }
  if (wants("predictions", step)) {
    if (const auto rows = booster.predict(data_->validation, Prediction::value); there(rows))
      add_array(step, "predictions/validation", *rows);
  }
  if (wants("margins", step)) {
    if (const auto rows = booster.predict(data_->validation, Prediction::margin); there(rows))
      add_array(step, "margins/validation", *rows);
  }
}

// Of the training data, as the next round will see them.
void XgboostTensors::add_gradients(std::int64_t step, XgboostBooster& booster) {
  const auto rows = booster.predict(data_->train, Prediction::margin);
  if (!there(rows)) return;
  const std::string_view objective = parameter_or(parameters_, "objective", kXgboostObjectiveDefault);
  const double positive_weight = parse_number(parameter_or(parameters_, "scale_pos_weight", "1")).value_or(1);
  std::vector<double> gradients = gradients_of(objective, positive_weight, rows->values, data_->train.labels());
  if (gradients.empty()) return;
  const auto weights = data_->train.weights();
  const std::size_t of_row = weights.empty() ? gradients.size() : gradients.size() / weights.size();
  for (std::size_t row = 0; row < weights.size(); ++row) {
    for (std::size_t i = 0; i < of_row; ++i) gradients[row * of_row + i] *= weights[row];
  }
  recorder_->add(step, "gradients/train",
                 view_of(std::span<const double>(gradients), {static_cast<std::int64_t>(gradients.size())}));
}

// Shares of their sum, so that rounds and models can be compared. XGBoost walks over all trees for each kind; the means follow
// from what the walks for the sums and the numbers of splits have brought, which all name the same features in one order.
void XgboostTensors::add_importance(std::int64_t step, XgboostBooster& booster) {
  const auto weight = booster.feature_scores("weight");
  if (is_linear_) return add_coefficients(step, weight);
  const auto gain = booster.feature_scores("total_gain");
  const auto cover = booster.feature_scores("total_cover");
  if (!there(weight) || !there(gain) || !there(cover)) return;
  const auto add = [&](const char* kind, const auto& score_of) {
    double sum = 0;
    for (std::size_t i = 0; i < weight->size(); ++i) sum += score_of(i);
    if (sum <= 0) return;
    const std::string prefix = "feature_importance/" + std::string(kind) + "/";
    for (std::size_t i = 0; i < weight->size(); ++i) recorder_->add(step, prefix + (*weight)[i].first, score_of(i) / sum);
  };
  const auto splits = [&](std::size_t i) { return static_cast<double>((*weight)[i].second); };
  add("weight", splits);
  add("gain", [&](std::size_t i) { return (*gain).at(i).second / splits(i); });
  add("cover", [&](std::size_t i) { return (*cover).at(i).second / splits(i); });
  add("total_gain", [&](std::size_t i) { return static_cast<double>((*gain).at(i).second); });
  add("total_cover", [&](std::size_t i) { return static_cast<double>((*cover).at(i).second); });
}

// A linear model has no splits: of each feature its coefficient, as large as it is.
void XgboostTensors::add_coefficients(std::int64_t step, const Result<FeatureScores>& coefficients) {
  if (!there(coefficients)) return;
  double sum = 0;
  for (const auto& [feature, size] : *coefficients) sum += size;
  if (sum <= 0) return;
  for (const auto& [feature, size] : *coefficients) recorder_->add(step, "feature_importance/weight/" + feature, size / sum);
}

void XgboostTensors::add_trees(std::int64_t step, XgboostBooster& booster) {
  const auto trees = booster.trees_of(static_cast<int>(step) - 1);
  if (!there(trees)) return;
  const auto add = [&](const char* name, const std::vector<double>& values) {
    recorder_->add(step, name, view_of(std::span<const double>(values), {static_cast<std::int64_t>(values.size())}));
  };
  add("trees/depth", trees->depths);
  add("trees/leaves", trees->leaves);
  add("trees/gain", trees->gains);
  add("trees/cover", trees->covers);
}

// Only the trees since the last time are computed, and added; but of dart, whose later rounds weigh earlier trees anew.
void XgboostTensors::add_shap(std::int64_t step, XgboostBooster& booster) {
  if (data_->validation.handle() == nullptr) return;
  const debugger::Collection* collection = recorder_->spec().collection("shap");
  if (collection == nullptr) return;
  if (!shap_rows_) {
    auto rows = data_->validation.first_rows(static_cast<std::size_t>(collection->rows));
    if (!there(rows)) return;
    shap_rows_.emplace(std::move(*rows));
  }
  if (changes_earlier_trees_) {
    shap_rounds_ = 0;
    shap_.clear();
  }
  const auto added = booster.contributions(*shap_rows_, shap_rounds_, static_cast<int>(step));
  if (!there(added)) return;
  shap_.resize(added->size());
  for (std::size_t i = 0; i < shap_.size(); ++i) shap_[i] += (*added)[i];
  shap_rounds_ = static_cast<int>(step);
  const std::size_t width = data_->features + 1;  // the last is the bias, which belongs to no feature
  const auto names = data_->encoding.feature_names();
  const std::size_t lines = shap_.size() / width;  // rows, each as often as there are classes
  std::vector<double> of_feature(lines);
  for (std::size_t feature = 0; feature + 1 < width; ++feature) {
    for (std::size_t line = 0; line < lines; ++line) of_feature[line] = shap_[line * width + feature];
    const std::string name = feature < names.size() ? names[feature] : "f" + std::to_string(feature);
    recorder_->add(step, "shap/" + name, view_of(std::span<const double>(of_feature), {static_cast<std::int64_t>(lines)}),
                   debugger::Mode::validation);
  }
}

}  // namespace tuneband::workers

#include "workers/xgboost/margin_judge.hpp"

#include <cmath>
#include <utility>

#include "jobs/training_parameters.hpp"

namespace tuneband::workers {

XgboostParameters judging_parameters(const XgboostSpec& spec, const Json& configuration, const std::string& metric) {
  XgboostParameters parameters{{"verbosity", "1"}, {"disable_default_eval_metric", "1"}, {"eval_metric", metric}};
  TrialTraining training;
  training.configuration = configuration;
  training.rounds = training.max_rounds = 1;
  for (const auto& [name, value] : training_parameters(spec, training)) {
    if (name == "objective" || name == "num_class" || name == "tweedie_variance_power" || name == "huber_slope")
      parameters.emplace_back(name, value);
  }
  return parameters;
}

Result<MarginJudge> MarginJudge::create(const Table& rows, XgboostParameters parameters) {
  Table bare;  // a feature that says nothing: XGBoost wants one
  bare.columns = 1;
  bare.values.assign(rows.rows(), 0.0F);
  bare.labels = rows.labels;
  bare.weights = rows.weights;
  bare.query_sizes = rows.query_sizes;
  auto matrix = XgboostMatrix::create(bare);
  if (!matrix) return matrix.error();
  MarginJudge judge;
  judge.matrix_ = std::make_unique<XgboostMatrix>(std::move(*matrix));
  auto booster = XgboostBooster::create(*judge.matrix_, {}, std::move(parameters));
  if (!booster) return booster.error();
  judge.booster_.emplace(std::move(*booster));
  return judge;
}

Result<double> MarginJudge::value_of(std::span<const float> margins) {
  if (auto set = matrix_->set_base_margin(margins); !set) return set.error();
  const auto metrics = booster_->evaluate(0, {{"rows", matrix_.get()}});
  if (!metrics) return metrics.error();
  return metrics->empty() ? std::nan("") : metrics->front().second;
}

Result<double> MarginJudge::cost_of(std::span<const float> margins, bool maximize) {
  auto value = value_of(margins);
  if (value && maximize) *value = -*value;
  return value;
}

}  // namespace tuneband::workers

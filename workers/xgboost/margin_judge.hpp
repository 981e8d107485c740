// What margins are worth on some rows, as XGBoost itself measures it, whoever made them: a model without a tree begins from them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/error.hpp"
#include "jobs/trainer_spec.hpp"
#include "workers/data/data_table.hpp"
#include "workers/xgboost/xgboost_session.hpp"

namespace tuneband::workers {

// Those of a trial's parameters on which a metric of margins depends, and the metric ("auc") itself.
XgboostParameters judging_parameters(const XgboostSpec& spec, const Json& configuration, const std::string& metric);

class MarginJudge {
 public:
  // By the labels, weights and queries of `rows`. Errors: XGBoost's.
  static Result<MarginJudge> create(const Table& rows, XgboostParameters parameters);

  // `margins`: rows x outputs, as XgboostBooster::predict() gives them. Errors: XGBoost's.
  Result<double> value_of(std::span<const float> margins);
  // The same, the lower the better.
  Result<double> cost_of(std::span<const float> margins, bool maximize);

 private:
  std::unique_ptr<XgboostMatrix> matrix_;  // stays where it is: the booster knows it
  std::optional<XgboostBooster> booster_;
};

}  // namespace tuneband::workers

// How far a metric's value on so many rows may be from its value on all rows of their kind.
#pragma once

#include <optional>
#include <string>

#include "workers/xgboost/xgboost_session.hpp"

namespace tuneband::workers {

inline constexpr int kBootstrapDraws = 20;

// The standard error of a metric by the bootstrap (B. Efron, "Bootstrap methods: another look at the jackknife", The Annals of
// Statistics 7, 1979): the standard deviation of its values where the set's rows are drawn anew with replacement, as many as
// there are. A row that is drawn twice has twice its weight. The same draws for every model; of rows that depend on each other it
// is too small. `round`: the model's last, from 0.
//
// Nothing: no two draws have different finite values, as with a metric that XGBoost reckons without weights (those of rankings
// and of Cox's regression). Errors: XGBoost's.
Result<std::optional<double>> bootstrap_error(XgboostBooster& model, int round, const EvaluationSet& set,
                                              const std::string& metric);

}  // namespace tuneband::workers

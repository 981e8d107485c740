// One model of XGBoost in place of several: all of their trees, each leaf times its model's weight, so that the margin is the
// weighted sum of theirs. It is a model like any other, to XGBoost in every language.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/error.hpp"

namespace tuneband::workers {

struct WeightedModel {
  std::string bytes;  // UBJSON, as XGBoost saves it
  double weight = 0;
};

struct JoinedModel {
  std::string json;  // as XGBoost loads it, with Infinity for infinite bounds; names of features and attributes are left out
  std::size_t trees = 0;
};

// `models`: one or more, of trees (`gbtree`, `dart`); weights that sum to 1 keep the base score that all have. Errors: a linear
// model; models of other features, classes, objectives or base scores than the first.
Result<JoinedModel> join_models(const std::vector<WeightedModel>& models);

}  // namespace tuneband::workers

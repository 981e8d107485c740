// What a model of the trainer `xgboost` says of the rows of a file (workers/xgboost). docs/xgboost-trainer.md, "The model".
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace tuneband::workers {

struct PredictionOrder {
  std::string model;                // path of a model file that a trial left
  std::string data;                 // path of CSV, or of LibSVM where the model was trained on that
  std::optional<bool> header = {};  // of CSV; nothing: as the training file's, and so of the delimiter
  std::optional<char> delimiter = {};
};

// Reads an order from {"model", "data", "header", "delimiter"}. Errors: at the field.
Result<PredictionOrder> read_prediction_order(std::string_view json);

// Hands over CSV, piece by piece: a header and a line for each row, in the order of the file. A column `prediction`: a number, or
// of classes the likeliest; then, of classes whose probabilities the model has, `probability` (of the positive one), or
// `probability_CLASS` for each. Gives what there is to doubt of the rows: columns of texts that the model does not know. Errors:
// at "model" or "data"; XGBoost's; `write` gives false.
Result<std::vector<std::string>> predict(const PredictionOrder& order, const std::function<bool(std::string_view)>& write);

}  // namespace tuneband::workers

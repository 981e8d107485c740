// One model of several trials of the trainer `xgboost`, chosen by what their average is worth on the validation rows
// (workers/xgboost). docs/xgboost-trainer.md, "Several models joined".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/json.hpp"
#include "jobs/training_parameters.hpp"

namespace tuneband::workers {

struct TrialModel {
  int trial = 0;
  double value = 0;  // of the job's objective, as the trial measured it
  std::string file;  // path of its model
  Json configuration = Json::object();
  std::optional<KeptTraining> training = {};  // told where models are to be trained once more
};

struct EnsembleOrder {
  Json job;                        // the whole document, as the server keeps it
  std::vector<TrialModel> models;  // the best one first
  // Of a cross-validation: of the best one's value over the folds. Nothing: not told.
  std::optional<double> standard_error = {};
  // Those that are chosen are trained once more, on the rows to validate on too. With folds each was trained on all rows already.
  bool refit = false;
  std::string output;  // path of the model to be written
};

// Reads an order from {"job", "models": [{"trial", "value", "file", "configuration"}], "standard_error" if told, "refit" (false),
// "output"}; with `refit` each model has "training": {"seed", "rounds", "max_rounds", "kept_rounds"}. Errors: at the field.
Result<EnsembleOrder> read_ensemble_order(std::string_view json);

// Writes the model, and says what it is, as the model's attribute `tuneband_ensemble` does:
//   {"metric", "candidates", "members": [{"trial", "weight"}], "trees", "value", "value_of_best",
//    "test_value", "test_value_of_best", "refit": true where it is so}
// `candidates`: how many of `models` have the value that was told, and the training objective of the first; `weight` in shares of
// 1, the largest first; `value`: of the job's objective, on the validation rows, by which it was chosen; `test_value`: on the
// job's test rows. `_of_best`: the same of the first of `models` alone. Where there are no such rows the values are left out, and
// of a cross-validation the best third count by their ranks, as far as they are within two standard errors of the first. Of
// models that are trained once more `value` is that of before, since no row is left that they have not seen, and `test_value`
// theirs. Errors: the job has several objectives or constraints, and it is not of
// one model that is trained once more; a metric of the training rows; data cannot be read, or is not
// what the models were trained and measured on; a model cannot be read, joined or trained once more.
Result<Json> join_trials(const EnsembleOrder& order);

}  // namespace tuneband::workers

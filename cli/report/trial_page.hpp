// A page about one trial, from what the debugger saved of it: no script, nothing loaded from elsewhere.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/report/trial_figures.hpp"
#include "core/json.hpp"

namespace tuneband::cli {

using SavedSeries = std::vector<std::pair<double, double>>;  // by step

struct Contribution {
  std::string feature;
  double mean = 0;           // of the contributions of all rows
  double mean_absolute = 0;  // of their absolute values
  std::vector<double> rows;  // each of them, where they were kept whole
};

struct TrialSaved {
  std::string job;
  Json trial;                                                            // Trial of docs/api.md
  Json findings;                                                         // [Finding]
  bool of_trees = true;                                                  // of the trainer xgboost: its steps are rounds
  bool of_margins = false;                                               // of binary:logitraw
  std::map<std::string, SavedSeries> metrics;                            // "train-auc"; of commands losses, too
  std::map<std::string, std::map<std::string, SavedSeries>> importance;  // by kind, then feature
  std::vector<std::pair<std::int64_t, Predicted>> predictions;           // by step, of the validation data
  bool predictions_reduced = false;                                      // some were saved, as reductions alone
  std::vector<Contribution> contributions;
  std::int64_t contributions_step = 0;
};

// "train-auc" -> "auc", "validation_loss" -> "loss": what stands in one plot.
std::string metric_of_plot(const std::string& metric);

// Sections without what they need say that it was not saved, and how it is.
std::string trial_page(const TrialSaved& saved);

}  // namespace tuneband::cli

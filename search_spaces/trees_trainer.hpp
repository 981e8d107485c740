// A trainer of boosted trees, as far as samplers ask: what is known of its hyperparameters before a job begins.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>

namespace tuneband {

struct TreesTrainer {
  // Hyperparameters that are the same for all trials, by XGBoost's names; what is neither here nor in the space has its default.
  std::map<std::string, double> fixed = {};
  std::int64_t max_resource = 1;  // rounds
  bool equal_shrinkage = false;   // whether a shorter training has as much shrinkage in total (shrinkage.hpp)
  double shrinkage_max = std::numeric_limits<double>::infinity();  // of shorter trainings then
  bool adapts_eta = false;                                         // a trial's learning rate follows its curve: adapted_eta()
  bool operator==(const TreesTrainer&) const = default;
};

}  // namespace tuneband

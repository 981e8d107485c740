// The models that a search has trained so far, joined as `tuneband ensemble` joins those of a job.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "benchmarks/search/real/trainings.hpp"

namespace tuneband {

// Where a training of a trial ended.
struct EndedTraining {
  double spent = 0;  // by the whole search until then
  int trial = 0;
  Training training;
  Measured best;
  std::shared_ptr<const BestMargins> margins;
};

struct Joining {
  std::size_t candidates = 24;  // of the best trials, as `tuneband ensemble` takes; 1: the best model alone
  bool refit = false;           // on the test rows they are worth what they are when they are trained once more
};

// What the models of the trials that have the best of `trainings` until `spent` are worth together; trainings are in the order in
// which they ended, at least one by then. Throws std::runtime_error where XGBoost refuses.
Measured joined_value(const RealDataset& dataset, const Matrices& matrices, const std::vector<EndedTraining>& trainings,
                      double spent, const Joining& joining);

}  // namespace tuneband

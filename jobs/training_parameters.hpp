// What XGBoost is given for a training of a trial: by who trains it, and told to who wants to train it again.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/json.hpp"
#include "jobs/trainer_spec.hpp"

namespace tuneband {

struct TrialTraining {
  Json configuration;       // of the trial
  std::uint64_t seed = 0;   // seed_of_trial()
  std::int64_t rounds = 0;  // that the training is to come to, 1 <= rounds <= max_rounds
  std::int64_t max_rounds = 0;
};

// A training whose model was kept.
struct KeptTraining {
  TrialTraining training;
  std::int64_t rounds = 0;  // of the model: up to training.rounds
};

// By the name that XGBoost documents ("eta", also of "learning_rate"), as texts: the trainer's own and those of the
// configuration, the learning rate that of the rung (shrunk_eta() below max_rounds, with the fidelity `shrinkage`), and what is
// random by the trial's seed.
std::map<std::string, std::string> training_parameters(const XgboostSpec& spec, const TrialTraining& training);

}  // namespace tuneband

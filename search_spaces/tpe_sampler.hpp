// Tree-structured Parzen estimators (Bergstra et al., NIPS 2011), with the defaults of Optuna 3's TPESampler: each parameter by
// itself, of 24 draws from the good trials' density the one with the greatest ratio to the others' density.
#pragma once

#include "search_spaces/encoded_history.hpp"
#include "search_spaces/samplers.hpp"

namespace tuneband {

// Trials with results are ordered by the highest level that they came to, then by their value there; the first
// min(ceil(n / 10), 25) are the good ones. Failed trials, and those whose last result is not finite, are the last and never good.
// It begins once `startup_trials` have a finite result.
class TpeSampler final : public Sampler {
 public:
  TpeSampler(const SearchSpace& space, std::uint64_t seed, int startup_trials);
  Configuration suggest(std::int64_t index, const History& history) override;

 private:
  EncodedHistory encoded_;
  RandomSampler random_;
  std::uint64_t seed_;
  int startup_trials_;
};

}  // namespace tuneband

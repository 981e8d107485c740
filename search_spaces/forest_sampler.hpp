// A random forest over (configuration, level) and expected improvement at max_resource (Hutter, Hoos, Leyton-Brown, "Sequential
// model-based optimization for general algorithm configuration", LION 2011). Targets, candidates and incumbent as in
// search_spaces/gp_sampler.hpp; trials without a result are learned at the mean that a forest without them predicts.
#pragma once

#include "search_spaces/encoded_history.hpp"
#include "search_spaces/samplers.hpp"

namespace tuneband {

class ForestSampler final : public Sampler {
 public:
  ForestSampler(const SearchSpace& space, std::uint64_t seed, int startup_trials);
  Configuration suggest(std::int64_t index, const History& history) override;

 private:
  EncodedHistory encoded_;
  SobolSampler start_;
  RandomSampler random_;
  std::uint64_t seed_;
  int startup_trials_;
};

}  // namespace tuneband

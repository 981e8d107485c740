// The sampler of BOHB (Falkner, Klein, Hutter, "BOHB: robust and efficient hyperparameter optimization at scale", ICML 2018).
#pragma once

#include "search_spaces/encoded_history.hpp"
#include "search_spaces/samplers.hpp"

namespace tuneband {

// At the highest level with at least d + 2 results: a kernel density over all parameters of the best 15 %, and one of the others.
// Of 64 draws near good ones (three times as wide) the one with the greatest ratio. One suggestion in three is random.
class BohbSampler final : public Sampler {
 public:
  BohbSampler(const SearchSpace& space, std::uint64_t seed);
  Configuration suggest(std::int64_t index, const History& history) override;

 private:
  EncodedHistory encoded_;
  RandomSampler random_;
  std::uint64_t seed_;
};

}  // namespace tuneband

// A Gaussian process over (configuration, level) jointly, and the configuration of the greatest expected improvement at
// max_resource. Every result at every level is a point, the level (0 to 1) its last dimension; the costs of all are ranked together
// and become normal scores, so that neither scale nor outliers matter. Trials without a result count as if they had their predicted
// one. The incumbent is the least predicted mean at max_resource among the configurations seen.
#pragma once

#include <memory>
#include <optional>

#include "search_spaces/encoding.hpp"
#include "search_spaces/gaussian_process.hpp"
#include "search_spaces/observations.hpp"
#include "search_spaces/samplers.hpp"

namespace tuneband {

class GpSampler final : public Sampler {
 public:
  GpSampler(const SearchSpace& space, std::uint64_t seed, int startup_trials);
  Configuration suggest(std::int64_t index, const History& history) override;

 private:
  struct Model;
  struct Fit {
    std::size_t results = 0;  // that it was made of
    std::uint64_t fingerprint = 0;
    GaussianHyperparameters hyperparameters;
  };

  const GaussianHyperparameters& hyperparameters(const History& history, const std::vector<Point>& points);
  Point best_point(std::int64_t index, const History& history, const std::vector<Point>& points);

  EncodedTrials trials_;
  SobolSampler start_;
  RandomSampler random_;
  std::uint64_t seed_;
  int startup_trials_;
  std::optional<Fit> fit_;
};

}  // namespace tuneband

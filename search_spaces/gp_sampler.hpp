// A Gaussian process over (configuration, level) jointly, and the configuration of the greatest expected improvement at
// max_resource. Every result at every level is a point, the level (0 to 1) its last dimension but one; the costs of all are
// ranked together and become normal scores, so that neither scale nor outliers matter. Trials without a result count as if they
// had their predicted one at max_resource. The incumbent is the least predicted mean at max_resource among the configurations
// seen. Results of earlier jobs are one unit away in a dimension of their own, and noisier: how far that is, is learned like the
// other length scales.
#pragma once

#include <optional>

#include "search_spaces/encoded_history.hpp"
#include "search_spaces/gaussian_process.hpp"
#include "search_spaces/samplers.hpp"

namespace tuneband {

class GpSampler final : public Sampler {
 public:
  GpSampler(const SearchSpace& space, std::uint64_t seed, int startup_trials);
  Configuration suggest(std::int64_t index, const History& history) override;
  std::optional<double> expected_improvement(std::int64_t index, const History& history) override;

 private:
  struct Fit {
    std::size_t results = 0;  // that it was made of
    GaussianHyperparameters hyperparameters;
  };
  struct Choice {
    Point point;
    double log_improvement = 0;  // in normal scores
  };

  // Follows the history. Not, once there is something to learn from.
  bool starting(std::int64_t index, const History& history);
  // Those of the data, then points at max_resource.
  GaussianInputs inputs_of(const std::vector<ScoredPoint>& data, const std::vector<const Point*>& at_the_end) const;
  Eigen::MatrixXd at_max_resource(const std::vector<const Point*>& points) const;
  const GaussianHyperparameters& hyperparameters(const History& history);
  // The logarithm of each candidate's expected improvement over the incumbent's mean.
  std::vector<double> rate(const GaussianProcess& process, double incumbent, const std::vector<Point>& candidates) const;
  Choice choose(std::int64_t index, const History& history, const std::vector<ScoredPoint>& scored);

  EncodedHistory encoded_;
  SobolSampler start_;
  RandomSampler random_;
  std::uint64_t seed_;
  int startup_trials_;
  std::optional<Fit> fit_;
};

}  // namespace tuneband

// The adaptive Parzen estimator of one dimension (Bergstra et al., "Algorithms for hyper-parameter optimization", NIPS 2011, as
// hyperopt and Optuna 3 have it): a mixture of one kernel an observation and one of the prior.
#pragma once

#include <vector>

#include "search_spaces/encoding.hpp"

namespace tuneband {

class ParzenEstimator {
 public:
  // Coordinates of the dimension, the oldest first. Numbers: normals cut at 0 and 1, as wide as the distance to the farther
  // neighbour but between 1 / min(100, n + 2) and 1; the prior's centre is 1/2, its width 1. An int's density is that of its
  // share of the scale. Categories: their frequencies, with the prior's weight spread evenly.
  ParzenEstimator(const Encoding::Dimension& dimension, const std::vector<double>& coordinates);

  double draw(Draws& draws) const;
  // Of a float without the factor 1 / sqrt(2 pi), which is the same for all estimators that are compared.
  double log_density(double coordinate) const;

 private:
  struct Kernel {
    double centre = 0;
    double width = 1;
    double weight = 1;
    double scale = 1;  // the weight over the normal's share within [0, 1]
  };

  void build_numbers(const std::vector<double>& coordinates, const std::vector<double>& weights);
  void build_categories(const std::vector<double>& coordinates, const std::vector<double>& weights);
  std::size_t pick(double unit, const std::vector<double>& cumulative) const;

  double step_ = 0;
  std::vector<Kernel> kernels_;
  std::vector<double> cumulative_;     // of the kernels' weights
  std::vector<double> probabilities_;  // of the categories
};

// The newest 25 observations count 1, older ones less the older they are, down to 1 / n.
std::vector<double> weights_by_age(std::size_t count);

}  // namespace tuneband

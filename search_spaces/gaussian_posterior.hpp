// How probable a Gaussian process's hyperparameters are, given its data and their priors, and the slope of that.
#pragma once

#include <Eigen/Dense>
#include <cmath>

#include "search_spaces/gaussian_process.hpp"

namespace tuneband {

inline const double kSqrt5 = std::sqrt(5.0);
inline constexpr double kGaussianJitter = 1e-6;  // of the variance, on the covariance's diagonal

// The posterior density over the logarithms [lengths..., variance, noise], on the lower triangle of the points' pairs. Refers to
// the targets and the noise factors that it was made of.
class GaussianPosterior {
 public:
  GaussianPosterior(const GaussianInputs& inputs, const Eigen::VectorXd& targets, const Eigen::VectorXd& noise_factor,
                    const GaussianPriors& priors);

  // The priors' medians.
  const Eigen::VectorXd& start() const { return median_; }

  // The logarithm of the density, but for a constant; -infinity where the covariance cannot be factorised.
  double at(const Eigen::VectorXd& logs, Eigen::VectorXd& gradient) const;

 private:
  void unpack(const Eigen::ArrayXd& packed, Eigen::MatrixXd& square) const;
  Eigen::ArrayXd pack(const Eigen::MatrixXd& square) const;

  const Eigen::VectorXd& targets_;
  const Eigen::VectorXd& noise_factor_;
  Eigen::Index points_;
  Eigen::Index dimensions_;
  Eigen::MatrixXd differences_;  // squared, a row a pair, a column a dimension
  Eigen::MatrixXd known_;        // the part of the covariance that the trends make; without them empty
  Eigen::VectorXd median_;
  Eigen::VectorXd deviation_;
};

}  // namespace tuneband

#include "search_spaces/gaussian_posterior.hpp"

#include <cmath>
#include <limits>

namespace tuneband {

GaussianPosterior::GaussianPosterior(const GaussianInputs& inputs, const Eigen::VectorXd& targets,
                                     const Eigen::VectorXd& noise_factor, const GaussianPriors& priors)
    : targets_(targets), noise_factor_(noise_factor), points_(inputs.points.cols()), dimensions_(inputs.points.rows()) {
  const Eigen::Index pairs = points_ * (points_ - 1) / 2;
  differences_.resize(pairs, dimensions_);
  for (Eigen::Index d = 0; d < dimensions_; ++d) {
    Eigen::Index pair = 0;
    for (Eigen::Index column = 0; column < points_; ++column) {
      for (Eigen::Index row = column + 1; row < points_; ++row, ++pair) {
        const double difference = inputs.points(d, row) - inputs.points(d, column);
        differences_(pair, d) = inputs.nominal[static_cast<std::size_t>(d)] ? (difference != 0 ? 1 : 0) : difference * difference;
      }
    }
  }
  if (inputs.trends.size() > 0) known_ = inputs.trends.transpose() * inputs.trends;
  median_.resize(dimensions_ + 2);
  deviation_.resize(dimensions_ + 2);
  median_ << priors.log_length_median, priors.log_variance_median, priors.log_noise_median;
  deviation_.setConstant(priors.log_length_deviation);
  deviation_(dimensions_) = priors.log_variance_deviation;
  deviation_(dimensions_ + 1) = priors.log_noise_deviation;
}

double GaussianPosterior::at(const Eigen::VectorXd& logs, Eigen::VectorXd& gradient) const {
  const Eigen::ArrayXd weights = (-2 * logs.head(dimensions_).array()).exp();
  const double variance = std::exp(logs(dimensions_));
  const double noise = std::exp(logs(dimensions_ + 1));
  const Eigen::ArrayXd squared = (differences_ * weights.matrix()).array();
  const Eigen::ArrayXd scaled = kSqrt5 * squared.sqrt();
  const Eigen::ArrayXd decay = (-scaled).exp();
  const Eigen::ArrayXd correlation = (1 + scaled + squared * (5.0 / 3)) * decay;

  Eigen::MatrixXd covariance(points_, points_);
  unpack(variance * correlation, covariance);
  covariance.diagonal() = (variance * (1 + kGaussianJitter) + noise * noise_factor_.array()).matrix();
  if (known_.size() > 0) covariance += known_;
  const Eigen::LLT<Eigen::MatrixXd> factor(covariance);
  if (factor.info() != Eigen::Success) return -std::numeric_limits<double>::infinity();
  const Eigen::VectorXd solved = factor.solve(targets_);
  const double half_log_determinant = factor.matrixLLT().diagonal().array().log().sum();

  // dL/dtheta = tr((a a^T - K^-1) dK/dtheta) / 2   (Rasmussen and Williams, 5.9)
  Eigen::MatrixXd outer = -factor.solve(Eigen::MatrixXd::Identity(points_, points_));
  outer.noalias() += solved * solved.transpose();
  const Eigen::ArrayXd packed = pack(outer);
  const Eigen::VectorXd slope = (packed * (5.0 / 3) * variance * (1 + scaled) * decay).matrix();
  gradient.resize(dimensions_ + 2);
  gradient.head(dimensions_) = ((differences_.transpose() * slope).array() * weights).matrix();
  gradient(dimensions_) = variance * ((packed * correlation).sum() + (1 + kGaussianJitter) * outer.diagonal().sum() / 2);
  gradient(dimensions_ + 1) = noise * (outer.diagonal().array() * noise_factor_.array()).sum() / 2;

  const Eigen::ArrayXd off = (logs - median_).array() / deviation_.array();
  gradient.array() -= off / deviation_.array();
  return -targets_.dot(solved) / 2 - half_log_determinant - off.square().sum() / 2;
}

void GaussianPosterior::unpack(const Eigen::ArrayXd& packed, Eigen::MatrixXd& square) const {
  for (Eigen::Index column = 0, pair = 0; column < points_; ++column) {
    const Eigen::Index below = points_ - 1 - column;
    square.col(column).tail(below) = packed.segment(pair, below).matrix();
    square.row(column).tail(below) = packed.segment(pair, below).matrix().transpose();
    pair += below;
  }
}

Eigen::ArrayXd GaussianPosterior::pack(const Eigen::MatrixXd& square) const {
  Eigen::ArrayXd packed(differences_.rows());
  for (Eigen::Index column = 0, pair = 0; column < points_; ++column) {
    const Eigen::Index below = points_ - 1 - column;
    packed.segment(pair, below) = square.col(column).tail(below).array();
    pair += below;
  }
  return packed;
}

}  // namespace tuneband

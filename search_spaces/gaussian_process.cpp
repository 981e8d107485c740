#include "search_spaces/gaussian_process.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "search_spaces/gaussian_posterior.hpp"

namespace tuneband {

namespace {

constexpr double kMoreJitter = 10;  // while the covariance cannot be factorised
constexpr double kJitterMax = 1;
constexpr double kVarianceMin = 1e-10;  // of the process's

// Adds weight * (difference in one dimension)^2 to `distances`, for all pairs of a and b.
void add_squared_differences(const Eigen::RowVectorXd& a, const Eigen::RowVectorXd& b, bool nominal, double weight,
                             Eigen::MatrixXd& distances) {
  for (Eigen::Index column = 0; column < b.size(); ++column) {
    if (nominal) {
      distances.col(column).array() += weight * (a.transpose().array() != b(column)).cast<double>();
    } else {
      distances.col(column).array() += weight * (a.transpose().array() - b(column)).square();
    }
  }
}

// Of squared distances, in place: Matern with nu = 5/2.
template <class Distances>
void to_correlation(Distances& distances) {
  const auto scaled = (kSqrt5 * distances.array().sqrt()).eval();
  distances = (1 + scaled + distances.array() * (5.0 / 3)) * (-scaled).exp();
}

// Of the first of the inputs, as many as there are targets.
Eigen::VectorXd without_expected(const GaussianInputs& inputs, const Eigen::VectorXd& targets) {
  if (inputs.expected.size() == 0) return targets;
  return targets - inputs.expected.head(targets.size());
}

}  // namespace

GaussianHyperparameters fit_gaussian_process(const GaussianInputs& inputs, const Eigen::VectorXd& targets,
                                             const Eigen::VectorXd& noise_factor, const GaussianPriors& priors, int steps) {
  constexpr double kFirstStep = 0.2;
  constexpr double kStepMin = 1e-3;
  constexpr double kStepMax = 1;
  constexpr double kFaster = 1.2;
  constexpr double kSlower = 0.5;
  const Eigen::VectorXd unexpected = without_expected(inputs, targets);
  const GaussianPosterior posterior(inputs, unexpected, noise_factor, priors);
  Eigen::VectorXd logs = posterior.start();
  Eigen::VectorXd best = logs;
  double best_density = -std::numeric_limits<double>::infinity();
  Eigen::VectorXd step = Eigen::VectorXd::Constant(logs.size(), kFirstStep);
  Eigen::VectorXd before = Eigen::VectorXd::Zero(logs.size());
  Eigen::VectorXd gradient;
  for (int i = 0; i < steps; ++i) {
    const double density = posterior.at(logs, gradient);
    if (!std::isfinite(density)) break;
    if (density > best_density) {
      best_density = density;
      best = logs;
    }
    for (Eigen::Index d = 0; d < logs.size(); ++d) {
      const double agreement = gradient(d) * before(d);
      if (agreement > 0) step(d) = std::min(step(d) * kFaster, kStepMax);
      if (agreement < 0) {
        step(d) = std::max(step(d) * kSlower, kStepMin);
        gradient(d) = 0;
      }
      if (gradient(d) != 0) logs(d) += gradient(d) > 0 ? step(d) : -step(d);
    }
    before = gradient;
  }
  const Eigen::Index dimensions = inputs.points.rows();
  return {best.head(dimensions), best(dimensions), best(dimensions + 1)};
}

GaussianProcess::GaussianProcess(GaussianInputs inputs, const Eigen::VectorXd& targets, const Eigen::VectorXd& noise_factor,
                                 int pending, GaussianHyperparameters hyperparameters)
    : inputs_(std::move(inputs)), hyperparameters_(std::move(hyperparameters)) {
  Eigen::MatrixXd all = covariance(inputs_);
  all.diagonal().array() += std::exp(hyperparameters_.log_noise) * noise_factor.array();
  for (double jitter = kGaussianJitter; jitter <= kJitterMax; jitter *= kMoreJitter) {
    factor_.compute(all + Eigen::MatrixXd::Identity(all.rows(), all.cols()) * (variance() * jitter));
    if (factor_.info() == Eigen::Success) break;
  }
  const Eigen::Index known = inputs_.points.cols() - pending;
  const auto lower = factor_.matrixLLT().topLeftCorner(known, known).triangularView<Eigen::Lower>();
  weights_ = lower.solve(without_expected(inputs_, targets.head(known)));
  lower.transpose().solveInPlace(weights_);
}

Eigen::MatrixXd GaussianProcess::covariance(const GaussianInputs& at) const {
  Eigen::MatrixXd squared = Eigen::MatrixXd::Zero(inputs_.points.cols(), at.points.cols());
  for (Eigen::Index d = 0; d < at.points.rows(); ++d) {
    const double weight = std::exp(-2 * hyperparameters_.log_length(d));
    const bool nominal = inputs_.nominal[static_cast<std::size_t>(d)];
    add_squared_differences(inputs_.points.row(d), at.points.row(d), nominal, weight, squared);
  }
  to_correlation(squared);
  squared *= variance();
  if (inputs_.trends.size() > 0) squared.noalias() += inputs_.trends.transpose() * at.trends;
  return squared;
}

Eigen::VectorXd GaussianProcess::mean(const GaussianInputs& at, const Eigen::MatrixXd& covariance) const {
  Eigen::VectorXd mean = covariance.topRows(weights_.size()).transpose() * weights_;
  if (at.expected.size() > 0) mean += at.expected;
  return mean;
}

Eigen::VectorXd GaussianProcess::mean(const GaussianInputs& at) const { return mean(at, covariance(at)); }

GaussianProcess::Prediction GaussianProcess::predict(const GaussianInputs& at) const {
  Eigen::MatrixXd between = covariance(at);
  Prediction prediction;
  prediction.mean = mean(at, between);
  factor_.matrixL().solveInPlace(between);
  const Eigen::ArrayXd left = known_covariance(at, at) - between.colwise().squaredNorm().transpose().array();
  prediction.deviation = left.max(kVarianceMin * variance()).sqrt().matrix();
  return prediction;
}

Eigen::ArrayXd GaussianProcess::known_covariance(const GaussianInputs& a, const GaussianInputs& b) const {
  Eigen::ArrayXd squared = Eigen::ArrayXd::Zero(a.points.cols());
  for (Eigen::Index d = 0; d < a.points.rows(); ++d) {
    const auto apart = (a.points.row(d) - b.points.row(d)).transpose().array();
    const double weight = std::exp(-2 * hyperparameters_.log_length(d));
    if (inputs_.nominal[static_cast<std::size_t>(d)]) {
      squared += weight * (apart != 0).cast<double>();
    } else {
      squared += weight * apart.square();
    }
  }
  to_correlation(squared);
  squared *= variance();
  if (a.trends.size() > 0) squared += (a.trends.array() * b.trends.array()).colwise().sum().transpose();
  return squared;
}

Eigen::VectorXd GaussianProcess::expected_change(const GaussianInputs& at, const GaussianInputs& by) const {
  Eigen::MatrixXd to_at = covariance(at);
  Eigen::MatrixXd to_by = covariance(by);
  factor_.matrixL().solveInPlace(to_at);
  factor_.matrixL().solveInPlace(to_by);
  const Eigen::ArrayXd left = known_covariance(at, by) - (to_at.array() * to_by.array()).colwise().sum().transpose();
  const Eigen::ArrayXd of_by = known_covariance(by, by) - to_by.colwise().squaredNorm().transpose().array();
  const double noise = std::exp(hyperparameters_.log_noise);
  return (left.abs() / (of_by.max(kVarianceMin * variance()) + noise).sqrt()).matrix();
}

}  // namespace tuneband

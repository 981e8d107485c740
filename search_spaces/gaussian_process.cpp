#include "search_spaces/gaussian_process.hpp"

#include <algorithm>
#include <cmath>

namespace tuneband {

namespace {

constexpr double kJitter = 1e-6;  // of the variance, on the diagonal: so much, and more while it cannot be factorised
constexpr double kMoreJitter = 10;
constexpr double kJitterMax = 1;
const double kRoot5 = std::sqrt(5.0);

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
  const auto scaled = (kRoot5 * distances.array().sqrt()).eval();
  distances = (1 + scaled + distances.array() * (5.0 / 3)) * (-scaled).exp();
}

// The posterior density over the logarithms [lengths..., variance, noise], on the lower triangle of the points' pairs.
class Posterior {
 public:
  Posterior(const GaussianInputs& inputs, const Eigen::VectorXd& targets, const Eigen::VectorXd& noise_factor,
            const GaussianPriors& priors)
      : targets_(targets), noise_factor_(noise_factor), points_(inputs.points.cols()), dimensions_(inputs.points.rows()) {
    const Eigen::Index pairs = points_ * (points_ - 1) / 2;
    differences_.resize(pairs, dimensions_);
    for (Eigen::Index d = 0; d < dimensions_; ++d) {
      Eigen::Index pair = 0;
      for (Eigen::Index column = 0; column < points_; ++column) {
        for (Eigen::Index row = column + 1; row < points_; ++row, ++pair) {
          const double difference = inputs.points(d, row) - inputs.points(d, column);
          differences_(pair, d) =
              inputs.nominal[static_cast<std::size_t>(d)] ? (difference != 0 ? 1 : 0) : difference * difference;
        }
      }
    }
    median_.resize(dimensions_ + 2);
    deviation_.resize(dimensions_ + 2);
    median_ << priors.log_length_median, priors.log_variance_median, priors.log_noise_median;
    deviation_.setConstant(priors.log_length_deviation);
    deviation_(dimensions_) = priors.log_variance_deviation;
    deviation_(dimensions_ + 1) = priors.log_noise_deviation;
  }

  const Eigen::VectorXd& start() const { return median_; }

  // The logarithm of the density, but for a constant; -infinity where the covariance cannot be factorised.
  double at(const Eigen::VectorXd& logs, Eigen::VectorXd& gradient) const {
    const Eigen::ArrayXd weights = (-2 * logs.head(dimensions_).array()).exp();
    const double variance = std::exp(logs(dimensions_));
    const double noise = std::exp(logs(dimensions_ + 1));
    const Eigen::ArrayXd squared = (differences_ * weights.matrix()).array();
    const Eigen::ArrayXd scaled = kRoot5 * squared.sqrt();
    const Eigen::ArrayXd decay = (-scaled).exp();
    const Eigen::ArrayXd correlation = (1 + scaled + squared * (5.0 / 3)) * decay;

    Eigen::MatrixXd covariance(points_, points_);
    unpack(variance * correlation, covariance);
    covariance.diagonal() = (variance * (1 + kJitter) + noise * noise_factor_.array()).matrix();
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
    gradient(dimensions_) = variance * ((packed * correlation).sum() + outer.diagonal().sum() / 2);
    gradient(dimensions_ + 1) = noise * (outer.diagonal().array() * noise_factor_.array()).sum() / 2;

    const Eigen::ArrayXd off = (logs - median_).array() / deviation_.array();
    gradient.array() -= off / deviation_.array();
    return -targets_.dot(solved) / 2 - half_log_determinant - off.square().sum() / 2;
  }

 private:
  void unpack(const Eigen::ArrayXd& packed, Eigen::MatrixXd& square) const {
    for (Eigen::Index column = 0, pair = 0; column < points_; ++column) {
      const Eigen::Index below = points_ - 1 - column;
      square.col(column).tail(below) = packed.segment(pair, below).matrix();
      square.row(column).tail(below) = packed.segment(pair, below).matrix().transpose();
      pair += below;
    }
  }

  Eigen::ArrayXd pack(const Eigen::MatrixXd& square) const {
    Eigen::ArrayXd packed(differences_.rows());
    for (Eigen::Index column = 0, pair = 0; column < points_; ++column) {
      const Eigen::Index below = points_ - 1 - column;
      packed.segment(pair, below) = square.col(column).tail(below).array();
      pair += below;
    }
    return packed;
  }

  const Eigen::VectorXd& targets_;
  const Eigen::VectorXd& noise_factor_;
  Eigen::Index points_;
  Eigen::Index dimensions_;
  Eigen::MatrixXd differences_;  // squared, a row a pair, a column a dimension
  Eigen::VectorXd median_;
  Eigen::VectorXd deviation_;
};

}  // namespace

GaussianHyperparameters fit_gaussian_process(const GaussianInputs& inputs, const Eigen::VectorXd& targets,
                                             const Eigen::VectorXd& noise_factor, const GaussianPriors& priors, int steps) {
  constexpr double kFirstStep = 0.2;
  constexpr double kStepMin = 1e-3;
  constexpr double kStepMax = 1;
  constexpr double kFaster = 1.2;
  constexpr double kSlower = 0.5;
  const Posterior posterior(inputs, targets, noise_factor, priors);
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
  const double variance = std::exp(hyperparameters_.log_variance);
  Eigen::MatrixXd all = covariance(inputs_.points);
  all.diagonal().array() += std::exp(hyperparameters_.log_noise) * noise_factor.array();
  for (double jitter = kJitter; jitter <= kJitterMax; jitter *= kMoreJitter) {
    factor_.compute(all + Eigen::MatrixXd::Identity(all.rows(), all.cols()) * (variance * jitter));
    if (factor_.info() == Eigen::Success) break;
  }
  const Eigen::Index known = inputs_.points.cols() - pending;
  const auto lower = factor_.matrixLLT().topLeftCorner(known, known).triangularView<Eigen::Lower>();
  weights_ = lower.solve(targets.head(known));
  lower.transpose().solveInPlace(weights_);
}

Eigen::MatrixXd GaussianProcess::covariance(const Eigen::MatrixXd& at) const {
  Eigen::MatrixXd squared = Eigen::MatrixXd::Zero(inputs_.points.cols(), at.cols());
  for (Eigen::Index d = 0; d < at.rows(); ++d) {
    const double weight = std::exp(-2 * hyperparameters_.log_length(d));
    add_squared_differences(inputs_.points.row(d), at.row(d), inputs_.nominal[static_cast<std::size_t>(d)], weight, squared);
  }
  to_correlation(squared);
  return std::exp(hyperparameters_.log_variance) * squared;
}

Eigen::VectorXd GaussianProcess::mean(const Eigen::MatrixXd& at) const {
  return covariance(at).topRows(weights_.size()).transpose() * weights_;
}

GaussianProcess::Prediction GaussianProcess::predict(const Eigen::MatrixXd& at) const {
  constexpr double kVarianceMin = 1e-10;
  Eigen::MatrixXd between = covariance(at);
  Prediction prediction;
  prediction.mean = between.topRows(weights_.size()).transpose() * weights_;
  factor_.matrixL().solveInPlace(between);
  const double variance = std::exp(hyperparameters_.log_variance);
  prediction.deviation =
      (variance - between.colwise().squaredNorm().transpose().array()).max(kVarianceMin * variance).sqrt().matrix();
  return prediction;
}

}  // namespace tuneband

// Gaussian process regression with a Matern-5/2 kernel and a length scale for each dimension (Rasmussen and Williams, "Gaussian
// Processes for Machine Learning", 2006, chapters 2, 4.2 and 5.4), with priors on its hyperparameters.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <vector>

namespace tuneband {

// Inputs: a column a point, a row a dimension. In a `nominal` row two values are one unit apart, or the same.
struct GaussianInputs {
  Eigen::MatrixXd points;
  std::vector<bool> nominal;  // by row
  // What is known beforehand (Rasmussen and Williams, 2.7): the mean expected at each point, and functions with weights of
  // normal distribution N(0, 1) that are added to it, a row a function, a column a point. Without points: nothing is known.
  Eigen::VectorXd expected;
  Eigen::MatrixXd trends;
};

struct GaussianHyperparameters {
  Eigen::VectorXd log_length;  // by dimension
  double log_variance = 0;
  double log_noise = 0;  // its variance
};

// Log-normal priors, as a median and a deviation of the logarithm.
struct GaussianPriors {
  Eigen::VectorXd log_length_median;  // by dimension
  double log_length_deviation = 1;
  double log_variance_median = 0;
  double log_variance_deviation = 0.5;
  double log_noise_median = -3;  // a variance of 0.05
  double log_noise_deviation = 1;
};

// The hyperparameters of the greatest posterior density that gradient steps of changing size (iRprop-: Igel and Huesken,
// Neurocomputing 50 (2003)) come to from the priors' medians. `targets` have a mean of about 0 and a variance of about 1;
// `noise_factor` multiplies the noise of each point.
GaussianHyperparameters fit_gaussian_process(const GaussianInputs& inputs, const Eigen::VectorXd& targets,
                                             const Eigen::VectorXd& noise_factor, const GaussianPriors& priors, int steps);

class GaussianProcess {
 public:
  // `pending` of the points, the last ones, have no target: they are taken to have their predicted mean, which leaves the mean
  // everywhere as it is and lowers the variance near them.
  GaussianProcess(GaussianInputs inputs, const Eigen::VectorXd& targets, const Eigen::VectorXd& noise_factor, int pending,
                  GaussianHyperparameters hyperparameters);

  struct Prediction {
    Eigen::VectorXd mean;
    Eigen::VectorXd deviation;  // of the function, without the noise
  };
  Prediction predict(const GaussianInputs& at) const;
  Eigen::VectorXd mean(const GaussianInputs& at) const;
  // By column: the deviation of what an observation at `by`, with its noise, adds to the mean at `at`:
  // |cov(f(at), f(by))| / sqrt(var(f(by)) + noise).
  Eigen::VectorXd expected_change(const GaussianInputs& at, const GaussianInputs& by) const;

 private:
  Eigen::MatrixXd covariance(const GaussianInputs& at) const;  // a row an input, a column a point of `at`
  Eigen::VectorXd mean(const GaussianInputs& at, const Eigen::MatrixXd& covariance) const;
  double variance() const { return std::exp(hyperparameters_.log_variance); }
  // The same before anything is observed, of the columns of a and b with the same number.
  Eigen::ArrayXd known_covariance(const GaussianInputs& a, const GaussianInputs& b) const;

  GaussianInputs inputs_;
  GaussianHyperparameters hyperparameters_;
  Eigen::LLT<Eigen::MatrixXd> factor_;
  Eigen::VectorXd weights_;  // of the inputs with a target
};

}  // namespace tuneband

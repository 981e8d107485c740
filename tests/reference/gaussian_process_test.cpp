#include "search_spaces/gaussian_process.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "search_spaces/draws.hpp"
#include "search_spaces/gaussian_posterior.hpp"
#include "tests/reference/reference.hpp"

namespace tuneband::test {
namespace {

// Points of two numbers and a category, with targets that have a mean of about 0.
struct Case {
  GaussianInputs inputs;
  Eigen::VectorXd targets;
  Eigen::VectorXd noise_factor;

  Case(std::uint64_t seed, int points) : targets(points), noise_factor(points) {
    Draws draws(seed, 1, points);
    inputs.points.resize(3, points);
    inputs.nominal = {false, false, true};
    for (int i = 0; i < points; ++i) {
      inputs.points.col(i) << draws.unit(), draws.unit(), static_cast<double>(draws.below(3));
      targets(i) = std::sin(6 * inputs.points(0, i)) + inputs.points(1, i) * (inputs.points(2, i) - 1) + 0.2 * draws.unit() - 0.4;
      noise_factor(i) = 0.5 + draws.unit();
    }
  }
};

Json listed(const Eigen::VectorXd& vector) { return std::vector<double>(vector.begin(), vector.end()); }

Json rows(const Eigen::MatrixXd& points) {
  Json all = Json::array();
  for (Eigen::Index i = 0; i < points.cols(); ++i) all.push_back(listed(points.col(i)));
  return all;
}

Eigen::VectorXd logs_near(const GaussianPosterior& posterior, Draws& draws) {
  Eigen::VectorXd logs = posterior.start();
  for (double& value : logs) value += draws.unit() - 0.5;
  return logs;
}

TEST(GaussianProcess, PredictsWhatThePosteriorsFormulasGive) {
  for (const int pending : {0, 4}) {
    const Case data(5, 24);
    const Case at(6, 9);
    const GaussianHyperparameters hyper{Eigen::Vector3d(-0.7, 0.2, 0.1), 0.3, -2.5};
    const Eigen::VectorXd targets = data.targets.head(24 - pending);
    const auto found = GaussianProcess(data.inputs, targets, data.noise_factor, pending, hyper).predict(at.inputs);
    const Json expected = reference({{"what", "gaussian_process"},
                                     {"points", rows(data.inputs.points)},
                                     {"at", rows(at.inputs.points)},
                                     {"targets", listed(targets)},
                                     {"noise_factor", listed(data.noise_factor)},
                                     {"nominal", data.inputs.nominal},
                                     {"log_length", listed(hyper.log_length)},
                                     {"log_variance", hyper.log_variance},
                                     {"log_noise", hyper.log_noise}});
    for (int i = 0; i < 9; ++i) {
      EXPECT_NEAR(found.mean(i), expected.at("mean").at(static_cast<std::size_t>(i)).get<double>(), 1e-8) << pending;
      EXPECT_NEAR(found.deviation(i), expected.at("deviation").at(static_cast<std::size_t>(i)).get<double>(), 1e-8) << pending;
    }
  }
}

// With known functions of N(0, 1) weights the covariance has their products too, and the mean is what was expected and what the
// rest of the targets adds to it (Rasmussen and Williams, 2.38 with b = 0 and B = 1).
TEST(GaussianProcess, AddsWhatIsKnownBeforehand) {
  Case data(7, 18);
  Case at(8, 5);
  Draws draws(1, 2, 3);
  for (GaussianInputs* inputs : {&data.inputs, &at.inputs}) {
    const Eigen::Index points = inputs->points.cols();
    inputs->expected = Eigen::VectorXd::NullaryExpr(points, [&] { return draws.unit(); });
    inputs->trends = Eigen::MatrixXd::NullaryExpr(2, points, [&] { return draws.unit() - 0.5; });
  }
  const GaussianHyperparameters hyper{Eigen::Vector3d(-0.7, 0.2, 0.1), 0.3, -2.5};
  const auto found = GaussianProcess(data.inputs, data.targets, data.noise_factor, 0, hyper).predict(at.inputs);

  const auto kernel = [&](const GaussianInputs& a, Eigen::Index i, const GaussianInputs& b, Eigen::Index j) {
    double squared = 0;
    for (Eigen::Index d = 0; d < 3; ++d) {
      const double apart = a.points(d, i) - b.points(d, j);
      squared += std::exp(-2 * hyper.log_length(d)) * (d == 2 ? (apart != 0 ? 1 : 0) : apart * apart);
    }
    const double r = std::sqrt(5 * squared);
    return std::exp(hyper.log_variance) * (1 + r + r * r / 3) * std::exp(-r) + a.trends.col(i).dot(b.trends.col(j));
  };
  const Eigen::Index n = data.targets.size();
  const double jitter = kGaussianJitter * std::exp(hyper.log_variance);
  const Eigen::MatrixXd all = Eigen::MatrixXd::NullaryExpr(n, n, [&](Eigen::Index i, Eigen::Index j) {
    const double noise = i == j ? std::exp(hyper.log_noise) * data.noise_factor(i) + jitter : 0;
    return kernel(data.inputs, i, data.inputs, j) + noise;
  });
  for (Eigen::Index i = 0; i < at.targets.size(); ++i) {
    const auto to_input = [&](Eigen::Index j) { return kernel(data.inputs, j, at.inputs, i); };
    const Eigen::VectorXd to = Eigen::VectorXd::NullaryExpr(n, to_input);
    const Eigen::VectorXd solved = all.fullPivLu().solve(to);
    EXPECT_NEAR(found.mean(i), at.inputs.expected(i) + solved.dot(data.targets - data.inputs.expected), 1e-8);
    EXPECT_NEAR(found.deviation(i), std::sqrt(kernel(at.inputs, i, at.inputs, i) - solved.dot(to)), 1e-8);
  }
}

TEST(GaussianProcess, PosteriorsSlopeIsThatOfFiniteDifferencesWithWhatIsKnown) {
  Case data(9, 15);
  Draws draws(1, 2, 4);
  data.inputs.trends = Eigen::MatrixXd::NullaryExpr(2, 15, [&] { return draws.unit() - 0.5; });
  const GaussianPriors priors{Eigen::Vector3d(-0.7, -0.5, 0), 0.8, 0.1, 0.5, -3, 0.9};
  const GaussianPosterior posterior(data.inputs, data.targets, data.noise_factor, priors);
  const Eigen::VectorXd logs = logs_near(posterior, draws);
  Eigen::VectorXd gradient;
  Eigen::VectorXd unused;
  posterior.at(logs, gradient);
  constexpr double kStep = 1e-5;
  for (Eigen::Index d = 0; d < logs.size(); ++d) {
    const Eigen::VectorXd step = kStep * Eigen::VectorXd::Unit(logs.size(), d);
    const double slope = (posterior.at(logs + step, unused) - posterior.at(logs - step, unused)) / (2 * kStep);
    EXPECT_NEAR(gradient(d), slope, 1e-5) << d;
  }
  Case without = data;
  without.inputs.trends.resize(0, 0);
  const GaussianPosterior plain(without.inputs, data.targets, data.noise_factor, priors);
  EXPECT_NE(posterior.at(logs, unused), plain.at(logs, unused));
}

TEST(GaussianProcess, PosteriorDensityAndItsSlopeAreThoseOfFiniteDifferences) {
  Draws draws(3, 2, 0);
  for (const std::uint64_t seed : {11, 12, 13}) {
    const Case data(seed, 20);
    const GaussianPriors priors{Eigen::Vector3d(-0.7, -0.5, 0), 0.8, 0.1, 0.5, -3, 0.9};
    const GaussianPosterior posterior(data.inputs, data.targets, data.noise_factor, priors);
    const Eigen::VectorXd logs = logs_near(posterior, draws);
    Eigen::VectorXd gradient;
    const double density = posterior.at(logs, gradient);
    const Json expected = reference({{"what", "log_posterior"},
                                     {"points", rows(data.inputs.points)},
                                     {"targets", listed(data.targets)},
                                     {"noise_factor", listed(data.noise_factor)},
                                     {"nominal", data.inputs.nominal},
                                     {"logs", listed(logs)},
                                     {"median", {-0.7, -0.5, 0, 0.1, -3}},
                                     {"deviation", {0.8, 0.8, 0.8, 0.5, 0.9}}});
    EXPECT_NEAR(density, expected.at("density").get<double>(), 1e-8);
    for (int i = 0; i < logs.size(); ++i) {
      EXPECT_NEAR(gradient(i), expected.at("gradient").at(static_cast<std::size_t>(i)).get<double>(), 1e-5) << i;
    }
  }
}

TEST(GaussianProcess, FitEndsWhereThePosteriorIsFlat) {
  const Case data(21, 40);
  const GaussianPriors priors{Eigen::Vector3d(-0.7, -0.7, 0), 1, 0, 0.5, -3, 1};
  const GaussianPosterior posterior(data.inputs, data.targets, data.noise_factor, priors);
  const GaussianHyperparameters fitted = fit_gaussian_process(data.inputs, data.targets, data.noise_factor, priors, 200);
  Eigen::VectorXd logs(5);
  logs << fitted.log_length, fitted.log_variance, fitted.log_noise;
  Eigen::VectorXd slope_at_start;
  Eigen::VectorXd slope;
  const double at_start = posterior.at(posterior.start(), slope_at_start);
  EXPECT_GT(posterior.at(logs, slope), at_start);
  EXPECT_LT(slope.norm(), 0.05 * slope_at_start.norm());
}

}  // namespace
}  // namespace tuneband::test

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "search_spaces/draws.hpp"
#include "tests/reference/reference.hpp"

namespace tuneband::test {
namespace {

TEST(NormalDistribution, QuantilesAreThoseOfASecondImplementation) {
  const std::vector<double> shares{1e-300, 1e-12, 0.001, 0.2, 0.5, 0.7, 0.975, 1 - 1e-9};
  const Json expected = reference({{"what", "normal_quantiles"}, {"shares", shares}});
  for (std::size_t i = 0; i < shares.size(); ++i) {
    EXPECT_NEAR(normal_quantile(shares[i]), expected.at(i).get<double>(), 1e-9) << shares[i];
    EXPECT_NEAR(normal_cdf(normal_quantile(shares[i])), shares[i], 1e-12);
  }
}

// Beyond 6 the series' next term is 105 / z^6.
TEST(NormalDistribution, LogOfTheImprovementIsThatOfItsIntegral) {
  const std::vector<double> means{-8, -3, -1, 0, 0.5, 2, 5, 5.9, 6.5, 8, 12, 30, 60};
  const Json expected = reference({{"what", "log_unit_improvements"}, {"means", means}});
  for (std::size_t i = 0; i < means.size(); ++i) {
    const double tolerance = means[i] < 6 ? 1e-6 : 110 / std::pow(means[i], 6) + 1e-6;
    EXPECT_NEAR(log_unit_improvement(means[i]), expected.at(i).get<double>(), tolerance) << means[i];
  }
}

}  // namespace
}  // namespace tuneband::test

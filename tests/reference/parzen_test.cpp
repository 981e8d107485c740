#include "search_spaces/parzen.hpp"

#include <gtest/gtest.h>

#include "search_spaces/draws.hpp"
#include "tests/reference/reference.hpp"

namespace tuneband::test {
namespace {

// The densities of `count` random observations at random places, and what the reference gives.
void expect_densities(const Encoding::Dimension& dimension, int count) {
  Draws draws(9, 3, count);
  const auto place = [&] {
    if (dimension.categories > 0) return static_cast<double>(draws.below(dimension.categories));
    return draws.unit();
  };
  std::vector<double> coordinates;
  std::vector<double> at;
  for (int i = 0; i < count; ++i) coordinates.push_back(place());
  for (int i = 0; i < 20; ++i) at.push_back(place());
  const ParzenEstimator estimator(dimension, coordinates);
  const Json expected = reference({{"what", "parzen"},
                                   {"coordinates", coordinates},
                                   {"categories", dimension.categories},
                                   {"step", dimension.step},
                                   {"at", at}});
  for (std::size_t i = 0; i < at.size(); ++i) {
    EXPECT_NEAR(estimator.log_density(at[i]), expected.at(i).get<double>(), 1e-9) << count << " at " << at[i];
  }
}

TEST(ParzenEstimator, HasTheDensityOfAMixtureOfTruncatedNormals) {
  for (const int count : {0, 1, 2, 7, 26, 140}) expect_densities({0, 0, 0}, count);
}

TEST(ParzenEstimator, GivesAnIntTheShareOfItsInterval) {
  for (const int count : {0, 3, 40}) expect_densities({0, 0, 0.1}, count);
}

TEST(ParzenEstimator, CountsCategoriesWithThePriorSpreadEvenly) {
  for (const int count : {0, 1, 40}) expect_densities({0, 4, 0}, count);
}

}  // namespace
}  // namespace tuneband::test

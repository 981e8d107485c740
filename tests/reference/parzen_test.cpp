#include "search_spaces/parzen.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "search_spaces/draws.hpp"
#include "tests/reference/reference.hpp"

namespace tuneband::test {
namespace {

struct ParzenCase {
  Encoding::Dimension dimension;
  int observations = 0;
  std::uint64_t seed = 9;
  bool alike = false;  // some of the observations
};

// The densities at random places, of random observations, and what the reference gives.
void expect_densities(const std::vector<ParzenCase>& cases) {
  std::vector<std::vector<double>> found;
  Json questions = Json::array();
  for (const auto& [dimension, observations, seed, alike] : cases) {
    Draws draws(seed, 3, observations);
    const auto place = [&, categories = dimension.categories, tenths = alike] {
      if (categories > 0) return static_cast<double>(draws.below(categories));
      return tenths ? static_cast<double>(draws.below(11)) / 10 : draws.unit();
    };
    std::vector<double> coordinates(static_cast<std::size_t>(observations));
    std::vector<double> at(20);
    std::generate(coordinates.begin(), coordinates.end(), place);
    std::generate(at.begin(), at.end(), place);
    questions.push_back({{"what", "parzen"},
                         {"coordinates", coordinates},
                         {"categories", dimension.categories},
                         {"step", dimension.step},
                         {"at", at}});
    const ParzenEstimator estimator(dimension, coordinates);
    found.emplace_back();
    for (const double coordinate : at) found.back().push_back(estimator.log_density(coordinate));
  }
  const Json expected = reference(questions);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (std::size_t j = 0; j < found[i].size(); ++j) {
      EXPECT_NEAR(found[i][j], expected.at(i).at(j).get<double>(), 1e-9) << "case " << i << " at " << questions[i]["at"][j];
    }
  }
}

TEST(ParzenEstimator, HasTheDensityOfAMixtureOfTruncatedNormals) {
  constexpr Encoding::Dimension kNumber{0, 0, 0};
  std::vector<ParzenCase> cases;
  for (const int count : {0, 1, 2, 7, 26, 27, 140}) cases.push_back({kNumber, count});
  for (const std::uint64_t seed : {1, 2, 3, 4}) cases.push_back({kNumber, 1, seed});  // on both sides of the prior's centre
  for (const int count : {2, 12, 60}) cases.push_back({kNumber, count, 9, true});
  expect_densities(cases);
}

TEST(ParzenEstimator, GivesAnIntTheShareOfItsInterval) {
  constexpr Encoding::Dimension kInt{0, 0, 0.1};
  expect_densities({{kInt, 0}, {kInt, 3}, {kInt, 40}, {{0, 0, 0.5}, 40}});
}

TEST(ParzenEstimator, CountsCategoriesWithThePriorSpreadEvenly) {
  constexpr Encoding::Dimension kCategory{0, 4, 0};
  expect_densities({{kCategory, 0}, {kCategory, 1}, {kCategory, 40}, {{0, 1, 0}, 3}});
}

// How often of `kDrawn` times a draw falls into each of `cells` equal parts of the scale, or takes each category.
constexpr int kDrawn = 20000;
std::vector<double> drawn_shares(const ParzenEstimator& estimator, std::size_t cells, bool categories) {
  std::vector<double> shares(cells);
  Draws draws(3, 1, 4);
  for (int i = 0; i < kDrawn; ++i) {
    const double drawn = estimator.draw(draws);
    EXPECT_GE(drawn, 0);
    EXPECT_LE(drawn, 1 + (categories ? static_cast<double>(cells) - 2 : 0));
    const double cell = categories ? drawn : std::min(drawn * static_cast<double>(cells), static_cast<double>(cells) - 1);
    shares[static_cast<std::size_t>(cell)] += 1.0 / kDrawn;
  }
  return shares;
}

TEST(ParzenEstimator, DrawsNumbersByItsDensity) {
  constexpr std::size_t kParts = 20;
  constexpr int kPoints = 200;  // of a part, for its integral
  for (const auto& observed : std::vector<std::vector<double>>{{}, {0.9}, {0.02, 0.7}, {0.1, 0.12, 0.95, 1, 1}}) {
    const ParzenEstimator estimator({0, 0, 0}, observed);
    const std::vector<double> shares = drawn_shares(estimator, kParts, false);
    for (std::size_t cell = 0; cell < kParts; ++cell) {
      double expected = 0;
      for (int i = 0; i < kPoints; ++i) {
        const double at = (static_cast<double>(cell) + (i + 0.5) / kPoints) / kParts;
        expected += std::exp(estimator.log_density(at)) / std::sqrt(2 * std::numbers::pi) / (kPoints * kParts);
      }
      EXPECT_NEAR(shares[cell], expected, 4 * std::sqrt(expected / kDrawn)) << observed.size() << " cell " << cell;
    }
  }
}

TEST(ParzenEstimator, DrawsCategoriesByTheirProbabilities) {
  const ParzenEstimator estimator({0, 4, 0}, {0, 2, 2, 3, 3, 3});
  const std::vector<double> shares = drawn_shares(estimator, 4, true);
  for (std::size_t category = 0; category < 4; ++category) {
    const double expected = std::exp(estimator.log_density(static_cast<double>(category)));
    EXPECT_NEAR(shares[category], expected, 4 * std::sqrt(expected / kDrawn)) << category;
  }
}

}  // namespace
}  // namespace tuneband::test

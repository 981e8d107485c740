#include <gtest/gtest.h>

#include <cmath>

#include "search_spaces/regression_forest.hpp"
#include "tests/reference/reference.hpp"

namespace tuneband::test {
namespace {

using Kind = RegressionForest::Kind;

// Random points of two numbers (one in tenths, and inactive at times) and a category, with targets that follow them roughly.
struct Sample {
  explicit Sample(std::int64_t seed, int count) {
    Draws draws(seed, 1, 5);
    for (int i = 0; i < count; ++i) {
      const double tenths = static_cast<double>(draws.below(11)) / 10;
      points.push_back({draws.unit(), draws.unit() < 0.2 ? kInactive : tenths, static_cast<double>(draws.below(4))});
      const Point& point = points.back();
      targets.push_back(2 * point[0] - point[1] * point[1] + (point[2] == 2 ? 1 : 0) + 0.3 * draws.normal());
    }
    for (const Point& point : points) rows.push_back(point.data());
  }

  RegressionForest forest(const ForestOptions& options) const {
    return {{Kind::number, Kind::number, Kind::category}, rows, targets, options, 7};
  }

  std::vector<Point> points;
  std::vector<double> targets;
  std::vector<const double*> rows;
};

const Json kCategorical = {false, false, true};

TEST(RegressionForestReference, EverySplitTakesAwayTheMostVarianceThatAnyCould) {
  for (const std::size_t leaf_min : {1u, 3u, 8u}) {
    const Sample sample(static_cast<std::int64_t>(leaf_min), 90);
    const RegressionForest forest = sample.forest({.trees = 1, .leaf_min = leaf_min, .bootstrap = false});
    const RegressionForest::Tree& tree = forest.trees().at(0);
    const Json nodes = reference({{"what", "splits"},
                                  {"points", sample.points},
                                  {"targets", sample.targets},
                                  {"categorical", kCategorical},
                                  {"leaf_min", leaf_min},
                                  {"tree", trees_of(forest).at(0)}});
    ASSERT_EQ(nodes.size(), tree.size());
    EXPECT_GT(tree.size(), 90 / leaf_min / 2);
    for (std::size_t i = 0; i < tree.size(); ++i) {
      EXPECT_NEAR(tree[i].mean, nodes[i]["mean"].get<double>(), 1e-9) << i;
      EXPECT_NEAR(tree[i].variance, nodes[i]["variance"].get<double>(), 1e-9) << i;
      EXPECT_NEAR(nodes[i]["gain"].get<double>(), nodes[i]["best"].get<double>(), 1e-9) << i;
      EXPECT_GE(nodes[i]["count"].get<std::size_t>(), leaf_min) << i;
    }
  }
}

TEST(RegressionForestReference, PredictsTheMeanOfItsTreesAndTheVarianceBetweenAndWithinThem) {
  const Sample sample(4, 90);
  const RegressionForest forest = sample.forest({.trees = 12, .leaf_min = 3, .dimension_share = 0.4});
  const std::vector<Point> at = Sample(6, 60).points;
  const Json expected = reference({{"what", "forest"}, {"at", at}, {"categorical", kCategorical}, {"trees", trees_of(forest)}});
  for (std::size_t i = 0; i < at.size(); ++i) {
    const RegressionForest::Prediction found = forest.predict(at[i].data());
    EXPECT_NEAR(found.mean, expected["mean"][i].get<double>(), 1e-9) << i;
    EXPECT_NEAR(found.variance, expected["variance"][i].get<double>(), 1e-9) << i;
  }
}

// A tree of leaves of one point gives what it has seen as it was.
TEST(RegressionForestReference, OutOfBagIsTheMeanOfTheTreesThatDidNotSeeAPoint) {
  const Sample sample(4, 40);
  for (const int trees : {1, 3, 20}) {
    const RegressionForest forest = sample.forest({.trees = trees, .leaf_min = 1});
    Json questions = Json::array();
    for (const Json& tree : trees_of(forest)) {
      questions.push_back({{"what", "forest"}, {"at", sample.points}, {"categorical", kCategorical}, {"trees", {tree}}});
    }
    const Json answers = reference(questions);
    int seen_by_all = 0;
    for (std::size_t i = 0; i < sample.rows.size(); ++i) {
      double sum = 0;
      int count = 0;
      for (const Json& answer : answers) {
        const auto mean = answer["mean"][i].get<double>();
        if (std::abs(mean - sample.targets[i]) < 1e-12) continue;
        sum += mean;
        ++count;
      }
      seen_by_all += count == 0;
      if (count == 0) {
        EXPECT_TRUE(std::isnan(forest.out_of_bag()[i])) << i;
      } else {
        EXPECT_NEAR(forest.out_of_bag()[i], sum / count, 1e-9) << i;
      }
    }
    EXPECT_EQ(seen_by_all > 0, trees < 20);
  }
}

}  // namespace
}  // namespace tuneband::test

#include "search_spaces/importance.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "search_spaces/encoding.hpp"
#include "search_spaces/sampler.hpp"
#include "tests/reference/reference.hpp"

namespace tuneband::test {
namespace {

constexpr int kCells = 40;  // of a number's scale, as importance.cpp has them

const char* const kSpace = R"({"a": {"type": "float", "min": 0, "max": 1}, "b": {"type": "float", "min": 0, "max": 1},
                               "c": {"type": "categorical", "values": ["x", "y", "z"]}})";

TEST(ImportanceReference, SharesAreThoseOfTheWholeGridsVariance) {
  Diagnostics diagnostics;
  const SearchSpace space = SearchSpace::parse(Json::parse(kSpace), "search_space", diagnostics);
  const Encoding encoding(space);
  const auto sampler = make_sampler({.type = SamplerType::random, .seed = 4}, space);
  History history({1});
  std::vector<Point> points;
  std::vector<double> costs;
  for (int trial = 0; trial < 120; ++trial) {
    history.add_trial(sampler->suggest(trial, history));
    points.push_back(encoding.encode(history.trials().back().configuration));
    const Point& at = points.back();
    costs.push_back(3 * at[0] + 2 * at[0] * at[1] + (at[2] == 1 ? 1 : 0) * at[1]);
    history.add_result(trial, 1, costs.back());
  }
  const double lowest = *std::min_element(costs.begin(), costs.end());
  for (double& cost : costs) cost -= lowest;  // as the forest is taught
  std::vector<const double*> rows;
  for (const Point& point : points) rows.push_back(point.data());
  const RegressionForest forest({Kind::number, Kind::number, Kind::category}, rows, costs, kImportanceForest, kImportanceStream);
  Json scale = Json::array();
  for (int cell = 0; cell < kCells; ++cell) scale.push_back((cell + 0.5) / kCells);
  const Json expected = reference({{"what", "anova"},
                                   {"axes", {scale, scale, {0, 1, 2}}},
                                   {"categorical", {false, false, true}},
                                   {"trees", trees_of(forest)}});
  const auto found = importance_of(space, history);
  ASSERT_TRUE(found);
  const auto expect_share = [&](std::size_t index, double share, double deviation) {
    EXPECT_NEAR(share, expected.at("mean").at(index).get<double>(), 1e-9) << index;
    EXPECT_NEAR(deviation, expected.at("deviation").at(index).get<double>(), 1e-9) << index;
  };
  for (const MainEffect& effect : found->parameters) {
    expect_share(static_cast<std::size_t>(effect.parameter[0] - 'a'), effect.share, effect.deviation);
  }
  ASSERT_EQ(found->interactions.size(), 3u);
  for (const Interaction& pair : found->interactions) {
    const int both = (pair.first[0] - 'a') + (pair.second[0] - 'a');  // ab: 1, ac: 2, bc: 3
    expect_share(static_cast<std::size_t>(2 + both), pair.share, pair.deviation);
  }
}

}  // namespace
}  // namespace tuneband::test

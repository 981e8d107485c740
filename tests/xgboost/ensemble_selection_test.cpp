#include "workers/xgboost/ensemble_selection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tuneband::workers {
namespace {

using testing::ElementsAre;

// How far from 0 the mean of the margins is.
Result<double> distance_from_zero(std::span<const float> margins) {
  double sum = 0;
  for (const float margin : margins) sum += static_cast<double>(margin);
  return std::abs(sum / static_cast<double>(margins.size()));
}

std::vector<int> picked(const std::vector<std::vector<float>>& margins, const CostOfMargins& cost = distance_from_zero) {
  const auto picks = select_ensemble(margins, cost);
  EXPECT_TRUE(picks) << describe(picks.error());
  return *picks;
}

TEST(EnsembleSelection, AModelAloneIsThePickOfItsBag) { EXPECT_THAT(picked({{1, 2}}), ElementsAre(8)); }

TEST(EnsembleSelection, BagsShareNoCandidateAndHaveFiveOrMore) {
  const auto all_alike = [](std::size_t count) { return picked(std::vector<std::vector<float>>(count, {1})); };
  EXPECT_THAT(all_alike(9), ElementsAre(8, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(all_alike(10), ElementsAre(8, 8, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(all_alike(15), ElementsAre(8, 8, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(all_alike(20), ElementsAre(8, 8, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
}

TEST(EnsembleSelection, CandidatesAreDealtToTheBagsInTurn) {
  std::vector<std::vector<float>> margins(15, {9});
  margins[3] = margins[7] = margins[14] = {0};
  EXPECT_THAT(picked(margins), ElementsAre(0, 0, 0, 8, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 8));
}

// 1, then (1 + 1) / 2 or (1 - 3) / 2, of which the first of equals; (1 + 1 - 3) / 3 is a third, and so on: what makes 0 is three
// times the one and once the other.
TEST(EnsembleSelection, ACandidateIsTakenAsOftenAsTheMeanGainsByIt) {
  EXPECT_THAT(picked({{1}, {-3}}), ElementsAre(6, 2));
  EXPECT_THAT(picked({{-3}, {1}}), ElementsAre(2, 6));
}

TEST(EnsembleSelection, OfEqualsTheBetterCandidateIsTaken) {
  EXPECT_THAT(picked({{1}, {-1}}), ElementsAre(4, 4));
  EXPECT_THAT(picked({{2}, {2}}), ElementsAre(8, 0));
}

TEST(EnsembleSelection, WhereBagsHaveToTakeBadOnesOneBagPicksOfAll) {
  std::vector<std::vector<float>> margins(15, {8});
  margins[0] = {1};
  margins[7] = {-3};  // of the second bag, whose average with the first is worth more than the first alone
  EXPECT_THAT(picked(margins), ElementsAre(18, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0));
  margins[0] = {4};
  EXPECT_THAT(picked(margins), ElementsAre(8, 2, 8, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0))
      << "the bags' average, 94 / 24, is better";
}

TEST(EnsembleSelection, WhatIsWorthNothingIsNotTaken) {
  const auto cost = [](std::span<const float> margins) -> Result<double> {
    return margins[0] > 5 ? std::nan("") : static_cast<double>(margins[0]);
  };
  EXPECT_THAT(picked({{9}, {1}, {2}}, cost), ElementsAre(0, 8, 0));
  EXPECT_FALSE(select_ensemble(std::vector<std::vector<float>>{{9}, {9}}, cost));
  EXPECT_FALSE(select_ensemble(std::vector<std::vector<float>>{}, cost));
}

TEST(EnsembleSelection, ByRankTheBestThirdCountsTenAtTheMost) {
  const auto equals = [](std::size_t count) { return weigh_by_rank(std::vector<double>(count, 0.5), 0); };
  EXPECT_THAT(equals(1), ElementsAre(1));
  EXPECT_THAT(equals(3), ElementsAre(1, 0, 0));
  EXPECT_THAT(equals(4), ElementsAre(2, 1, 0, 0));
  EXPECT_THAT(equals(9), ElementsAre(3, 2, 1, 0, 0, 0, 0, 0, 0));
  const auto many = equals(40);
  EXPECT_EQ(many[0], 10);
  EXPECT_EQ(many[9], 1);
  EXPECT_EQ(many[10], 0);
  EXPECT_EQ(many.size(), 40U);
}

TEST(EnsembleSelection, ByRankNoneCountsThatIsFurtherFromTheBestThanAllowed) {
  const std::vector<double> lower{1, 1.5, 1.75, 3, 3, 3, 3, 3, 3};
  EXPECT_THAT(weigh_by_rank(lower, 0.75), ElementsAre(3, 2, 1, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(weigh_by_rank(lower, 0.7), ElementsAre(2, 1, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(weigh_by_rank(lower, 0), ElementsAre(1, 0, 0, 0, 0, 0, 0, 0, 0));
  const std::vector<double> higher{0.75, 0.5, 0.25, 0, 0, 0, 0, 0, 0};
  EXPECT_THAT(weigh_by_rank(higher, 0.25), ElementsAre(2, 1, 0, 0, 0, 0, 0, 0, 0));
}

TEST(EnsembleSelection, AFaultOfTheMeasureEndsIt) {
  const auto picks = select_ensemble(std::vector<std::vector<float>>{{1}}, [](std::span<const float>) -> Result<double> {
    return Error{ErrorCode::unavailable, "no memory", "", ""};
  });
  ASSERT_FALSE(picks);
  EXPECT_EQ(picks.error().message, "no memory");
}

}  // namespace
}  // namespace tuneband::workers

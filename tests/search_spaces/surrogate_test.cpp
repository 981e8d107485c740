#include "search_spaces/surrogate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/search_spaces/spaces.hpp"

namespace tuneband {
namespace {

using testing_spaces::space_of;

// booster, eta, max_depth
const Encoding& mixed() {
  static const Encoding encoding(space_of(R"({
    "eta": {"type": "float", "min": 0, "max": 1},
    "max_depth": {"type": "int", "min": 1, "max": 200},
    "booster": {"type": "categorical", "values": ["gbtree", "dart"]}})"));
  return encoding;
}

TEST(BestCandidate, IsTheGreatestOfThoseThatAreNotTaken) {
  const std::vector<Point> candidates{{0, 0.4, 0.5}, {0, 0.5, 0.5}, {0, 0.6, 0.5}};
  EXPECT_EQ(best_candidate(mixed(), candidates, {1, 3, 2}, {}), 1u);
  EXPECT_EQ(best_candidate(mixed(), candidates, {1, 3, 2}, {candidates[1]}), 2u);
  EXPECT_EQ(best_candidate(mixed(), candidates, {1, 3, 2}, candidates), 1u) << "all are taken";
}

TEST(BestCandidate, IsNoNearDuplicateAtAnEndOfAFloatsRange) {
  const std::vector<Point> candidates{{0, 0.998, 0.5}, {0, 0.3, 0.5}};
  const auto chosen_beside = [&](const Point& taken) { return best_candidate(mixed(), candidates, {2, 1}, {taken}); };
  EXPECT_EQ(chosen_beside({0, 0.99, 0.509}), 1u);
  EXPECT_EQ(chosen_beside({0, 0.98, 0.5}), 0u) << "0.018 apart";
  EXPECT_EQ(chosen_beside({0, 0.998, 0.52}), 0u) << "apart in another number";
  EXPECT_EQ(chosen_beside({1, 0.998, 0.5}), 0u) << "another category";
}

TEST(BestCandidate, MayBeCloseToWhatIsTakenWithinTheRange) {
  EXPECT_FALSE(is_taken(mixed(), {0, 0.5, 0.5}, {{0, 0.5001, 0.5}}));
  EXPECT_FALSE(is_taken(mixed(), {0, 0.5, 0.998}, {{0, 0.5, 0.993}})) << "whole numbers are the same or not";
  EXPECT_TRUE(is_taken(mixed(), {0, 0.002, 0.5}, {{0, 0.008, 0.5}}));
  EXPECT_TRUE(is_taken(mixed(), {0, 0.5, 0.5}, {{0, 0.5, 0.5}}));
}

TEST(UnfinishedPoints, AreOfTrialsWithoutAResultAtMaxResourceThatHaveNotFailedTheNewestFirst) {
  History history({1, 3, 9});
  const std::vector<Point> points(5, Point{0.5});
  for (int i = 0; i < 5; ++i) history.add_trial({{"x", 0.5}});
  history.add_result(0, 9, 0.1);  // finished
  history.add_result(1, 3, 0.1);  // stopped below
  history.end_trial(1, false);
  history.end_trial(2, true);     // failed
  history.add_result(3, 1, 0.1);  // waits
  const auto of = [&](std::size_t most) { return unfinished_points(history, points, most); };
  EXPECT_THAT(of(10), testing::ElementsAre(&points[4], &points[3], &points[1]));
  EXPECT_THAT(of(2), testing::ElementsAre(&points[4], &points[3]));
  EXPECT_THAT(pending_points(history, points, 10), testing::ElementsAre(&points[4]));
}

// `own` points of the job with targets 0, 1, 2... and as many `earlier` ones; how many are chosen of each, and how many of the
// best of its own are among them.
struct Chosen {
  int own = 0;
  int earlier = 0;
  int best_own = 0;
};

Chosen chosen_of(int own, int earlier, std::size_t most) {
  static const Point kPoint{0, 0.5, 0.5};
  std::vector<ScoredPoint> points;
  for (int i = 0; i < own; ++i) points.push_back({&kPoint, i, 1, Loss(i), static_cast<double>(i)});
  for (int i = 0; i < earlier; ++i) points.push_back({&kPoint, -1 - i, 1, kWorstLoss, static_cast<double>(i)});
  std::reverse(points.begin(), points.end());
  Chosen chosen;
  for (const ScoredPoint& one : chosen_points(points, most, 1)) {
    ++(one.trial < 0 ? chosen.earlier : chosen.own);
    chosen.best_own += one.trial >= 0 && one.target < static_cast<double>(most) / 4 ? 1 : 0;
  }
  return chosen;
}

TEST(ChosenPoints, AreHalfOfEarlierJobsUnlessOneOfTheTwoHasFewer) {
  const auto expect = [](const Chosen& chosen, int own, int earlier) {
    EXPECT_EQ(chosen.own, own);
    EXPECT_EQ(chosen.earlier, earlier);
  };
  expect(chosen_of(100, 100, 20), 10, 10);
  expect(chosen_of(100, 4, 20), 16, 4);
  expect(chosen_of(6, 100, 20), 6, 14);
  expect(chosen_of(6, 4, 20), 6, 4);
  expect(chosen_of(100, 0, 20), 20, 0);
  EXPECT_EQ(chosen_of(100, 100, 20).best_own, 5);
}

TEST(MostPromising, AreTheBestConfigurationsEachOnce) {
  const std::vector<Point> points{{0, 0.1, 0.5}, {0, 0.2, 0.5}, {0, 0.3, 0.5}};
  const Point again = points[2];
  const std::vector<ScoredPoint> scored{
      {&points[0], 0, 1, Loss(), 2}, {&points[1], 1, 1, Loss(), 1}, {&points[2], 2, 1, Loss(), 3}, {&again, 3, 1, Loss(), 0}};
  EXPECT_THAT(most_promising(scored, 2), testing::ElementsAre(&again, &points[1]));
  EXPECT_THAT(most_promising(scored, 9), testing::ElementsAre(&again, &points[1], &points[0]));
}

}  // namespace
}  // namespace tuneband

// Which round of a training is the best so far, and whether its model is to be the trial's.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "workers/xgboost/best_round.hpp"

namespace tuneband::test {
namespace {

class BestRoundSoFar : public testing::Test {
 protected:
  BestRoundSoFar() { order_.objective_metric = "validation-loss"; }

  void take(std::int64_t round, double value) { best_.take(round, {{"train-loss", 0}, {"validation-loss", value}}, order_); }

  protocol::AssignmentOrder order_;
  workers::BestRound best_;
};

TEST_F(BestRoundSoFar, IsTheFirstOfTheBestValues) {
  take(1, 3);
  take(2, 2);
  take(3, 2);
  take(4, 5);
  EXPECT_EQ(best_.round(), 2);
  EXPECT_EQ(best_.value(order_), 2);
}

TEST_F(BestRoundSoFar, IsTheHighestWhereTheGoalIsToMaximize) {
  order_.maximize = true;
  take(1, 3);
  take(2, 2);
  take(3, 4);
  EXPECT_EQ(best_.round(), 3);
}

TEST_F(BestRoundSoFar, IsNoneWithoutAFiniteValueOfTheObjective) {
  take(1, std::nan(""));
  take(2, -std::numeric_limits<double>::infinity());
  best_.take(3, {{"validation-auc", 0.5}}, order_);
  EXPECT_FALSE(best_);
  EXPECT_FALSE(best_.betters_lower_rungs(order_));
  EXPECT_EQ(best_.text(), "");
}

TEST_F(BestRoundSoFar, ReplacesTheModelOfALowerRungOnlyWhenItIsBetter) {
  take(1, 2);
  EXPECT_TRUE(best_.betters_lower_rungs(order_));
  order_.kept_value = 2;
  EXPECT_FALSE(best_.betters_lower_rungs(order_));
  order_.kept_value = 3;
  EXPECT_TRUE(best_.betters_lower_rungs(order_));
  order_.maximize = true;
  EXPECT_FALSE(best_.betters_lower_rungs(order_));
}

TEST_F(BestRoundSoFar, IsTheSameFromItsText) {
  take(7, 0.125);
  const workers::BestRound again = workers::BestRound::from_text(best_.text());
  ASSERT_TRUE(again);
  EXPECT_EQ(again.observation()->resource, 7);
  EXPECT_EQ(again.observation()->metrics, best_.observation()->metrics);
}

TEST_F(BestRoundSoFar, IsNoneFromATextThatIsNone) {
  for (const char* text : {"", "7", "{}", "{\"resource\": 7}", "{\"resource\": 0.5, \"metrics\": {}}", "{\"resource\": 7, \"met"})
    EXPECT_FALSE(workers::BestRound::from_text(text)) << text;
}

}  // namespace
}  // namespace tuneband::test

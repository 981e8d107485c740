#include "search_spaces/shrinkage.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tuneband::test {

namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

double finer(const EarlyBest& training) {
  const auto found = finer_eta(training);
  EXPECT_TRUE(found.has_value());
  return found.value_or(0);
}

}  // namespace

TEST(FinerEta, ShrinksInAllRoundsAsMuchAsTheTrainingDidUntilHalfARoundAfterItsBest) {
  // A whole training: (1 - eta')^16 = 0.5^(4 + 1/2).
  EXPECT_NEAR(finer({.eta = 0.5, .rounds = 16, .best = 4, .max_rounds = 16}), 1 - std::pow(0.5, 4.5 / 16), 1e-12);
  // A rung of a quarter of the rounds, each of which does what four do at the end: 1 - 0.8^4.
  EXPECT_NEAR(finer({.eta = 0.2, .rounds = 4, .best = 2, .max_rounds = 16, .shrinkage_max = kUnlimited}),
              1 - std::pow(0.8, 4 * 2.5 / 16), 1e-12);
  // One whose total is limited to 8, a ninth of which a round has.
  EXPECT_NEAR(finer({.eta = 0.2, .rounds = 9, .best = 3, .max_rounds = 81}), -std::expm1(-3.5 * 8 / 9 / 81), 1e-12);
  // And one whose own rate is more than that.
  EXPECT_NEAR(finer({.eta = 0.9, .rounds = 9, .best = 2, .max_rounds = 81}), 1 - std::pow(0.1, 2.5 / 81), 1e-12);
}

TEST(FinerEta, IsOfTrainingsWhoseBestRoundCameBeforeTheLastQuarter) {
  EXPECT_TRUE(finer_eta({.eta = 0.5, .rounds = 8, .best = 6, .max_rounds = 81}).has_value());
  EXPECT_FALSE(finer_eta({.eta = 0.5, .rounds = 8, .best = 7, .max_rounds = 81}).has_value());
  EXPECT_FALSE(finer_eta({.eta = 0.5, .rounds = 1, .best = 1, .max_rounds = 81}).has_value());
}

TEST(FinerEta, IsWorthwhileWhereItIsLessThan85PercentOfEta) {
  // Of small rates the total is about proportional: 3.5 of 4 rounds, 2.5 of 3.
  EXPECT_FALSE(finer_eta({.eta = 0.001, .rounds = 4, .best = 3, .max_rounds = 81}).has_value());
  EXPECT_NEAR(finer({.eta = 0.001, .rounds = 3, .best = 2, .max_rounds = 81}) / 0.001, 2.5 / 3, 1e-3);
}

TEST(FinerEta, IsNoneWhereNothingIsKnownOrTheRateIsNoShare) {
  EXPECT_FALSE(finer_eta({.eta = 0.5, .rounds = 8, .best = 0, .max_rounds = 81}).has_value());  // not told
  EXPECT_FALSE(finer_eta({.eta = 0, .rounds = 8, .best = 2, .max_rounds = 81}).has_value());
  EXPECT_FALSE(finer_eta({.eta = 1, .rounds = 8, .best = 2, .max_rounds = 81}).has_value());
  EXPECT_FALSE(finer_eta({.eta = std::nan(""), .rounds = 8, .best = 2, .max_rounds = 81}).has_value());
}

}  // namespace tuneband::test

#include "search_spaces/shrinkage.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tuneband::test {

namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

double adapted(const BestRound& training) {
  const auto found = adapted_eta(training);
  EXPECT_TRUE(found.has_value());
  return found.value_or(0);
}

}  // namespace

TEST(ShrunkEta, LeavesAsMuchInFewerRoundsUpToTheLimit) {
  EXPECT_NEAR(std::pow(1 - shrunk_eta(0.05, 9, 81, 8), 9), std::pow(0.95, 81), 1e-12);
  EXPECT_NEAR(std::pow(1 - shrunk_eta(0.3, 9, 81, 8), 9), std::exp(-8), 1e-12);
  EXPECT_EQ(shrunk_eta(0.9, 9, 81, 8), 0.9);  // 1 - exp(-8 / 9) is less
}

TEST(ShrunkEta, IsEtaItselfAtTheEndAndWhereItIsNoShare) {
  for (const double eta : {0.001, 0.1, 1.0 / 3, 0.7}) EXPECT_EQ(shrunk_eta(eta, 81, 81, 8), eta);
  for (const double eta : {-0.5, 0.0, 1.0, 1.5}) EXPECT_EQ(shrunk_eta(eta, 9, 81, 8), eta);
}

TEST(EtaOfShrinkage, LeavesTheSameInSoManyRounds) {
  EXPECT_NEAR(std::pow(1 - eta_of_shrinkage(3, 7), 7), std::exp(-3), 1e-12);
  EXPECT_EQ(eta_of_shrinkage(kUnlimited, 7), 1);
}

TEST(AdaptedEta, ShrinksAFifthMoreThanUntilHalfARoundAfterABestRoundThatCameEarly) {
  // A whole training: (1 - eta')^16 = 0.5^(1.2 (4 + 1/2)).
  EXPECT_NEAR(adapted({.eta = 0.5, .rounds = 16, .best = 4, .max_rounds = 16}), 1 - std::pow(0.5, 1.2 * 4.5 / 16), 1e-12);
  // A rung of a quarter of the rounds, each of which does what four do at the end: 1 - 0.8^4.
  EXPECT_NEAR(adapted({.eta = 0.2, .rounds = 4, .best = 2, .max_rounds = 16, .shrinkage_max = kUnlimited}),
              1 - std::pow(0.8, 1.2 * 4 * 2.5 / 16), 1e-12);
  // One whose total is limited to 12, a ninth of which a round has.
  EXPECT_NEAR(adapted({.eta = 0.3, .rounds = 9, .best = 3, .max_rounds = 81}), -std::expm1(-1.2 * 3.5 * 12 / 9 / 81), 1e-12);
  // And one whose own rate is more than that.
  EXPECT_NEAR(adapted({.eta = 0.9, .rounds = 9, .best = 2, .max_rounds = 81}), 1 - std::pow(0.1, 1.2 * 2.5 / 81), 1e-12);
}

TEST(AdaptedEta, ShrinksHalfAsMuchAgainWhereTheBestRoundCameInTheLastQuarter) {
  EXPECT_NEAR(adapted({.eta = 0.02, .rounds = 8, .best = 8, .max_rounds = 80, .shrinkage_max = kUnlimited}),
              1 - std::pow(0.98, 1.5), 1e-12);
  EXPECT_NEAR(adapted({.eta = 0.5, .rounds = 8, .best = 7, .max_rounds = 81}), 1 - std::exp(-1.5 * 7 * 12 / 8 / 81), 1e-12);
  EXPECT_NEAR(adapted({.eta = 0.5, .rounds = 8, .best = 6, .max_rounds = 81}), 1 - std::exp(-1.2 * 6.5 * 12 / 8 / 81), 1e-12);
  // One round has no early ones.
  EXPECT_NEAR(adapted({.eta = 0.1, .rounds = 1, .best = 1, .max_rounds = 9}), 1 - std::pow(0.9, 1.5), 1e-12);
}

TEST(AdaptedEta, IsOfRatesThatDifferByMoreThanASeventh) {
  // Of small rates the total is about proportional to the rounds.
  EXPECT_FALSE(adapted_eta({.eta = 0.001, .rounds = 27, .best = 20, .max_rounds = 81}).has_value());  // 1.2 * 20.5 = 24.6 of 27
  EXPECT_NEAR(adapted({.eta = 0.001, .rounds = 27, .best = 18, .max_rounds = 81}) / 0.001, 1.2 * 18.5 / 27, 1e-3);
  EXPECT_FALSE(adapted_eta({.eta = 0.001, .rounds = 27, .best = 21, .max_rounds = 81}).has_value());  // 31.5 of 27
  EXPECT_NEAR(adapted({.eta = 0.001, .rounds = 27, .best = 22, .max_rounds = 81}) / 0.001, 1.5 * 22 / 27, 1e-3);
}

TEST(AdaptedEta, IsNoneWhereNothingIsKnownOrTheRateIsNoShare) {
  EXPECT_FALSE(adapted_eta({.eta = 0.5, .rounds = 8, .best = 0, .max_rounds = 81}).has_value());  // not told
  EXPECT_FALSE(adapted_eta({.eta = 0, .rounds = 8, .best = 2, .max_rounds = 81}).has_value());
  EXPECT_FALSE(adapted_eta({.eta = 1, .rounds = 8, .best = 2, .max_rounds = 81}).has_value());
  EXPECT_FALSE(adapted_eta({.eta = 1.5, .rounds = 8, .best = 2, .max_rounds = 81}).has_value());
  EXPECT_FALSE(adapted_eta({.eta = -0.5, .rounds = 8, .best = 2, .max_rounds = 81}).has_value());
  EXPECT_FALSE(adapted_eta({.eta = std::nan(""), .rounds = 8, .best = 2, .max_rounds = 81}).has_value());
}

}  // namespace tuneband::test

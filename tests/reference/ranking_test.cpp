// The order of several objectives, and how well one rung orders the next.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "scheduler/nondominated_sort.hpp"
#include "scheduler/policies/bracket_choice.hpp"
#include "scheduler/policies/rung_order.hpp"
#include "search_spaces/draws.hpp"
#include "tests/reference/reference.hpp"

namespace tuneband::test {
namespace {

TEST(NonDominatedSort, IsThatOfItsDefinitionWhateverTheOrderOfArrival) {
  for (const int objectives : {2, 3}) {
    for (const std::int64_t seed : {1, 2, 3}) {
      Draws draws(4, 5, seed);
      NondominatedSort fronts;
      Json costs = Json::array();
      for (int trial = 0; trial < 60; ++trial) {
        std::vector<double> cost;
        for (int i = 0; i < objectives; ++i) {
          cost.push_back(static_cast<double>(draws.below(12)) * (i == 0 ? 1 : 0.01));  // with ties; an extent may be below 1
        }
        costs.push_back({trial, cost});
        fronts.add(trial, cost);
      }
      const Json expected = reference({{"what", "non_dominated_sort"}, {"costs", costs}});
      EXPECT_EQ(fronts.front_of(60), 0);  // it has no result
      EXPECT_EQ(fronts.order(), expected.at("order").get<std::vector<int>>());
      for (int trial = 0; trial < 60; ++trial) {
        EXPECT_EQ(fronts.front_of(trial), expected.at("rank").at(static_cast<std::size_t>(trial)).get<int>()) << trial;
      }
    }
  }
}

// Shares as bracket_choice.hpp has them, straight from its words, and the bracket that is furthest behind its share.
TEST(BracketChoice, KeepsEveryBracketNearestToItsShare) {
  constexpr int kRungs = 3;
  constexpr int kEta = 3;
  Draws draws(8, 7, 1);
  RungOrder order(kRungs);
  for (int trial = 0; trial < 12; ++trial) {
    for (int rung = 0; rung < kRungs; ++rung) order.add(rung, trial, {Standing::finite, 0, {trial + 6 * draws.unit()}});
  }
  std::vector<double> shares(kRungs);
  double trust = 1;
  for (int bracket = kRungs - 1; bracket >= 0; --bracket) {
    if (bracket < kRungs - 1) {
      const PairCounts& pairs = order.between(bracket);
      trust *= 2 * (pairs.same_order + 0.9 * 20) / (pairs.pairs + 20) - 1;
    }
    const double of_hyperband = std::pow(kEta, kRungs - 1 - bracket) * kRungs / (kRungs - bracket);
    shares[static_cast<std::size_t>(bracket)] = std::pow(of_hyperband * trust, 2);
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  BracketChoice choice(kRungs, kEta);
  std::vector<int> started(kRungs);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> behind;
    for (std::size_t i = 0; i < shares.size(); ++i) behind.push_back(shares[i] / sum * (trial + 1) - started[i]);
    const auto expected = std::max_element(behind.begin(), behind.end()) - behind.begin();
    const int bracket = choice.choose(order, trial);
    ASSERT_EQ(bracket, expected) << trial;
    choice.started(bracket);
    ++started[static_cast<std::size_t>(bracket)];
  }
  EXPECT_GT(*std::min_element(started.begin(), started.end()), 0);
}

// With eta 4, and four pairs' worth of disagreement between two rungs, both have a share of 1/2.
TEST(BracketChoice, OfBracketsThatAreEquallyFarBehindTheLowestIsChosen) {
  RungOrder order(2);
  for (int trial = 0; trial < 4; ++trial) {
    order.add(0, trial, {Standing::finite, 0, {trial == 0 ? 1.0 : 0.0}});
    order.add(1, trial, {Standing::finite, 0, {trial == 0 ? 0.0 : static_cast<double>(trial)}});
  }
  ASSERT_EQ(order.between(0).same_order, 1.5);  // of 6: three ties
  BracketChoice choice(2, 4);
  for (int trial = 0; trial < 6; ++trial) {
    const int bracket = choice.choose(order, trial);
    EXPECT_EQ(bracket, trial % 2);
    choice.started(bracket);
  }
}

TEST(RungOrder, ConcordanceIsKendallsWithTiesAsHalf) {
  for (const std::int64_t seed : {1, 2, 3, 4}) {
    Draws draws(8, 6, seed);
    RungOrder order(2);
    Json below = Json::array();
    Json above = Json::array();
    for (int trial = 0; trial < 30; ++trial) {
      const auto at = [&](int rung, Json& costs) {
        const auto cost = static_cast<double>(draws.below(8));  // with ties
        order.add(rung, trial, {Standing::finite, 0, {cost}});
        costs.push_back(cost);
      };
      at(0, below);
      at(1, above);
    }
    const Json expected = reference({{"what", "concordance"}, {"below", below}, {"above", above}});
    EXPECT_NEAR(order.between(0).concordance(), expected.get<double>(), 1e-12);
  }
}

}  // namespace
}  // namespace tuneband::test

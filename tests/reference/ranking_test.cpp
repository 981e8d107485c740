// The order of several objectives, and how well one rung orders the next.
#include <gtest/gtest.h>

#include "scheduler/nondominated_sort.hpp"
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
        for (int i = 0; i < objectives; ++i) cost.push_back(static_cast<double>(draws.below(12)));  // with ties
        costs.push_back({trial, cost});
        fronts.add(trial, cost);
      }
      const Json expected = reference({{"what", "non_dominated_sort"}, {"costs", costs}});
      EXPECT_EQ(fronts.order(), expected.at("order").get<std::vector<int>>());
      for (int trial = 0; trial < 60; ++trial) {
        EXPECT_EQ(fronts.front_of(trial), expected.at("rank").at(static_cast<std::size_t>(trial)).get<int>()) << trial;
      }
    }
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
        order.add(rung, {Standing::finite, 0, cost, trial});
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

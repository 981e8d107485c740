// In which order two rungs have the same trials.
#include "scheduler/policies/rung_order.hpp"

#include <gtest/gtest.h>

namespace tuneband::test {
namespace {

Standing finite(double cost, double violation = 0) { return {Standing::finite, violation, cost, 0}; }

TEST(RungOrder, OfTwoResultsAFiniteValueIsAheadThenTheLesserViolationThenTheLesserCost) {
  const Standing not_finite{.tier = Standing::not_finite};
  const std::vector<Standing> ascending{finite(3), finite(5), finite(2, 0.1), finite(1, 0.4), finite(2, 0.4), not_finite};
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      const double expected = i == j ? 0.5 : i < j ? 1 : 0;
      EXPECT_EQ(same_order(finite(0), finite(1), ascending[i], ascending[j]), expected) << i << " " << j;
      EXPECT_EQ(same_order(ascending[j], ascending[i], finite(1), finite(0)), expected) << i << " " << j;
    }
  }
}

TEST(RungOrder, CountsThePairsOfTheFirstTrialsThatBothRungsHave) {
  RungOrder order(2);
  constexpr int kMost = static_cast<int>(RungOrder::kTrialsAtRungMax);
  for (int trial = 0; trial < kMost + 5; ++trial) {
    order.add(0, {Standing::finite, 0, static_cast<double>(trial), trial});
    if (trial != 3) order.add(1, {Standing::finite, 0, static_cast<double>(-trial), trial});
    if (trial == 4) {
      EXPECT_EQ(order.between(0).pairs, 6);  // of 0 1 2 4
    }
  }
  EXPECT_EQ(order.between(0).pairs, kMost * (kMost - 1) / 2);
  EXPECT_EQ(order.between(0).same_order, 0);
  order.add(1, {.tier = Standing::failed, .trial = 3});
  EXPECT_EQ(order.find(1, 3), nullptr);
}

}  // namespace
}  // namespace tuneband::test

// In which order two rungs have the same trials.
#include "scheduler/policies/rung_order.hpp"

#include <gtest/gtest.h>

namespace tuneband::test {
namespace {

Worth finite(double cost, double violation = 0) { return {Standing::finite, violation, {cost}}; }

// Of `a` and `b` at both rungs.
PairCounts counts_of(const Worth& a_below, const Worth& b_below, const Worth& a_above, const Worth& b_above) {
  PairCounts counts;
  counts.add(a_below, b_below, a_above, b_above);
  return counts;
}

TEST(RungOrder, OfTwoResultsAFiniteValueIsAheadThenTheLesserViolationThenTheLesserCost) {
  const Worth not_finite{.tier = Standing::not_finite};
  const std::vector<Worth> ascending{finite(3), finite(5), finite(2, 0.1), finite(1, 0.4), finite(2, 0.4), not_finite};
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      const double expected = i == j ? 0.5 : i < j ? 1 : 0;
      EXPECT_EQ(counts_of(finite(0), finite(1), ascending[i], ascending[j]).same_order, expected) << i << " " << j;
      EXPECT_EQ(counts_of(ascending[j], ascending[i], finite(1), finite(0)).same_order, expected) << i << " " << j;
    }
  }
}

TEST(RungOrder, OfSeveralObjectivesAPairOfWhichNeitherIsBetterSaysNothing) {
  const auto of_two = [](double a, double b, double violation = 0) { return Worth{Standing::finite, violation, {a, b}}; };
  EXPECT_EQ(counts_of(of_two(0, 0), of_two(1, 0), of_two(1, 2), of_two(2, 1)).pairs, 0);
  EXPECT_EQ(counts_of(of_two(1, 2), of_two(2, 1), of_two(0, 0), of_two(1, 0)).pairs, 0);
  const PairCounts same = counts_of(of_two(0, 0), of_two(1, 0), of_two(1, 1), of_two(1, 2));
  EXPECT_EQ(same.pairs, 1);
  EXPECT_EQ(same.same_order, 1);
  EXPECT_EQ(counts_of(of_two(0, 0), of_two(1, 0), of_two(1, 2), of_two(1, 1)).same_order, 0);
  EXPECT_EQ(counts_of(of_two(0, 0), of_two(1, 0), of_two(1, 2), of_two(1, 2)).same_order, 0.5);
  EXPECT_EQ(counts_of(of_two(0, 0), of_two(1, 0), of_two(1, 2, 3), of_two(2, 1, 3)).same_order, 1) << "by the first of them";
}

TEST(RungOrder, CountsThePairsOfTheFirstTrialsThatBothRungsHave) {
  RungOrder order(2);
  constexpr int kMost = static_cast<int>(RungOrder::kTrialsAtRungMax);
  for (int trial = 0; trial < kMost + 5; ++trial) {
    order.add(0, trial, finite(trial));
    if (trial != 3) order.add(1, trial, finite(-trial));
    if (trial == 4) {
      EXPECT_EQ(order.between(0).pairs, 6);  // of 0 1 2 4
    }
  }
  EXPECT_EQ(order.between(0).pairs, kMost * (kMost - 1) / 2);
  EXPECT_EQ(order.between(0).same_order, 0);
  order.add(1, 3, {.tier = Standing::failed});
  EXPECT_EQ(order.find(1, 3), nullptr);
}

}  // namespace
}  // namespace tuneband::test

// The order of the results of one rung, made by hand: constraints and several objectives.
#include "scheduler/policies/rung.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>

#include "core/random.hpp"

namespace tuneband::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kNoEnd = std::numeric_limits<double>::infinity();

Arrival arrival(int trial, std::optional<double> value, double violation = 0) { return {trial, 0, 0, value, violation, {}}; }

std::vector<int> order_of(const Rung& rung) {
  std::vector<int> trials;
  for (int i = 0; i < rung.filled(); ++i) trials.push_back(rung.at(i).trial);
  return trials;
}

TEST(RungWithConstraints, PutsFeasibleOnesFirstThenTheLeastViolationThenTheRest) {
  Rung rung(1, 0, Goal::maximize);
  rung.add(arrival(0, std::nullopt));
  rung.add(arrival(1, kNotANumber));
  rung.add(arrival(2, 0.99, kNoEnd));
  rung.add(arrival(3, 0.9, 0.5));
  rung.add(arrival(4, 0.8, 0.1));
  rung.add(arrival(5, 0.1));
  rung.add(arrival(6, 0.2));
  EXPECT_THAT(order_of(rung), ElementsAre(6, 5, 4, 3, 2, 1, 0));
}

TEST(RungWithConstraints, BreaksTiesOfTheViolationByValueAndThenByNumber) {
  Rung rung(1, 0, Goal::minimize);
  rung.add(arrival(3, 7, 0.5));
  rung.add(arrival(1, 7, 0.5));
  rung.add(arrival(2, 6, 0.5));
  rung.add(arrival(0, 1, kNoEnd));
  rung.add(arrival(4, 0, kNoEnd));
  EXPECT_THAT(order_of(rung), ElementsAre(2, 1, 3, 4, 0));
}

TEST(RungWithConstraints, NamesTheBestTenThatAreAhead) {
  Rung rung(1, 0, Goal::minimize);
  for (int trial = 0; trial < 12; ++trial) rung.add(arrival(trial, trial));
  const auto ahead_of = [&](int place) { return rung.rule(rung.at(place), Verdict::stopped, 0, 0, 1, "").ahead; };
  EXPECT_THAT(ahead_of(11), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_THAT(ahead_of(2), ElementsAre(0, 1));
  EXPECT_EQ(rung.rule(rung.at(11), Verdict::stopped, 0, 0, 1, "").rank, 12);
}

TEST(Rung, AWithdrawnResultFillsItsSlotAndTheOthersRankWithoutIt) {
  Rung rung(1, 3, Goal::minimize);
  for (int trial = 0; trial < 3; ++trial) rung.add(arrival(trial, trial));
  const Decision withdrawn = rung.withdraw(arrival(1, 1), 3);
  EXPECT_EQ(withdrawn.verdict, Verdict::stopped);
  EXPECT_EQ(withdrawn.rank, 0);
  EXPECT_EQ(withdrawn.filled, 3);
  EXPECT_THAT(withdrawn.ahead, ElementsAre());
  EXPECT_THAT(order_of(rung), ElementsAre(0, 2, 1));
  EXPECT_EQ(rung.waiting().size(), 2u);
  EXPECT_EQ(rung.finite(), 2);
  EXPECT_EQ(rung.rule(rung.at(0), Verdict::promoted, 0, 0, 2, "").cutoff, 2);
  EXPECT_EQ(rung.rule(rung.at(0), Verdict::promoted, 0, 0, 3, "").cutoff, std::nullopt) << "there is no third value";
}

TEST(RungWithConstraints, SaysInTheRuleWhatAConstraintDecided) {
  Rung rung(1, 0, Goal::maximize);
  rung.add(arrival(0, 0.5));
  const Standing outside = rung.add(arrival(1, 0.9, 0.25));
  const Decision decision = rung.rule(outside, Verdict::stopped, 0, 0, 1, "the rung is full");
  EXPECT_THAT(decision.rule, HasSubstr("violates the constraints by 0.25"));
  EXPECT_EQ(decision.rank, 2);
  EXPECT_EQ(decision.cutoff, 0.5);
  EXPECT_THAT(rung.rule(rung.at(0), Verdict::promoted, 0, 0, 1, "the rung is full").rule, Not(HasSubstr("constraints")));
}

class RungOfTwo : public testing::Test {
 protected:
  Standing add(int trial, double value, double milliseconds) { return rung_.add({trial, 0, 0, value, 0, {milliseconds}}); }

  Rung rung_{1, 0, Goal::maximize, {Goal::minimize}};
};

TEST_F(RungOfTwo, GoesByFronts) {
  add(0, 1, 9);  // dominated by 1
  add(1, 2, 8);
  add(2, 0, 9);  // dominated by all
  add(3, 3, 9);
  EXPECT_THAT(order_of(rung_), ElementsAre(1, 3, 0, 2));
}

TEST_F(RungOfTwo, PrefersTheEndsOfAFrontAndThenWhatIsFarFromItsNeighbours) {
  add(0, 10, 10);
  add(1, 9, 9);
  add(2, 8, 8.5);
  add(3, 4, 4);
  add(4, 0, 0);
  EXPECT_THAT(order_of(rung_), ElementsAre(0, 4, 3, 2, 1));
}

TEST_F(RungOfTwo, RanksEqualResultsByNumber) {
  for (const int trial : {2, 0, 1}) add(trial, 1, 1);
  EXPECT_THAT(order_of(rung_), ElementsAre(0, 1, 2));
}

TEST_F(RungOfTwo, HoldsAMissingOrInfiniteSecondValueForNotFinite) {
  EXPECT_EQ(add(0, 9, kNotANumber).tier, Standing::not_finite);
  EXPECT_EQ(add(1, 9, kNoEnd).tier, Standing::not_finite);
  add(2, 0, 1);
  EXPECT_THAT(order_of(rung_), ElementsAre(2, 0, 1));
}

TEST_F(RungOfTwo, KeepsWhatWaitsWhenALaterResultChangesThePlaces) {
  add(0, 1, 1);
  add(1, 0.5, 2);
  EXPECT_EQ(rung_.waiting().begin()->trial, 0);
  const Standing settled = add(2, 2, 0.5);
  rung_.settle(settled);
  ASSERT_EQ(rung_.waiting().size(), 2u);
  EXPECT_EQ(rung_.rank(*rung_.waiting().begin()), 2);
  EXPECT_EQ(rung_.waiting().begin()->trial, 0);
  EXPECT_EQ(rung_.rank(*rung_.waiting().rbegin()), 3);
}

TEST_F(RungOfTwo, RanksWithoutWhatWasWithdrawn) {
  add(0, 4, 1);
  add(1, 3, 2);
  add(2, 2, 0);
  EXPECT_THAT(order_of(rung_), ElementsAre(0, 2, 1));
  rung_.withdraw({.trial = 0, .value = 4, .more_values = {1}}, 1);
  EXPECT_THAT(order_of(rung_), ElementsAre(1, 2, 0)) << "of each other neither is better";
  EXPECT_TRUE(rung_.in_first_front(*rung_.waiting().begin()));
  add(3, 2, 3);
  EXPECT_THAT(order_of(rung_), ElementsAre(1, 2, 3, 0));
}

TEST_F(RungOfTwo, HasNoCutoffAndTellsTheFront) {
  add(0, 1, 1);
  const Standing behind = add(1, 0.5, 2);
  const Decision decision = rung_.rule(behind, Verdict::stopped, 0, 0, 1, "the rung is full");
  EXPECT_EQ(decision.cutoff, std::nullopt);
  EXPECT_THAT(decision.rule, HasSubstr("front 2"));
}

// The definition: a front is what nothing dominates among those that are left.
TEST(RungOfThree, GoesByTheGoalOfEachObjective) {
  for (const Goal second : {Goal::minimize, Goal::maximize}) {
    for (const Goal third : {Goal::minimize, Goal::maximize}) {
      Rung rung(1, 0, Goal::minimize, {second, third});
      const auto add = [&](int trial, double second_cost, double third_cost) {
        rung.add({.trial = trial,
                  .value = 0.5,
                  .more_values = {second == Goal::maximize ? -second_cost : second_cost,
                                  third == Goal::maximize ? -third_cost : third_cost}});
      };
      add(0, 2, 2);
      add(1, 1, 2);
      add(2, 1, 1);
      add(3, 0, 1);
      EXPECT_THAT(order_of(rung), ElementsAre(3, 2, 1, 0)) << static_cast<int>(second) << static_cast<int>(third);
    }
  }
}

TEST(FrontsOfRandomResults, AreThoseOfTheDefinition) {
  std::vector<std::vector<double>> costs;
  NondominatedSort fronts;
  for (int trial = 0; trial < 120; ++trial) {
    const auto number = static_cast<std::uint64_t>(trial);
    const auto digit = [&](std::uint64_t axis) { return static_cast<double>(random_bits(1, {number, axis}) % 8); };
    costs.push_back({digit(0), digit(1), digit(2)});
    fronts.add(trial, costs.back());
    std::vector<int> expected(costs.size(), 0);
    for (int front = 1; std::count(expected.begin(), expected.end(), 0) > 0; ++front) {
      for (std::size_t i = 0; i < costs.size(); ++i) {
        bool dominated = expected[i] != 0;
        for (std::size_t j = 0; j < costs.size(); ++j) {
          dominated |= (expected[j] == 0 || expected[j] == front) && dominates(costs[j], costs[i]);
        }
        if (!dominated) expected[i] = front;
      }
    }
    for (std::size_t i = 0; i < costs.size(); ++i) ASSERT_EQ(fronts.front_of(static_cast<int>(i)), expected[i]);
  }
  EXPECT_EQ(fronts.order().size(), costs.size());
  NondominatedSort others;
  for (int trial = 0; trial < 120; ++trial) {
    trial % 3 == 0 ? fronts.remove(trial) : others.add(trial, costs[static_cast<std::size_t>(trial)]);
  }
  EXPECT_EQ(fronts.order(), others.order());
}

}  // namespace
}  // namespace tuneband::test

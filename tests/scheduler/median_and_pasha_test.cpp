// The median rule and PASHA on hand-made results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "scheduler/plan.hpp"
#include "scheduler/policies/median_rule.hpp"
#include "scheduler/policies/pasha_cap.hpp"
#include "tests/scheduler/policy_driver.hpp"

namespace tuneband::test {

namespace {

SchedulerSpec resource_spec(SchedulerType type, std::int64_t max_resource) {
  SchedulerSpec spec;
  spec.type = type;
  spec.max_resource = max_resource;
  return spec;
}

void run_to_the_end(PolicyDriver& driver) {
  driver.finish_all();
  driver.close();
  EXPECT_EQ(driver.waiting(), 0);
}

const Outcomes kNumberIsCost = [](int trial, std::int64_t) -> std::optional<double> { return trial; };

}  // namespace

TEST(MedianStopping, ComparesOnAnEvenGridOfResources) {
  EXPECT_EQ(ladder(resource_spec(SchedulerType::median_stopping, 100)),
            (std::vector<std::int64_t>{1, 12, 23, 34, 45, 56, 67, 78, 89, 100}));
  EXPECT_EQ(ladder(resource_spec(SchedulerType::median_stopping, 4)), (std::vector<std::int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(ladder(resource_spec(SchedulerType::median_stopping, 1)), (std::vector<std::int64_t>{1}));
}

TEST(MedianStopping, StopsNoneOfTheFirstOnesAndThenTheWorseHalf) {
  // In this order: five go on whatever they are; 10 is worse than the median 2 of 0..4; 1 is not worse than that of 0..4 and 10.
  const double costs[] = {0, 1, 2, 3, 4, 10, 1, 2, 3};
  const Outcomes outcomes = [&](int trial, std::int64_t) -> std::optional<double> { return costs[trial]; };
  PolicyDriver driver(resource_spec(SchedulerType::median_stopping, 2), Goal::minimize, 9, 1, outcomes);
  run_to_the_end(driver);
  // Of trial 7 (value 2) the others' averages are 0 1 1 2 3 4 10: median 2; of trial 8 (value 3) 0 1 1 2 2 3 4 10: median 2.
  EXPECT_EQ(driver.stopped().at({0, 0}), (std::set<int>{5, 8}));
  EXPECT_EQ(driver.promoted().at({0, 0}), (std::set<int>{0, 1, 2, 3, 4, 6, 7}));
  const auto sixth =
      std::find_if(driver.decisions().begin(), driver.decisions().end(), [](const Decision& r) { return r.trial == 5; });
  EXPECT_EQ(sixth->cutoff, 2);
  EXPECT_EQ(sixth->rule, "its best value so far is worse than the median of the others' averages up to here");
}

TEST(MedianStopping, ATrialThatWasGoodOnceStays) {
  // Trial 5 is best at the first resource and worst at the second: its best value so far counts.
  const Outcomes outcomes = [](int trial, std::int64_t resource) -> std::optional<double> {
    if (trial == 5) return resource == 1 ? 0 : 100;
    return trial + 1;
  };
  PolicyDriver driver(resource_spec(SchedulerType::median_stopping, 3), Goal::minimize, 6, 1, outcomes);
  run_to_the_end(driver);
  EXPECT_TRUE(driver.completed().at({0, 2}).contains(5));
}

TEST(MedianStopping, NanAndFailuresStopAndDoNotMoveTheMedian) {
  const Outcomes outcomes = [](int trial, std::int64_t) -> std::optional<double> {
    if (trial < 3) return std::numeric_limits<double>::quiet_NaN();
    if (trial < 5) return std::nullopt;
    return trial == 10 ? 7.5 : trial;  // the others: 5 6 7 8 9
  };
  PolicyDriver driver(resource_spec(SchedulerType::median_stopping, 2), Goal::minimize, 11, 3, outcomes);
  run_to_the_end(driver);
  EXPECT_EQ(driver.stopped().at({0, 0}), (std::set<int>{0, 1, 2, 3, 4, 10}));
}

TEST(MedianStopping, TrialsThatAreEqualThroughoutAllGoOn) {
  // Three times 0.1, added up and divided by 3, is more than 0.1.
  const Outcomes equal = [](int, std::int64_t) -> std::optional<double> { return 0.1; };
  for (const Goal goal : {Goal::minimize, Goal::maximize}) {
    PolicyDriver driver(resource_spec(SchedulerType::median_stopping, 10), goal, 12, 1, equal);
    run_to_the_end(driver);
    EXPECT_TRUE(driver.stopped().empty());
  }
}

TEST(MedianStopping, TheLargestNumbersAreWorseThanAnyOther) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  for (const double sign : {1.0, -1.0}) {
    const Outcomes outcomes = [&](int trial, std::int64_t) -> std::optional<double> {
      return sign * (trial < 6 ? kLargest : trial);
    };
    PolicyDriver driver(resource_spec(SchedulerType::median_stopping, 3), sign > 0 ? Goal::minimize : Goal::maximize, 8, 1,
                        outcomes);
    run_to_the_end(driver);
    EXPECT_TRUE(driver.stopped().empty()) << "not worse than a median of the largest";
    EXPECT_THAT(driver.completed().at({0, 2}), ::testing::IsSupersetOf({6, 7}));
  }
}

TEST(MedianStopping, MaximisesTheOtherWayRound) {
  PolicyDriver driver(resource_spec(SchedulerType::median_stopping, 2), Goal::maximize, 7, 1, kNumberIsCost);
  run_to_the_end(driver);
  EXPECT_EQ(driver.promoted().at({0, 0}).count(6), 1U);
  PolicyDriver falling(resource_spec(SchedulerType::median_stopping, 2), Goal::maximize, 7, 1,
                       [](int trial, std::int64_t) -> std::optional<double> { return -trial; });
  run_to_the_end(falling);
  EXPECT_EQ(falling.stopped().at({0, 0}), (std::set<int>{5, 6}));
}

// ---- PASHA --------------------------------------------------------------------------------------------------------------------

TEST(Pasha, StaysAtTheSecondRungWhileTheOrderHoldsAndTrainsTheBestAlone) {
  PolicyDriver driver(resource_spec(SchedulerType::pasha, 81), Goal::minimize, 40, 4, kNumberIsCost);
  driver.finish_all();
  std::set<int> beyond;
  for (const Segment& segment : driver.started()) {
    if (segment.until_resource > 3) beyond.insert(segment.trial);
  }
  EXPECT_EQ(beyond, (std::set<int>{0}));
  EXPECT_EQ(driver.completed().at({0, 4}), (std::set<int>{0}));
  driver.close();
  EXPECT_EQ(driver.waiting(), 0);
}

TEST(Pasha, GoesHigherWhenTheOrderChanges) {
  // Each rung turns the order round.
  const Outcomes turning = [](int trial, std::int64_t resource) -> std::optional<double> {
    return resource == 1 || resource == 9 || resource == 81 ? trial : -trial;
  };
  PolicyDriver driver(resource_spec(SchedulerType::pasha, 81), Goal::minimize, 200, 1, turning);
  run_to_the_end(driver);
  std::set<int> beyond;
  for (const Segment& segment : driver.started()) {
    if (segment.until_resource > 3) beyond.insert(segment.trial);
  }
  EXPECT_GT(beyond.size(), 1U);
}

// Every other trial, in the order of their numbers at both rungs; then one that is the worst below and the best above.
class ComparedTrials : public testing::Test {
 protected:
  static Standing standing(int trial, double cost) { return {Standing::finite, 0, cost, trial}; }
  void agree(std::size_t trials) {
    for (std::size_t i = 0; i < trials; ++i) {
      const int trial = 2 * static_cast<int>(i);
      cap_.learned(0, standing(trial, trial));
      cap_.learned(1, standing(trial, trial));
    }
  }
  int index_after_disagreement_of(int trial) {
    cap_.learned(0, standing(trial, 1e6));
    cap_.learned(1, standing(trial, -1));
    return cap_.index();
  }

  PashaCap cap_{4};
};

TEST_F(ComparedTrials, AreTheFirstHundred) {
  agree(PashaCap::kComparedMax - 1);
  EXPECT_EQ(cap_.index(), 1);
  EXPECT_EQ(index_after_disagreement_of(1'000), 2);
}

TEST_F(ComparedTrials, DoNotIncludeAnyAfterThem) {
  agree(PashaCap::kComparedMax);
  EXPECT_EQ(index_after_disagreement_of(1'000), 1);
}

TEST_F(ComparedTrials, IncludeALateOneOfALowerNumber) {
  agree(PashaCap::kComparedMax);
  EXPECT_EQ(index_after_disagreement_of(1), 2);
}

TEST_F(ComparedTrials, IncludeALateOneThatIsTheHundredth) {
  agree(PashaCap::kComparedMax);
  EXPECT_EQ(index_after_disagreement_of(2 * static_cast<int>(PashaCap::kComparedMax) - 3), 2);
}

TEST_F(ComparedTrials, AreNoMoreWhereOneOfThemHasNoResultBelow) {
  agree(PashaCap::kComparedMax);
  EXPECT_EQ(index_after_disagreement_of(1'000), 1);
  cap_.learned(1, standing(1, -1));
  EXPECT_EQ(cap_.index(), 1);
}

TEST_F(ComparedTrials, AgreeWhereTheyAreAsGoodAboveOrDifferALittle) {
  for (const auto& [trial, below, above] : {std::tuple(0, 0.0, 5.0), {1, 1.0, 5.0}, {2, 9.0, 9.0}, {3, 9.5, 9.25}}) {
    cap_.learned(0, standing(trial, below));
    cap_.learned(1, standing(trial, above));
  }
  EXPECT_EQ(cap_.index(), 1);
}

TEST_F(ComparedTrials, DisagreeHoweverSmallTheDifferences) {
  constexpr double kSmall = 1e-200;  // its square is 0
  for (const auto& [trial, below, above] : {std::tuple(0, 0.0, kSmall), {1, kSmall, 0.0}}) {
    cap_.learned(0, standing(trial, below));
    cap_.learned(1, standing(trial, above));
  }
  EXPECT_EQ(cap_.index(), 2);
}

TEST_F(ComparedTrials, HaveAResultAtTheRungBelowToo) {
  agree(3);
  cap_.learned(1, standing(1, -1));
  EXPECT_EQ(cap_.index(), 1);
}

// A cap that learns from pairs of trials, each far from the others, at the first three rungs.
class PairsOfTrials {
 public:
  explicit PairsOfTrials(int rungs = 5) : cap_(rungs) {}

  int cap() const { return cap_.index(); }
  void learn(const std::vector<double>& one, const std::vector<double>& other) {
    for (int rung = 0; rung < 3; ++rung) {
      learn(rung, one, trials_);
      learn(rung, other, trials_ + 1);
    }
    trials_ += 2;
  }
  // Change places twice, and are so far apart at the third rung; negative: once.
  void cross(double distance) { learn({0, 1, 2}, {1, 0, 2 + distance}); }
  // Change places at the third rung first, and are so far apart at the second.
  void disagree(double difference) { learn({0, 0, 1}, {difference + 4, difference, 0}); }

 private:
  void learn(int rung, const std::vector<double>& costs, int trial) {
    const double cost = costs[static_cast<std::size_t>(rung)];
    cap_.learned(rung, {std::isfinite(cost) ? Standing::finite : Standing::not_finite, 0, 1000.0 * (1 + trials_) + cost, trial});
  }

  PashaCap cap_;
  int trials_ = 0;
};

int cap_after(const std::vector<double>& crossing, double difference, int rungs = 5) {
  PairsOfTrials pairs(rungs);
  for (const double distance : crossing) pairs.cross(distance);
  pairs.disagree(difference);
  return pairs.cap();
}

TEST(Pasha, TakesForNoiseWhatIsNoFartherApartThanNineInTenOfThePairsThatCrissCross) {
  EXPECT_EQ(cap_after({3}, 3), 2);
  EXPECT_EQ(cap_after({3}, 3.5), 3);
  EXPECT_EQ(cap_after({3, 5}, 3), 2);
  EXPECT_EQ(cap_after({3, 5}, 3.5), 3) << "the lower one of two";
  const std::vector<double> eleven = {9, 4, 12, 7, 2, 10, 5, 11, 8, 3, 6};
  EXPECT_EQ(cap_after(eleven, 11), 2);
  EXPECT_EQ(cap_after(eleven, 11.5), 3);
  EXPECT_EQ(cap_after({-1}, 0.5), 3) << "nothing criss-crosses: nothing is noise";
}

TEST(Pasha, ComparesAPairAtTheRungsWhereBothHaveAValue) {
  PairsOfTrials pairs;
  pairs.cross(3);
  pairs.learn({std::numeric_limits<double>::quiet_NaN(), 1, -2}, {0, 0, 0});
  pairs.disagree(3);
  EXPECT_EQ(pairs.cap(), 2) << "the pair that changed places once is no measure of the noise";
}

TEST(Pasha, DoesNotRiseAboveTheHighestRung) {
  EXPECT_EQ(cap_after({3}, 50, 3), 2);
  EXPECT_EQ(cap_after({3}, 50, 4), 3);
}

TEST(Pasha, DoesNotCallATieADisagreement) {
  const Outcomes ties = [](int trial, std::int64_t resource) -> std::optional<double> { return resource == 1 ? 0 : trial % 2; };
  PolicyDriver driver(resource_spec(SchedulerType::pasha, 81), Goal::minimize, 40, 2, ties);
  run_to_the_end(driver);
  std::set<int> beyond;
  for (const Segment& segment : driver.started()) {
    if (segment.until_resource > 3) beyond.insert(segment.trial);
  }
  EXPECT_EQ(beyond.size(), 1U);
}

TEST(Pasha, WithFailuresOnlyEndsWithoutAnyoneGoingOn) {
  PolicyDriver driver(resource_spec(SchedulerType::pasha, 27), Goal::minimize, 10, 3,
                      [](int, std::int64_t) -> std::optional<double> { return std::nullopt; });
  run_to_the_end(driver);
  EXPECT_EQ(driver.started().size(), 10U);
}

}  // namespace tuneband::test

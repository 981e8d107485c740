// Trials that came far may fail there: as long as there is another one with a value, it goes on in their place.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/scheduler/choices.hpp"
#include "tests/scheduler/policy_driver.hpp"

namespace tuneband::test {

namespace {

constexpr double kFailure = std::numeric_limits<double>::quiet_NaN();
constexpr int kFinishTrials = 4;
constexpr std::int64_t kFinishLevels[] = {1, 2, 4};
constexpr int kFailsNowhere = 3;  // index into kFinishLevels where a trial fails

SchedulerSpec finish_spec(SchedulerType type) {
  SchedulerSpec spec;
  spec.type = type;
  spec.max_resource = kFinishLevels[2];
  spec.eta = 2;
  spec.rung_audit = type == SchedulerType::automatic;
  return spec;
}

bool has_a_value_at_max_resource(const PolicyDriver& driver, const Outcomes& outcomes) {
  return std::any_of(driver.decisions().begin(), driver.decisions().end(), [&](const Decision& one) {
    return one.verdict == Verdict::completed && std::isfinite(outcomes(one.trial, kFinishLevels[2]).value_or(kFailure));
  });
}

void expect_a_result(SchedulerType type, const std::vector<int>& fails_at, std::optional<double> failure, int workers) {
  const Outcomes outcomes = [&](int trial, std::int64_t resource) -> std::optional<double> {
    const int from = fails_at[static_cast<std::size_t>(trial)];
    if (from != kFailsNowhere && resource >= kFinishLevels[from]) return failure;
    return trial;
  };
  const bool one_can = std::find(fails_at.begin(), fails_at.end(), kFailsNowhere) != fails_at.end();
  Choices order;
  do {
    PolicyDriver driver(finish_spec(type), Goal::minimize, kFinishTrials, workers, outcomes);
    while (!driver.running().empty()) {
      driver.finish(static_cast<std::size_t>(order.pick(static_cast<int>(driver.running().size()))));
    }
    ASSERT_EQ(has_a_value_at_max_resource(driver, outcomes), one_can) << "order " << order.text();
    driver.close();
    ASSERT_EQ(driver.waiting(), 0) << "order " << order.text();
    ASSERT_FALSE(driver.has_work()) << "order " << order.text();
  } while (order.next());
}

}  // namespace

TEST(FinishExhaustive, AsLongAsOneTrialCanReachMaxResourceOneDoesWhicheverFailWhereverInEveryOrder) {
  for (const SchedulerType type :
       {SchedulerType::successive_halving, SchedulerType::hyperband, SchedulerType::asha_promotion, SchedulerType::asha_stopping,
        SchedulerType::asha_delayed, SchedulerType::automatic, SchedulerType::async_hyperband, SchedulerType::pasha,
        SchedulerType::median_stopping, SchedulerType::none}) {
    Choices fails_at;
    do {
      std::vector<int> at;
      for (int trial = 0; trial < kFinishTrials; ++trial) at.push_back(fails_at.pick(kFailsNowhere + 1));
      for (const auto& [failure, workers] : {std::pair{std::optional<double>(), 2}, std::pair{std::optional(kFailure), 1}}) {
        expect_a_result(type, at, failure, workers);
        ASSERT_FALSE(HasFatalFailure()) << to_string(type) << ", " << workers << " workers, fail at " << fails_at.text();
      }
    } while (fails_at.next());
  }
}

TEST(Finish, ANextBestThatFailsTooIsFollowedByTheOneAfterIt) {
  SchedulerSpec spec = finish_spec(SchedulerType::successive_halving);
  spec.max_resource = 9;
  spec.eta = 3;
  // 9, 3, 1: the best two fail on the way to the end.
  const Outcomes outcomes = [](int trial, std::int64_t resource) -> std::optional<double> {
    return resource == 9 && trial < 2 ? std::nullopt : std::optional<double>(trial);
  };
  PolicyDriver driver(spec, Goal::minimize, 9, 3, outcomes);
  driver.finish_all();
  EXPECT_EQ(driver.completed().at({0, 2}), (std::set<int>{2}));
  EXPECT_EQ(driver.promoted().at({0, 1}), (std::set<int>{0, 1, 2}));
  EXPECT_EQ(driver.stopped().at({0, 0}), (std::set<int>{3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(driver.waiting(), 0);
  const auto takes_over = std::find_if(driver.decisions().begin(), driver.decisions().end(),
                                       [](const Decision& one) { return one.trial == 2 && one.rung == 1; });
  EXPECT_EQ(takes_over->rule, "none of its bracket that went on can be the best: the next best takes their place");
}

TEST(Finish, WhoGoesOnInPlaceOfTheFailedWaitsForAWorkerAsThePromotedDo) {
  for (const auto& [type, waiting] : {std::pair{SchedulerType::asha_promotion, 1}, std::pair{SchedulerType::asha_stopping, 2}}) {
    const auto policy = make_policy(finish_spec(type), Goal::minimize, 3);
    std::vector<Decision> decisions;
    for (int trial = 0; trial < 3; ++trial) policy->take(std::nullopt, decisions);
    policy->arrive({.trial = 0, .value = 1}, decisions);
    // By the first rule one of two is promoted when a worker is free; by the second one goes on when it arrives.
    policy->arrive({.trial = 1, .value = 0}, decisions);
    EXPECT_EQ(policy->promoted_waiting(), waiting) << to_string(type);
    policy->arrive({.trial = 2, .value = 2}, decisions);
    for (; const auto work = policy->take(std::nullopt, decisions);) {
      policy->arrive({.trial = *work->trial, .rung = work->rung, .value = std::nullopt}, decisions);
      if (*work->trial == 1) continue;
      // One after the other: only what may go on now is ready, whatever else is left in reserve.
      EXPECT_LE(policy->promoted_waiting(), 1) << to_string(type);
    }
    EXPECT_EQ(policy->promoted_waiting(), 0) << to_string(type);
  }
}

// All violate the constraints: one that does at max_resource is as good as any, and the reserve is let go.
TEST(Finish, WhereNoTrialMeetsTheConstraintsOneReachesMaxResourceAndNoneGoesOnInItsPlace) {
  for (const SchedulerType type : {SchedulerType::successive_halving, SchedulerType::hyperband, SchedulerType::asha_promotion,
                                   SchedulerType::asha_stopping, SchedulerType::asha_delayed}) {
    PolicyDriver driver(finish_spec(type), Goal::minimize, 4, 1, kByNumber);
    driver.set_violations([](int trial) { return trial + 0.5; });
    driver.finish_all();
    const bool synchronous = type == SchedulerType::successive_halving || type == SchedulerType::hyperband;
    if (synchronous) {
      EXPECT_EQ(driver.waiting(), 0) << to_string(type);
    }
    driver.close();
    EXPECT_EQ(driver.waiting(), 0) << to_string(type);
    std::set<int> at_the_top;
    for (const Segment& segment : driver.started()) {
      if (segment.until_resource == kFinishLevels[2]) at_the_top.insert(segment.trial);
    }
    EXPECT_TRUE(at_the_top.contains(0)) << to_string(type);
    if (type == SchedulerType::successive_halving) {
      EXPECT_EQ(at_the_top.size(), 1U);
    }
  }
}

// Whose value breaks a constraint takes the place of one that failed, where there is no value at max_resource at all.
TEST(Finish, WhereTheOneThatWentOnFailsAnotherThatBreaksAConstraintGoesOn) {
  for (const SchedulerType type : {SchedulerType::successive_halving, SchedulerType::asha_promotion}) {
    const Outcomes best_fail = [](int trial, std::int64_t resource) -> std::optional<double> {
      return resource == 4 && trial < 2 ? std::nullopt : std::optional<double>(trial);
    };
    PolicyDriver driver(finish_spec(type), Goal::minimize, 4, 1, best_fail);
    driver.set_violations([](int trial) { return trial + 0.5; });
    driver.finish_all();
    const auto& completed = driver.completed();
    ASSERT_TRUE(completed.contains({0, 2})) << to_string(type);
    EXPECT_EQ(completed.at({0, 2}), (std::set<int>{2})) << to_string(type);
  }
}

TEST(Finish, FromTheHighestRungNoneGoesOn) {
  const Outcomes fails_at_the_top = [](int trial, std::int64_t resource) -> std::optional<double> {
    return resource == 4 && trial == 0 ? std::nullopt : std::optional<double>(trial);
  };
  PolicyDriver driver(finish_spec(SchedulerType::successive_halving), Goal::minimize, 4, 1, fails_at_the_top);
  driver.finish_all();
  int at_the_top = 0;
  for (const Decision& one : driver.decisions()) {
    if (one.rung != 2) continue;
    ++at_the_top;
    EXPECT_EQ(one.keep, 0);
    EXPECT_FALSE(one.cutoff);
  }
  EXPECT_EQ(at_the_top, 2);
}

// A result that is still missing may change every place.
TEST(Finish, OfSeveralObjectivesNothingIsDecidedBeforeARungIsFull) {
  SchedulerSpec spec = finish_spec(SchedulerType::successive_halving);
  spec.max_resource = 9;
  spec.eta = 3;
  spec.more_goals = {Goal::minimize};
  const auto policy = make_policy(spec, Goal::minimize, 9);
  std::vector<Decision> decisions;
  for (int trial = 0; trial < 9; ++trial) policy->take(std::nullopt, decisions);
  for (int trial = 0; trial < 9; ++trial) {
    EXPECT_TRUE(decisions.empty()) << trial;
    policy->arrive({.trial = trial, .value = trial, .more_values = {static_cast<double>(trial)}}, decisions);
  }
  EXPECT_EQ(policy->promoted_waiting(), 3);
  EXPECT_EQ(decisions.size(), 6u) << "three go on, three stop, three are in reserve";
}

TEST(Finish, OnlyTheBestThatLostWaitAndNoLongerThanUntilOneHasFinished) {
  SchedulerSpec spec = finish_spec(SchedulerType::successive_halving);
  spec.max_resource = 9;
  spec.eta = 3;
  PolicyDriver driver(spec, Goal::minimize, 9, 9, kByNumber);
  for (int i = 0; i < 9; ++i) driver.finish(0);
  EXPECT_EQ(driver.stopped().at({0, 0}), (std::set<int>{6, 7, 8}));
  EXPECT_EQ(driver.waiting(), 3);
  driver.finish_all();
  EXPECT_EQ(driver.stopped().at({0, 0}), (std::set<int>{3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(driver.stopped().at({0, 1}), (std::set<int>{1, 2}));
  EXPECT_EQ(driver.waiting(), 0);
}

}  // namespace tuneband::test

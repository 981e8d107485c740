// Where the first trials of several workers start, on hand-made results.
#include "scheduler/policies/head_start.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/policy_driver.hpp"

namespace tuneband::test {

namespace {

// Rungs of 1, 3 and 9, the first of them that of first_resource.
SchedulerSpec spec_with_first() {
  SchedulerSpec spec;
  spec.type = SchedulerType::asha_delayed;
  spec.first_resource = 1;
  spec.min_resource = 3;
  spec.max_resource = 9;
  spec.eta = 3;
  return spec;
}

// Where each trial started, by number.
std::vector<std::int64_t> starts_of(const PolicyDriver& driver) {
  std::vector<std::int64_t> starts;
  for (const Segment& segment : driver.started()) {
    if (segment.trial == static_cast<int>(starts.size())) starts.push_back(segment.until_resource);
  }
  return starts;
}

using testing::Each;
using testing::ElementsAre;

TEST(HeadStart, TheFirstOfSeveralTrialsAtOnceStartsAboveTheFirstRungAndTheOthersAtIt) {
  PolicyDriver driver(spec_with_first(), Goal::minimize, 30, 3, kByNumber);
  EXPECT_THAT(starts_of(driver), ElementsAre(3, 1, 1));
  driver.finish(1);
  EXPECT_THAT(starts_of(driver), ElementsAre(3, 1, 1, 1)) << "what the first rung says does not end it";
  driver.finish(0);
  EXPECT_THAT(starts_of(driver), ElementsAre(3, 1, 1, 1, 3)) << "a result of the rung above does";
  driver.finish_all();
  const auto starts = starts_of(driver);
  EXPECT_EQ(starts.size(), 30U);
  EXPECT_THAT(std::vector(starts.begin() + 4, starts.end()), Each(3));
}

TEST(HeadStart, IsNoneWhereOneTrialIsTrainedAtATime) {
  PolicyDriver driver(spec_with_first(), Goal::minimize, 30, 1, kByNumber);
  driver.finish_all();
  EXPECT_THAT(starts_of(driver), Each(3));
}

TEST(HeadStart, IsOfAThirdOfTheJobsTrialsAtMost) {
  PolicyDriver driver(spec_with_first(), Goal::minimize, 14, 12, kByNumber);
  EXPECT_THAT(starts_of(driver), ElementsAre(3, 1, 1, 1, 3, 3, 3, 3, 3, 3, 3, 3)) << "4 of 14 begin while nothing is known";
  PolicyDriver endless(spec_with_first(), Goal::minimize, std::nullopt, 12, kByNumber);
  EXPECT_THAT(starts_of(endless), ElementsAre(3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1));
}

TEST(HeadStart, ATrialThatFailedOnItsWayToTheRungAboveTellsNothing) {
  const Outcomes first_fails = [](int trial, std::int64_t) { return trial == 0 ? std::nullopt : std::optional<double>(trial); };
  PolicyDriver driver(spec_with_first(), Goal::minimize, 30, 3, first_fails);
  driver.finish(0);
  EXPECT_THAT(starts_of(driver), ElementsAre(3, 1, 1, 1));
}

TEST(Rungs, AllHaveComeOnceEachTrialHasAResultAtWhicheverRungItHeadedFor) {
  Rungs rungs(spec_with_first(), Goal::minimize, 9);
  rungs.begin_trial(0);
  rungs.begin_trial(0);
  EXPECT_FALSE(rungs.all_have_come());
  rungs.add(1, {.trial = 0, .rung = 1, .value = 0.5});
  rungs.begin_segment();
  rungs.add(2, {.trial = 0, .rung = 2, .value = 0.4});
  EXPECT_FALSE(rungs.all_have_come()) << "two results of one trial";
  rungs.add(0, {.trial = 1, .value = 0.5});
  EXPECT_TRUE(rungs.all_have_come());
  rungs.begin_trial(0);
  EXPECT_FALSE(rungs.all_have_come());
  rungs.give_back_trial();
  EXPECT_TRUE(rungs.all_have_come());
}

TEST(HeadStart, OneInEtaGoesOnFromTheFirstRungAsFromTheOthers) {
  PolicyDriver driver(spec_with_first(), Goal::minimize, 30, 4, kByNumber);
  for (int i = 0; i < 3; ++i) driver.finish(1);
  EXPECT_EQ(driver.started().back(), (Segment{1, 0, 1, 3})) << "the best of three at the first rung";
  driver.finish_all();
  driver.close();
  EXPECT_EQ(driver.promoted().at({0, 0}), (std::set<int>{1}));
}

}  // namespace

}  // namespace tuneband::test

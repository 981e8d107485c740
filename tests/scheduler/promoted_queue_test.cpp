#include "scheduler/policies/promoted_queue.hpp"

#include <gtest/gtest.h>

#include "scheduler/policies/rungs.hpp"
#include "tests/scheduler/policy_driver.hpp"

namespace tuneband::test {
namespace {

TEST(PromotedQueue, GivesTheHighestRungFirstThenTheLowestNumberButWhatIsPreferredBeforeBoth) {
  PromotedQueue queue;
  for (const auto& [index, trial] : {std::pair{0, 1}, {0, 2}, {1, 4}, {1, 3}}) queue.add(index, trial);
  EXPECT_EQ(queue.take(2), (std::pair{0, 2}));
  EXPECT_EQ(queue.take(7), (std::pair{1, 3}));
  EXPECT_EQ(queue.take(std::nullopt), (std::pair{1, 4}));
  EXPECT_EQ(queue.size(), 1);
  EXPECT_EQ(queue.take(std::nullopt), (std::pair{0, 1}));
  EXPECT_TRUE(queue.empty());
}

TEST(Rungs, OfAStartThatIsGivenBackNothingIsLeftForTheNextOne) {
  SchedulerSpec spec;
  spec.max_resource = 9;
  spec.eta = 3;
  Rungs rungs(spec, Goal::minimize, std::nullopt);
  rungs.begin_trial(2);
  EXPECT_EQ(rungs.give_back_trial(), 2);
  EXPECT_EQ(rungs.started(), 0);
  EXPECT_EQ(rungs.under_way(), 0);
  rungs.begin_trial(1);
  const Work work = rungs.work_of(0, 2);
  EXPECT_EQ(work.bracket, 1);
  EXPECT_EQ(work.rung, 1);
  EXPECT_EQ(work.until_resource, 9);
}

// Nothing is under way then, and one trial more may start.
TEST(GivenBackStart, CountsAsNeverTaken) {
  SchedulerSpec spec;
  spec.type = SchedulerType::asha_promotion;
  spec.max_resource = 9;
  spec.eta = 3;
  const auto policy = make_policy(spec, Goal::minimize, 2);
  std::vector<Decision> decisions;
  policy->take(std::nullopt, decisions);
  policy->arrive({.trial = 0, .value = 1}, decisions);
  policy->take(std::nullopt, decisions);
  EXPECT_FALSE(policy->has_work());
  EXPECT_TRUE(policy->give_back_start());
  const auto again = policy->take(std::nullopt, decisions);
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->trial);
  policy->give_back_start();
  policy->start_no_more();
  const auto finishing = policy->take(std::nullopt, decisions);
  ASSERT_TRUE(finishing);
  EXPECT_EQ(finishing->trial, 0);
}

// Else nothing of it would be left for a job that is restored.
TEST(GivenBackStart, OfASynchronousBracketTakesBackTheBracketUnlessItHasAnotherTrial) {
  SchedulerSpec spec;
  spec.type = SchedulerType::hyperband;
  spec.max_resource = 9;
  spec.eta = 3;
  const auto policy = make_policy(spec, Goal::minimize, std::nullopt);
  std::vector<Decision> decisions;
  policy->take(std::nullopt, decisions);
  EXPECT_TRUE(policy->give_back_start());
  for (int trial = 0; trial < 9; ++trial) EXPECT_EQ(policy->take(std::nullopt, decisions)->bracket, 0);
  EXPECT_FALSE(policy->give_back_start());
  EXPECT_EQ(policy->take(std::nullopt, decisions)->bracket, 1);
  EXPECT_TRUE(policy->give_back_start());
  EXPECT_FALSE(policy->give_back_start());
  policy->start_no_more();
  EXPECT_FALSE(policy->has_work());
}

}  // namespace
}  // namespace tuneband::test

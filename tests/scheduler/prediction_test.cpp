// Promotion by what a model expects at max_resource: the model is told by the test.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "scheduler/policies/promotion_rule.hpp"
#include "tests/scheduler/policy_driver.hpp"

namespace tuneband::test {

namespace {

using Trials = std::set<int>;

SchedulerSpec spec_of(Promotion promotion, SchedulerType type = SchedulerType::asha_delayed) {
  SchedulerSpec spec;
  spec.type = type;
  spec.max_resource = 9;
  spec.eta = 3;
  spec.promotion = promotion;
  return spec;
}

// Of the contenders the last, whose value is the worst.
const Model kLast = [](const std::vector<int>& contenders) { return contenders.back(); };

}  // namespace

TEST(PromotionByPrediction, LetsThoseGoOnWhomTheModelNamesAndNoMoreThanTheQuota) {
  PolicyDriver driver(spec_of(Promotion::prediction), Goal::minimize, 9, 1, kByNumber, kLast);
  driver.finish_all();
  EXPECT_EQ(driver.promoted().at({0, 0}), (Trials{2, 5, 8}));
  EXPECT_EQ(driver.promoted().at({0, 1}), (Trials{8}));
  EXPECT_EQ(driver.decisions().front().rule,
            "a worker was free, and of the 3 that waited the model expects it to be the best at max_resource");
}

TEST(PromotionByPrediction, IsByValueWhereTheModelSaysNothingOrNamesWhoDoesNotWait) {
  const Model stranger = [](const std::vector<int>&) { return 77; };
  for (const Model& model : {Model(), stranger}) {
    PolicyDriver driver(spec_of(Promotion::prediction), Goal::minimize, 9, 1, kByNumber, model);
    driver.finish_all();
    EXPECT_EQ(driver.promoted().at({0, 0}), (Trials{0, 1, 2}));
  }
}

TEST(PromotionByPrediction, AsksNobodyWherePromotionIsByValue) {
  const Model never = [](const std::vector<int>& contenders) {
    ADD_FAILURE() << "asked about " << contenders.size();
    return contenders.front();
  };
  PolicyDriver delayed(spec_of(Promotion::value), Goal::minimize, 9, 1, kByNumber, never);
  delayed.finish_all();
  PolicyDriver asha(spec_of(Promotion::prediction, SchedulerType::asha_promotion), Goal::minimize, 9, 1, kByNumber, never);
  asha.finish_all();
}

TEST(PromotionByPrediction, AsksOnlyOfTrialsWithAFiniteValueAndNotOfOneAlone) {
  const Outcomes bad = [](int trial, std::int64_t) -> std::optional<double> {
    if (trial % 3 == 0) return std::numeric_limits<double>::quiet_NaN();
    if (trial % 3 == 1) return std::nullopt;
    return trial;
  };
  std::set<std::vector<int>> asked;
  const Model model = [&](const std::vector<int>& contenders) {
    asked.insert(contenders);
    return contenders.back();
  };
  PolicyDriver driver(spec_of(Promotion::prediction), Goal::minimize, 9, 1, bad, model);
  driver.finish_all();
  EXPECT_EQ(driver.promoted().at({0, 0}), (Trials{2, 5, 8}));
  EXPECT_EQ(asked, (std::set<std::vector<int>>{{2, 5, 8}}));  // at the rung above
}

// A policy by itself: two rungs below the last, one in two goes on. Each trial arrives with its number as value.
class TwoContenders : public testing::Test {
 protected:
  TwoContenders() {
    SchedulerSpec spec = spec_of(Promotion::prediction);
    spec.max_resource = 4;
    spec.eta = 2;
    policy_ = make_policy(spec, Goal::minimize, 8);
  }

  void start_and_arrive(int trial, double violation = 0) {
    std::vector<Decision> decisions;
    EXPECT_FALSE(policy_->take(std::nullopt, decisions)->trial);
    policy_->arrive({.trial = trial, .value = trial, .violation = violation}, decisions);
    EXPECT_TRUE(decisions.empty());
  }

  // Who goes on from a rung.
  std::optional<int> promote() {
    std::vector<Decision> decisions;
    return policy_->take(std::nullopt, decisions)->trial;
  }

  std::unique_ptr<Policy> policy_;
};

TEST_F(TwoContenders, AreAskedAbout) {
  start_and_arrive(0);
  EXPECT_TRUE(policy_->contenders().empty());
  start_and_arrive(1);
  EXPECT_EQ(policy_->contenders(), (std::vector{0, 1}));
}

TEST_F(TwoContenders, DoNotIncludeWhatViolatesConstraints) {
  start_and_arrive(0, 0.5);
  start_and_arrive(1);
  EXPECT_TRUE(policy_->contenders().empty());
  EXPECT_EQ(promote(), 1);
  start_and_arrive(2);
  start_and_arrive(3);
  EXPECT_EQ(policy_->contenders(), (std::vector{2, 3}));
}

TEST_F(TwoContenders, AreChosenFromOncePerWordOfTheModel) {
  start_and_arrive(0);
  start_and_arrive(1);
  policy_->choose(1);
  EXPECT_EQ(promote(), 1);
  start_and_arrive(2);
  start_and_arrive(3);
  EXPECT_EQ(promote(), 0);
  std::vector<Decision> decisions;
  for (const int trial : {0, 1}) policy_->arrive({.trial = trial, .rung = 1, .value = trial}, decisions);
  EXPECT_EQ(promote(), 0);  // of 0 and 1, the latter of which was the model's choice a rung below
}

TEST_F(TwoContenders, CountAsOneThatMayGoOn) {
  EXPECT_EQ(policy_->promoted_waiting(), 0);
  start_and_arrive(0);
  EXPECT_EQ(policy_->promoted_waiting(), 0);
  start_and_arrive(1);
  EXPECT_EQ(policy_->promoted_waiting(), 1);
  promote();
  EXPECT_EQ(policy_->promoted_waiting(), 0);
}

TEST(PromotionByPrediction, AsksOfTheBestThousandAtMost) {
  SchedulerSpec spec = spec_of(Promotion::prediction);
  spec.max_resource = 4;
  spec.eta = 2;
  constexpr int kTrials = 1'100;
  const auto policy = make_policy(spec, Goal::minimize, kTrials);
  std::vector<Decision> decisions;
  for (int trial = 0; trial < kTrials; ++trial) policy->take(std::nullopt, decisions);
  for (int trial = 0; trial < kTrials; ++trial) policy->arrive({.trial = trial, .value = kTrials - trial}, decisions);
  const std::vector<int> contenders = policy->contenders();
  ASSERT_EQ(contenders.size(), 1'000u);
  EXPECT_EQ(contenders.front(), kTrials - 1);
  EXPECT_EQ(contenders.back(), 100);
}

TEST(PromotionByPrediction, TakesTurnsAsOftenAsItsShareSays) {
  const Rungs rungs(spec_of(Promotion::prediction), Goal::minimize, std::nullopt);
  for (const double share : {0.0, 0.1, 0.15, 0.5, 1.0}) {
    PromotionRule rule(rungs, {.quota = true, .prediction = true});
    int turns = 0;
    for (int i = 0; i < 1000; ++i) {
      turns += rule.is_models_turn(share) ? 1 : 0;
      rule.promoted(i % 2);
    }
    EXPECT_NEAR(turns, 1000 * share, 2) << share;
  }
  EXPECT_FALSE(PromotionRule(rungs, {.quota = true}).is_models_turn(1));
  // Fractional parts of the golden ratio's multiples: 0.618 0.236 0.854 0.472 0.090 0.708 0.326 0.944.
  PromotionRule rule(rungs, {.prediction = true});
  std::vector<int> turns;
  for (int n = 1; n <= 8; ++n) {
    if (rule.is_models_turn(0.5)) turns.push_back(n);
    rule.promoted(0);
  }
  EXPECT_EQ(turns, (std::vector{2, 4, 5, 7}));
}

TEST(PromotionByPrediction, OfAutoHasTheShareOfTheTrialsThatNoRungStops) {
  SchedulerSpec spec = spec_of(Promotion::prediction, SchedulerType::automatic);
  spec.rung_audit = true;
  int asked = 0;
  const Model model = [&](const std::vector<int>& contenders) {
    ++asked;
    return contenders.front();
  };
  PolicyDriver driver(spec, Goal::minimize, 600, 1, kByNumber, model);
  driver.finish_all();
  std::size_t promotions = 0;
  for (const auto& [rung, trials] : driver.promoted()) promotions += trials.size();
  // The rungs are right here: the share falls from 0.15 to 0.1.
  EXPECT_GT(asked, 0.08 * static_cast<double>(promotions));
  EXPECT_LT(asked, 0.16 * static_cast<double>(promotions));
}

}  // namespace tuneband::test

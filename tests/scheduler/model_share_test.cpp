// What is trained next by the word of a model: the model is told by the test.
#include "scheduler/policies/model_share.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/scheduler/policy_driver.hpp"

namespace tuneband::test {

namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using Waiting = std::vector<TrialAtLevel>;

// Levels 1, 3, 9.
SchedulerSpec spec_of(Promotion promotion, SchedulerType type = SchedulerType::asha_delayed, bool restarts = false) {
  SchedulerSpec spec;
  spec.type = type;
  spec.max_resource = 9;
  spec.eta = 3;
  spec.promotion = promotion;
  spec.restarts = restarts;
  return spec;
}

// The worst of those that wait at the lowest rung, as far as it goes.
const Model kWorstToTheTop = [](const Waiting& waiting) -> std::optional<TrialAtLevel> {
  if (waiting.empty()) return std::nullopt;
  return TrialAtLevel{waiting.back().trial, 2};
};

// The share of what is begun that is the model's: kShareMax b^2 / (b^2 + kHalfOfIt^2), of b trainings.
double share_of(double trainings) {
  return ModelShare::kShareMax * trainings * trainings / (trainings * trainings + ModelShare::kHalfOfIt * ModelShare::kHalfOfIt);
}

}  // namespace

TEST(ModelShare, LetsATrialGoOnAsFarAsTheModelSaysAndSaysSo) {
  PolicyDriver driver(spec_of(Promotion::prediction), Goal::minimize, 9, 1, kByNumber, kWorstToTheTop);
  driver.finish_all();
  EXPECT_THAT(driver.started(),
              Contains(AllOf(Field(&Segment::trial, 0), Field(&Segment::rung, 2), Field(&Segment::until_resource, 9))));
  EXPECT_EQ(driver.decisions().front().trial, 0);
  EXPECT_EQ(driver.decisions().front().rule,
            "a worker was free, and of all that could be trained next the model expects to learn most for its cost from this one "
            "until 9");
}

TEST(ModelShare, StartsNewTrialsAtTheRungThatTheModelSays) {
  const Model new_at_3 = [](const Waiting&) { return TrialAtLevel{kNewTrial, 1}; };
  PolicyDriver driver(spec_of(Promotion::prediction), Goal::minimize, 9, 1, kByNumber, new_at_3);
  driver.finish_all();
  EXPECT_THAT(driver.started(),
              Contains(AllOf(Field(&Segment::bracket, 1), Field(&Segment::rung, 0), Field(&Segment::until_resource, 3))));
  EXPECT_EQ(driver.started().front().until_resource, 1);  // nothing had been begun that it could have a share of
}

TEST(ModelShare, IsTheRungsWhereTheModelSaysNothingOrNamesWhoDoesNotWait) {
  const Model stranger = [](const Waiting&) { return TrialAtLevel{77, 2}; };
  const Model silent = [](const Waiting&) { return std::nullopt; };
  PolicyDriver alone(spec_of(Promotion::value), Goal::minimize, 9, 1, kByNumber);
  alone.finish_all();
  for (const Model& model : {Model(), stranger, silent}) {
    PolicyDriver driver(spec_of(Promotion::prediction), Goal::minimize, 9, 1, kByNumber, model);
    driver.finish_all();
    EXPECT_EQ(driver.started(), alone.started());
  }
}

TEST(ModelShare, IsNothingOfOtherPoliciesOrOfALadderOfOneRung) {
  const Model never = [](const Waiting& waiting) -> std::optional<TrialAtLevel> {
    ADD_FAILURE() << "asked about " << waiting.size();
    return std::nullopt;
  };
  SchedulerSpec one_rung = spec_of(Promotion::prediction);
  one_rung.max_resource = 1;
  for (const SchedulerSpec& spec :
       {spec_of(Promotion::value), spec_of(Promotion::prediction, SchedulerType::asha_promotion), one_rung}) {
    PolicyDriver(spec, Goal::minimize, 9, 1, kByNumber, never).finish_all();
  }
}

TEST(ModelShare, AsksOfTheBestThatWaitFromTheHighestRungAndOfNoneThatDoesNotCount) {
  Rungs rungs(spec_of(Promotion::prediction), Goal::minimize, std::nullopt);
  EXPECT_THAT(ModelShare::waiting(rungs), IsEmpty());
  rungs.add(0, {.trial = 4, .value = std::numeric_limits<double>::quiet_NaN()});
  rungs.add(0, {.trial = 5, .value = std::nullopt});
  rungs.add(0, {.trial = 6, .value = 1, .violation = 0.1});
  rungs.add(0, {.trial = 7, .value = 3});
  rungs.add(0, {.trial = 8, .value = 2});
  rungs.add(1, {.trial = 9, .rung = 1, .value = 5});
  rungs.add(2, {.trial = 10, .rung = 2, .value = 5});
  EXPECT_THAT(ModelShare::waiting(rungs), ElementsAre(TrialAtLevel{9, 1}, TrialAtLevel{8, 0}, TrialAtLevel{7, 0}));
  for (int trial = 11; trial < 60; ++trial) rungs.add(0, {.trial = trial, .value = trial});
  const Waiting waiting = ModelShare::waiting(rungs);
  ASSERT_EQ(waiting.size(), 1u + ModelShare::kAskedOfARung);
  EXPECT_EQ(waiting.back().trial, 11 + ModelShare::kAskedOfARung - 3);
}

TEST(ModelShare, IsDueUntilTheModelHasBegunItsShare) {
  BegunResource begun(Rungs(spec_of(Promotion::prediction), Goal::minimize, std::nullopt));
  const ModelShare share(9);
  EXPECT_FALSE(share.due(begun));                    // of nothing
  for (int i = 0; i < 81; ++i) begun.started(0, 0);  // 9 trainings of the ladder's
  EXPECT_TRUE(share.due(begun));                     // the model's share: 0.269 of 81 units
  for (int i = 0; i < 8; ++i) begun.started(1, 1);   // 3 each of the model's
  EXPECT_TRUE(share.due(begun));                     // 24 of 105: 0.229, and its share 0.346
  for (int i = 0; i < 10; ++i) begun.started(1, 1);  // 54 of 135: 0.4; 0.415
  EXPECT_TRUE(share.due(begun));
  for (int i = 0; i < 2; ++i) begun.started(1, 1);  // 60 of 141: 0.4255; 0.4263
  EXPECT_TRUE(share.due(begun));
  begun.started(1, 1);  // 63 of 144: 0.4375; 0.4315
  EXPECT_FALSE(share.due(begun));
  begun.given_back();
  EXPECT_TRUE(share.due(begun));
}

// What the model spends of b trainings is share(b) b, the rest the ladder.
TEST(ModelShare, ExpectsWhatItsShareAsksForBesideTheLadder) {
  EXPECT_EQ(ModelShare::expected(0, 1000), 0);
  for (const double trainings : {0.5, 3.0, 12.0, 40.0, 500.0}) {
    const double models = share_of(trainings) * trainings;
    EXPECT_NEAR(static_cast<double>(ModelShare::expected(std::llround(1000 * (trainings - models)), 1000)), 1000 * models, 5)
        << trainings;
  }
}

TEST(ModelShare, IsAskedBeforeTheRungsLetSomebodyGoOnWhileAnotherTrialMayStart) {
  const auto policy = make_policy(spec_of(Promotion::prediction), Goal::minimize, 4);
  std::vector<Decision> decisions;
  for (int trial = 0; trial < 3; ++trial) policy->take(std::nullopt, decisions);
  for (int trial = 0; trial < 3; ++trial) policy->arrive({.trial = trial, .value = trial}, decisions);
  EXPECT_THAT(*policy->models_turn(), ElementsAre(TrialAtLevel{0, 0}, TrialAtLevel{1, 0}, TrialAtLevel{2, 0}));
  EXPECT_TRUE(policy->choose({2, 2}));
  EXPECT_EQ(policy->take(std::nullopt, decisions)->trial, 2);
  EXPECT_EQ(policy->models_turn(), std::nullopt);  // 11 begun, 5 of the ladder
  policy->take(std::nullopt, decisions);
  EXPECT_EQ(policy->models_turn(), std::nullopt);
  const auto last = make_policy(spec_of(Promotion::prediction), Goal::minimize, 4);
  for (int trial = 0; trial < 3; ++trial) last->take(std::nullopt, decisions);
  EXPECT_NE(last->models_turn(), std::nullopt);
  last->start_no_more();
  EXPECT_EQ(last->models_turn(), std::nullopt);
  EXPECT_FALSE(last->choose({kNewTrial, 0}));
}

TEST(ModelShare, OfANewTrialIsNotOneDrawnAtRandom) {
  const auto policy = make_policy(spec_of(Promotion::prediction, SchedulerType::automatic), Goal::minimize, 9);
  std::vector<Decision> decisions;
  ASSERT_TRUE(policy->choose({kNewTrial, 1}));
  const Work work = *policy->take(std::nullopt, decisions);
  EXPECT_EQ(work.until_resource, 3);
  EXPECT_FALSE(work.at_random);
}

TEST(ModelShare, TakesAWordOnceAndOnlyOfWhoWaitsBelow) {
  const auto policy = make_policy(spec_of(Promotion::prediction), Goal::minimize, 9);
  std::vector<Decision> decisions;
  for (int trial = 0; trial < 3; ++trial) policy->take(std::nullopt, decisions);
  for (int trial = 0; trial < 2; ++trial) policy->arrive({.trial = trial, .value = trial}, decisions);
  EXPECT_FALSE(policy->choose({0, 0}));
  EXPECT_FALSE(policy->choose({2, 1}));
  EXPECT_TRUE(policy->choose({1, 1}));
  EXPECT_EQ(policy->take(std::nullopt, decisions)->trial, 1);
  EXPECT_EQ(policy->take(std::nullopt, decisions)->trial, std::nullopt);
}

// The model always wants a whole training.
TEST(ModelShare, OfALongJobGrowsTowardsItsMaximum) {
  for (const bool restarts : {false, true}) {
    const SchedulerSpec spec = spec_of(Promotion::prediction, SchedulerType::asha_delayed, restarts);
    const auto share_at = [&](int trials) {
      PolicyDriver driver(spec, Goal::minimize, trials, 4, kByNumber, kWorstToTheTop);
      driver.finish_all();
      const double level[] = {1, 3, 9};
      double begun = 0;
      double models = 0;
      std::map<int, int> stood;
      for (const Segment& segment : driver.started()) {
        const auto before = stood.find(segment.trial);
        const double cost = level[segment.rung] - (restarts || before == stood.end() ? 0 : level[before->second]);
        begun += cost;
        if (segment.rung == 2 && before != stood.end() && before->second == 0) models += cost;
        stood[segment.trial] = segment.rung;
      }
      EXPECT_NEAR(models / begun, share_of(begun / 9), 0.1) << trials;
      return models / begun;
    };
    EXPECT_LT(share_at(30), 0.4);
    EXPECT_GT(share_at(900), 0.5);
  }
}

// Of nine at the lowest rung three may go on. The model lets the worst go: the rungs' three go on beside them.
TEST(ModelShare, LeavesTheRungsTheirOwnQuotas) {
  const auto policy = make_policy(spec_of(Promotion::prediction), Goal::minimize, 10);
  std::vector<Decision> decisions;
  for (int trial = 0; trial < 9; ++trial) policy->take(std::nullopt, decisions);
  for (int trial = 0; trial < 9; ++trial) policy->arrive({.trial = trial, .value = trial}, decisions);
  for (const int trial : {8, 7, 6}) {
    ASSERT_TRUE(policy->choose({trial, 1}));
    EXPECT_EQ(policy->take(std::nullopt, decisions)->trial, trial);
  }
  for (const int trial : {0, 1, 2}) EXPECT_EQ(policy->take(std::nullopt, decisions)->trial, trial);
  EXPECT_EQ(policy->take(std::nullopt, decisions)->trial, std::nullopt);
}

}  // namespace tuneband::test

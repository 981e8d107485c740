// What is trained next by the word of a model: the model is told by the test.
#include "scheduler/policies/model_share.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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

void arrive(Rungs& rungs, int index, int results) {
  for (int i = 0; i < results; ++i) rungs.add(index, {.trial = 100 * index + i, .rung = index, .value = i});
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

// With a share of a half it is the model's turn until it has begun as much as the ladder.
TEST(ModelShare, IsDueUntilAsMuchIsBegunForTheModelAsTheRungsAloneWouldHaveBegun) {
  Rungs rungs(spec_of(Promotion::prediction), Goal::minimize, std::nullopt);
  ModelShare share(rungs, false);
  EXPECT_FALSE(share.due(rungs));                       // of nothing
  for (int i = 0; i < 9; ++i) share.started(rungs, 0);  // 9 of the ladder's
  arrive(rungs, 0, 9);
  for (int i = 0; i < 2; ++i) share.started(rungs, 1);  // 3 each of the model's: new trials above the lowest rung
  EXPECT_TRUE(share.due(rungs));                        // 15 begun, 9 of the ladder
  share.started(rungs, 1);
  EXPECT_FALSE(share.due(rungs));  // 18, 9
  share.given_back(rungs, 1);
  EXPECT_TRUE(share.due(rungs));
  share.started(rungs, 2);  // one that no rung stops is in neither
  EXPECT_TRUE(share.due(rungs));
  for (int i = 0; i < 3; ++i) share.went_on(rungs, 0, 1);  // 2 each, of the ladder's quota of 3
  EXPECT_TRUE(share.due(rungs));                           // 21, 15
  share.went_on(rungs, 0, 2);                              // the fourth: 8 of the model's
  EXPECT_TRUE(share.due(rungs));                           // 29, 15
  share.went_on(rungs, 1, 2);                              // 6 of the quota of 1
  EXPECT_TRUE(share.due(rungs));                           // 35, 21
  share.went_on(rungs, 1, 2);
  EXPECT_TRUE(share.due(rungs));  // 41, 21
  share.went_on(rungs, 1, 2);
  EXPECT_FALSE(share.due(rungs));  // 47, 21
}

TEST(ModelShare, CountsTheWholeLevelWhereRungsAreTrainingsOfTheirOwn) {
  Rungs rungs(spec_of(Promotion::prediction, SchedulerType::asha_delayed, true), Goal::minimize, std::nullopt);
  ModelShare share(rungs, true);
  for (int i = 0; i < 3; ++i) share.started(rungs, 0);
  arrive(rungs, 0, 3);
  share.went_on(rungs, 0, 1);     // 3 of the quota of 1
  EXPECT_TRUE(share.due(rungs));  // 6 begun, 6 of the ladder
  share.went_on(rungs, 0, 1);
  EXPECT_TRUE(share.due(rungs));  // 9, 6
  share.went_on(rungs, 0, 1);
  EXPECT_FALSE(share.due(rungs));  // 12, 6
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

// The model always wants a whole training, so that nobody comes to the second rung: the ladder is a third that leave the first.
TEST(ModelShare, OfALongJobIsHalfOfTheResource) {
  for (const bool restarts : {false, true}) {
    const SchedulerSpec spec = spec_of(Promotion::prediction, SchedulerType::asha_delayed, restarts);
    PolicyDriver driver(spec, Goal::minimize, 900, 4, kByNumber, kWorstToTheTop);
    driver.finish_all();
    const double level[] = {1, 3, 9};
    double begun = 0;
    std::map<int, int> stood;
    for (const Segment& segment : driver.started()) {
      const auto before = stood.find(segment.trial);
      begun += level[segment.rung] - (restarts || before == stood.end() ? 0 : level[before->second]);
      stood[segment.trial] = segment.rung;
    }
    const double ladder = 900 * 1 + 300 * (restarts ? 3 : 2);
    EXPECT_GT(begun, 1.9 * ladder);
    EXPECT_LT(begun, 2.1 * ladder);
  }
}

}  // namespace tuneband::test

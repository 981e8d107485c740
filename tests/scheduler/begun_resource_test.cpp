// What a job's segments cost, by whom they were begun.
#include "scheduler/policies/begun_resource.hpp"

#include <gtest/gtest.h>

namespace tuneband::test {

namespace {

// Levels 1, 3, 9, 27.
BegunResource begun_of(bool restarts = false) {
  SchedulerSpec spec;
  spec.type = SchedulerType::automatic;
  spec.max_resource = 27;
  spec.eta = 3;
  spec.restarts = restarts;
  return BegunResource(Rungs(spec, Goal::minimize, std::nullopt));
}

constexpr int kTop = 3;

}  // namespace

TEST(BegunResource, OfANewTrialIsWhatItHeadsForWhereverItStarts) {
  BegunResource begun = begun_of();
  begun.started(0, 0);
  EXPECT_EQ(begun.of_ladder(), 1);
  begun.started(0, 2);  // above the first rung, and still a trial of the ladder's
  EXPECT_EQ(begun.of_ladder(), 10);
  begun.started(2, 2);
  EXPECT_EQ(begun.of_model(), 9);
  EXPECT_EQ(begun.of_both(), 19);
  begun.given_back();
  EXPECT_EQ(begun.of_model(), 0);
  EXPECT_EQ(begun.of_ladder(), 10);
}

TEST(BegunResource, LeavesOutWhatNoRungDecidesAbout) {
  BegunResource begun = begun_of();
  begun.started(kTop, kTop);
  EXPECT_EQ(begun.of_both(), 0);
  begun.given_back();
  EXPECT_EQ(begun.of_both(), 0);
}

TEST(BegunResource, OfASegmentIsWhatItTrainsBeyondTheRungThatItLeavesOrAllOfItWhereRungsRestart) {
  for (const bool restarts : {false, true}) {
    BegunResource begun = begun_of(restarts);
    begun.went_on(0, 3, true);
    EXPECT_EQ(begun.of_model(), restarts ? 27 : 26);
    begun.went_on(1, 2, false);
    EXPECT_EQ(begun.of_ladder(), restarts ? 9 : 6);
  }
}

TEST(BegunResource, IsTheSameAfterARestore) {
  BegunResource begun = begun_of();
  begun.started(0, 1);  // trial 0: comes to 3, goes on by the model to 27, is under way
  begun.went_on(1, 3, true);
  begun.started(0, 0);  // 1: comes to 1, to 3 by the rungs, and waits there
  begun.went_on(0, 1, false);
  begun.started(1, 1);  // 2: the model's, on its way to 3
  begun.started(kTop, kTop);
  begun.started(0, 2);  // 4: on its way to 9

  BegunResource again = begun_of();
  again.recall_trial(0, 3);
  again.recall_trial(0, 1);
  again.recall_trial(1, 1);
  again.recall_trial(kTop, kTop);
  again.recall_trial(0, 2);
  again.recall_result(1, 0, false);
  again.recall_result(0, 1, true);
  again.recall_result(1, 1, false);
  again.recall_result(3, kTop, false);
  again.recalled();
  EXPECT_EQ(again.of_ladder(), begun.of_ladder());
  EXPECT_EQ(again.of_model(), begun.of_model());
  EXPECT_EQ(begun.of_ladder(), 3 + 3 + 9);
  EXPECT_EQ(begun.of_model(), 24 + 3);
}

}  // namespace tuneband::test

#include "analytics/explanation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace tuneband {

namespace {

DecisionRow example_decision(Verdict verdict) {
  DecisionRow decision;
  decision.trial = {JobId{7}, 11};
  decision.rung = 1;
  decision.resource = 9;
  decision.value = 0.75;
  decision.verdict = verdict;
  decision.rank = 5;
  decision.filled = 9;
  decision.slots = 9;
  decision.keep = 3;
  decision.cutoff = 0.765;
  decision.ahead = {4, 7, 2, 1};
  decision.rule = "the rung is full: the best 3 go on";
  return decision;
}

ParsedJob example_job() {
  ParsedJob job;
  job.spec.objective = {"validation-auc", Goal::maximize, std::nullopt};
  job.resource_name = "rounds";
  return job;
}

std::string explained(const DecisionRow& decision) { return explain_decision(decision, example_job()); }

}  // namespace

TEST(Explain, AStoppedTrialIsToldItsRankTheCutoffAndWhoWasAhead) {
  EXPECT_EQ(
      explained(example_decision(Verdict::stopped)),
      "Rung 1 of bracket 0 (9 rounds): validation-auc was 0.75, rank 5 of 9. It was stopped: the rung is full; the best 3 go on. "
      "The last value to go on was 0.765: its own was 0.015 worse. Ahead of it: trials 4, 7, 2 and 1.");
}

TEST(Explain, APromotedTrialIsToldByHowMuch) {
  DecisionRow decision = example_decision(Verdict::promoted);
  decision.value = 0.78;
  decision.rank = 1;
  decision.ahead = {};
  EXPECT_EQ(explained(decision),
            "Rung 1 of bracket 0 (9 rounds): validation-auc was 0.78, rank 1 of 9. It was promoted: the rung is full; "
            "the best 3 go on. The last value to go on was 0.765: its own was 0.015 better. Nothing was ahead of it.");
}

TEST(Explain, WhatIsChangedAsATrialGoesOnIsASentenceOfItsOwn) {
  DecisionRow decision = example_decision(Verdict::promoted);
  decision.rank = 2;
  decision.ahead = {4};
  decision.note = "its best round was 2 of 9, so it goes on with smaller steps, eta 0.1 instead of 0.5";
  EXPECT_THAT(explained(decision),
              ::testing::EndsWith(" Ahead of it: trial 4. Its best round was 2 of 9, so it goes on with smaller steps, eta 0.1 "
                                  "instead of 0.5."));
}

TEST(Explain, ATrialThatTheUserStoppedIsToldWhereItWasThen) {
  DecisionRow decision = example_decision(Verdict::stopped);
  decision.rank = 0;
  decision.ahead = {};
  decision.rule = "stopped by the user while it waited here";
  EXPECT_EQ(explained(decision),
            "Rung 1 of bracket 0 (9 rounds): validation-auc was 0.75. It was stopped by the user while it waited here.");
  decision.value = std::nullopt;
  decision.rank = 2;
  decision.rule = "stopped by the user before it reached this rung";
  EXPECT_EQ(explained(decision),
            "Rung 1 of bracket 0 (9 rounds): stopped by the user on the way; its slot was given up, as a failure's is.");
}

TEST(Explain, AValueThatDidNotDecideSinceItBreaksAConstraintIsNotComparedWithTheLastToGoOn) {
  DecisionRow decision = example_decision(Verdict::stopped);
  decision.value = 0.78;
  decision.violation = 0.5;
  decision.rank = 2;
  decision.keep = 1;
  decision.ahead = {4};
  decision.rule = "it is outside";
  EXPECT_EQ(explained(decision),
            "Rung 1 of bracket 0 (9 rounds): validation-auc was 0.78, rank 2 of 9. It was stopped: it is outside. "
            "Ahead of it: trial 4.");
}

TEST(Explain, OfSeveralObjectivesAllValuesAreTold) {
  ParsedJob job = example_job();
  job.spec.more_objectives = {{"ms", Goal::minimize, std::nullopt}, {"size", Goal::minimize, std::nullopt}};
  DecisionRow decision = example_decision(Verdict::waiting);
  decision.more_values = {12.5, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_THAT(explain_decision(decision, job), ::testing::HasSubstr("validation-auc was 0.75, ms 12.5 and size nan. It waits"));
}

TEST(Explain, OneThatWasAsGoodAsThoseThatWentOnIsNotComparedWithThem) {
  DecisionRow decision = example_decision(Verdict::stopped);
  decision.rank = decision.keep;
  decision.value = decision.cutoff;
  EXPECT_THAT(explained(decision), ::testing::Not(::testing::HasSubstr("The last value")));
  decision.rank = decision.keep + 1;
  EXPECT_THAT(explained(decision), ::testing::HasSubstr("The last value"));
}

// A model or an audit lets it go on, whatever its rank.
TEST(Explain, OneThatWentOnFromBelowTheLineIsNotComparedWithIt) {
  DecisionRow decision = example_decision(Verdict::promoted);
  decision.rank = decision.keep + 1;
  EXPECT_THAT(explained(decision), ::testing::Not(::testing::HasSubstr("The last value")));
}

// Where a rung does not wait for all, whoever stood at the line may have been stopped.
TEST(Explain, AtARungThatDoesNotWaitTheLineIsThatOfTheMoment) {
  DecisionRow decision = example_decision(Verdict::stopped);
  decision.slots = 0;
  EXPECT_THAT(explained(decision), ::testing::HasSubstr("The line of the best 3 of 9 was 0.765: its own was 0.015 worse."));
}

TEST(Explain, AtATieTheStoppedOneIsToldWhoIsAhead) {
  DecisionRow decision = example_decision(Verdict::stopped);
  decision.value = decision.cutoff;
  EXPECT_NE(explained(decision).find("The last value to go on was 0.765 too: of equals the lower trial number is ahead."),
            std::string::npos);
  decision.verdict = Verdict::promoted;
  decision.rank = decision.keep;
  EXPECT_NE(explained(decision).find("The last value to go on was 0.765: its own."), std::string::npos);
}

TEST(Explain, ASentenceThatEndsByItselfGetsNoSecondEnd) {
  DecisionRow decision = example_decision(Verdict::promoted);
  decision.rank = decision.keep;
  decision.rule = "all go on: does the next rung put them in the same order?";
  const std::string text = explained(decision);
  EXPECT_NE(text.find("the same order? The last value"), std::string::npos) << text;
}

TEST(Explain, WhenMinimizingLessIsBetter) {
  ParsedJob job = example_job();
  job.spec.objective.goal = Goal::minimize;
  DecisionRow decision = example_decision(Verdict::promoted);
  decision.rank = 1;
  const std::string text = explain_decision(decision, job);
  EXPECT_NE(text.find("its own was 0.015 better"), std::string::npos) << text;
}

TEST(Explain, AnEarlyVerdictSaysHowManyWereStillToCome) {
  DecisionRow decision = example_decision(Verdict::stopped);
  decision.slots = 12;
  decision.ahead = {4};
  const std::string text = explained(decision);
  EXPECT_NE(text.find("rank 5 of 9 (3 still to come)"), std::string::npos) << text;
  EXPECT_NE(text.find("Ahead of it: trials 4 and 3 more."), std::string::npos) << text;
}

TEST(Explain, WaitingFailedAndCompletedHaveTheirOwnSentences) {
  EXPECT_EQ(explained(example_decision(Verdict::waiting)),
            "Rung 1 of bracket 0 (9 rounds): validation-auc was 0.75. It waits: the verdict is not certain until more trials "
            "have arrived at "
            "this rung.");
  EXPECT_EQ(explain_decision(example_decision(Verdict::waiting), example_job(), true),
            "Rung 1 of bracket 0 (9 rounds): validation-auc was 0.75. It ended before there was a verdict.");
  DecisionRow failed = example_decision(Verdict::stopped);
  failed.value.reset();
  EXPECT_EQ(explained(failed), "Rung 1 of bracket 0 (9 rounds): it failed on the way, and its slot was given up.");
  DecisionRow completed = example_decision(Verdict::completed);
  completed.rule = "it reached max_resource";
  completed.rank = 1;
  completed.filled = 1;
  completed.slots = 1;
  completed.ahead = {};
  EXPECT_EQ(explained(completed),
            "Rung 1 of bracket 0 (9 rounds): validation-auc was 0.75, rank 1 of 1. It was completed: it reached max_resource.");
}

TEST(Explain, ATrialSaysHowItStands) {
  TrialRow trial;
  trial.resource = 9;
  trial.until_resource = 27;
  trial.worker = {"local-1-a63184a1292cb8c6"};
  const auto told = [&](TrialState state) {
    trial.state = state;
    return explain_state(trial, example_job(), "");
  };
  EXPECT_THAT(told(TrialState::pending), ::testing::ElementsAre("It is queued."));
  EXPECT_THAT(told(TrialState::running), ::testing::ElementsAre("It is running on local-1: 9 rounds so far, until 27."));
  EXPECT_THAT(told(TrialState::paused), ::testing::ElementsAre("It is paused after 9 rounds."));
  EXPECT_THAT(told(TrialState::cancelled),
              ::testing::ElementsAre("It was cancelled after 9 rounds: the job ended before it could go on."));
  EXPECT_THAT(told(TrialState::stopped), ::testing::IsEmpty());
  EXPECT_THAT(told(TrialState::completed), ::testing::IsEmpty());
}

TEST(Explain, OneThatWaitsAfterALossSaysWhy) {
  TrialRow trial;
  trial.state = TrialState::pending;
  trial.resource = 3;
  trial.attempts_in_all = 1;
  trial.exit_class = ExitClass::worker_lost;
  trial.message = "its process ended";
  EXPECT_THAT(explain_state(trial, example_job(), ""),
              ::testing::ElementsAre("It is queued.", "Its last attempt ended after 3 rounds (worker_lost): its process ended."));
}

TEST(Explain, ADistributedOneSaysOnHowManyWorkersItRuns) {
  TrialRow trial;
  trial.state = TrialState::running;
  trial.until_resource = 27;
  trial.worker = {"local-1-a63184a1292cb8c6"};
  trial.peers = {{"local-0-a63184a1292cb8c6"}};
  EXPECT_THAT(explain_state(trial, example_job(), ""),
              ::testing::ElementsAre("It is running on local-1 and 1 more worker: 0 rounds so far, until 27."));
}

TEST(Explain, AFailedTrialComesWithAdvice) {
  TrialRow trial;
  trial.state = TrialState::failed;
  trial.exit_class = ExitClass::out_of_memory;
  trial.message = "the memory limit of 1 GB was reached";
  EXPECT_THAT(explain_state(trial, example_job(), "Take fewer rows."),
              ::testing::ElementsAre("It failed after 0 rounds (out_of_memory): the memory limit of 1 GB was reached.",
                                     "Take fewer rows."));
}

TEST(Explain, ATrialOfWhichASegmentWasRepeatedSaysSo) {
  TrialRow trial;
  trial.state = TrialState::paused;
  trial.rung = 1;
  trial.attempts_in_all = 3;
  EXPECT_THAT(
      explain_state(trial, example_job(), ""),
      ::testing::ElementsAre("It is paused after 0 rounds.", "A part of its training had to be started again: 2 attempts."));
}

}  // namespace tuneband

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/terminal/explain_text.hpp"
#include "tests/cli/examples.hpp"

namespace tuneband::cli {

namespace {

DecisionInfo example_decision(const std::string& verdict) {
  DecisionInfo decision;
  decision.trial = 11;
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

const JobInfo& example_job_info() {
  static const JobInfo job = job_from_json(test::example_job());
  return job;
}

}  // namespace

TEST(Explain, AStoppedTrialIsToldItsRankTheCutoffAndWhoWasAhead) {
  EXPECT_EQ(
      explain_decision(example_decision("stopped"), example_job_info()),
      "Rung 1 of bracket 0 (9 rounds): validation-auc was 0.75, rank 5 of 9. It was stopped: the rung is full; the best 3 go on. "
      "The last value to go on was 0.765: its own was 0.015 worse. Ahead of it: trials 4, 7, 2 and 1.");
}

TEST(Explain, APromotedTrialIsToldByHowMuch) {
  DecisionInfo decision = example_decision("promoted");
  decision.value = 0.78;
  decision.rank = 1;
  decision.ahead = {};
  EXPECT_EQ(explain_decision(decision, example_job_info()),
            "Rung 1 of bracket 0 (9 rounds): validation-auc was 0.78, rank 1 of 9. It was promoted: the rung is full; "
            "the best 3 go on. The last value to go on was 0.765: its own was 0.015 better. Nothing was ahead of it.");
}

TEST(Explain, WhatIsChangedAsATrialGoesOnIsASentenceOfItsOwn) {
  DecisionInfo decision = example_decision("promoted");
  decision.rank = 2;
  decision.ahead = {4};
  decision.note = "its best round was 2 of 9, so it goes on with smaller steps, eta 0.1 instead of 0.5";
  EXPECT_THAT(explain_decision(decision, example_job_info()),
              testing::EndsWith(" Ahead of it: trial 4. Its best round was 2 of 9, so it goes on with smaller steps, eta 0.1 "
                                "instead of 0.5."));
}

TEST(Explain, ATrialThatTheUserStoppedIsToldWhereItWasThen) {
  const auto told = [](const Json& decision) { return explain_decision(decision_from_json(decision), example_job_info()); };
  Json decision = {
      {"resource", 9}, {"value", 0.78}, {"verdict", "stopped"},   {"rank", 0},
      {"filled", 2},   {"keep", 1},     {"ahead", Json::array()}, {"rule", "stopped by the user while it waited here"}};
  EXPECT_EQ(told(decision),
            "Rung 0 of bracket 0 (9 rounds): validation-auc was 0.78. It was stopped by the user while it waited here.");
  decision["value"] = nullptr;
  decision["rank"] = 2;
  decision["rule"] = "stopped by the user before it reached this rung";
  EXPECT_EQ(told(decision),
            "Rung 0 of bracket 0 (9 rounds): stopped by the user on the way; its slot was given up, as a failure's is.");
}

TEST(Explain, AValueThatDidNotDecideSinceItBreaksAConstraintIsNotComparedWithTheLastToGoOn) {
  const Json decision = {{"resource", 9}, {"value", 0.78}, {"violation", 0.5}, {"verdict", "stopped"}, {"rank", 2},
                         {"filled", 2},   {"keep", 1},     {"cutoff", 0.765},  {"ahead", {4}},         {"rule", "it is outside"}};
  EXPECT_EQ(explain_decision(decision_from_json(decision), example_job_info()),
            "Rung 0 of bracket 0 (9 rounds): validation-auc was 0.78, rank 2 of 2. It was stopped: it is outside. "
            "Ahead of it: trial 4.");
}

TEST(Explain, OfSeveralObjectivesAllValuesAreTold) {
  Json job = test::example_job();
  job["more_objectives"] = {{{"metric", "ms"}, {"goal", "minimize"}}, {{"metric", "size"}, {"goal", "minimize"}}};
  Json decision = {{"resource", 9}, {"value", 0.75}, {"more_values", {12.5, "nan"}}, {"verdict", "waiting"}};
  EXPECT_THAT(explain_decision(decision_from_json(decision), job_from_json(job)),
              testing::HasSubstr("validation-auc was 0.75, ms 12.5 and size nan. It waits"));
}

TEST(Explain, OneThatWasAsGoodAsThoseThatWentOnIsNotComparedWithThem) {
  DecisionInfo decision = example_decision("stopped");
  decision.rank = decision.keep;
  decision.value = decision.cutoff;
  EXPECT_THAT(explain_decision(decision, example_job_info()), testing::Not(testing::HasSubstr("The last value")));
  decision.rank = decision.keep + 1;
  EXPECT_THAT(explain_decision(decision, example_job_info()), testing::HasSubstr("The last value"));
}

TEST(Explain, AtATieTheStoppedOneIsToldWhoIsAhead) {
  DecisionInfo decision = example_decision("stopped");
  decision.value = decision.cutoff;
  EXPECT_NE(explain_decision(decision, example_job_info())
                .find("The last value to go on was 0.765 too: of equals the lower trial number is ahead."),
            std::string::npos);
  decision.verdict = "promoted";
  EXPECT_NE(explain_decision(decision, example_job_info()).find("The last value to go on was 0.765: its own."),
            std::string::npos);
}

TEST(Explain, ASentenceThatEndsByItselfGetsNoSecondEnd) {
  DecisionInfo decision = example_decision("promoted");
  decision.rule = "all go on: does the next rung put them in the same order?";
  const std::string text = explain_decision(decision, example_job_info());
  EXPECT_NE(text.find("the same order? The last value"), std::string::npos) << text;
}

TEST(Explain, WhenMinimizingLessIsBetter) {
  JobInfo job = example_job_info();
  job.maximize = false;
  const std::string text = explain_decision(example_decision("promoted"), job);
  EXPECT_NE(text.find("its own was 0.015 better"), std::string::npos) << text;
}

TEST(Explain, AnEarlyVerdictSaysHowManyWereStillToCome) {
  DecisionInfo decision = example_decision("stopped");
  decision.slots = 12;
  decision.ahead = {4};
  const std::string text = explain_decision(decision, example_job_info());
  EXPECT_NE(text.find("rank 5 of 9 (3 still to come)"), std::string::npos) << text;
  EXPECT_NE(text.find("Ahead of it: trials 4 and 3 more."), std::string::npos) << text;
}

TEST(Explain, WaitingFailedAndCompletedHaveTheirOwnSentences) {
  EXPECT_EQ(explain_decision(example_decision("waiting"), example_job_info()),
            "Rung 1 of bracket 0 (9 rounds): validation-auc was 0.75. It waits: the verdict is not certain until more trials "
            "have arrived at "
            "this rung.");
  DecisionInfo failed = example_decision("stopped");
  failed.value.reset();
  EXPECT_EQ(explain_decision(failed, example_job_info()),
            "Rung 1 of bracket 0 (9 rounds): it failed on the way, and its slot was given up.");
  DecisionInfo completed = example_decision("completed");
  completed.rule = "it reached max_resource";
  completed.rank = 1;
  completed.filled = 1;
  completed.slots = 1;
  completed.ahead = {};
  EXPECT_EQ(explain_decision(completed, example_job_info()),
            "Rung 1 of bracket 0 (9 rounds): validation-auc was 0.75, rank 1 of 1. It was completed: it reached max_resource.");
}

TEST(Explain, AFailedTrialComesWithAdvice) {
  const Json failed = test::failed_trial(4, "out_of_memory");
  EXPECT_EQ(explain_state(trial_from_json(failed), example_job_info()),
            (std::vector<std::string>{"It failed after 0 rounds (out_of_memory): the memory limit of 1 GB was reached.",
                                      failed["advice"].get<std::string>()}));
}

}  // namespace tuneband::cli

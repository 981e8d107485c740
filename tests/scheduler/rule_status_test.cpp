#include "scheduler/rule_status.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tuneband {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr Timestamp kCreated{1000};
constexpr Timestamp kStarted{2000};
constexpr Timestamp kSaid{3000};
constexpr Timestamp kEnded{4000};

debugger::RuleSpec overfit() {
  debugger::RuleSpec rule;
  rule.name = "my-overfit";
  rule.type = "overfit";
  return rule;
}

TrialRow trial_of(TrialState state, std::optional<debugger::RuleStanding> standing = std::nullopt) {
  TrialRow trial;
  trial.id = {JobId{1}, 4};
  trial.state = state;
  trial.created_at = kCreated;
  if (state != TrialState::pending) trial.started_at = kStarted;
  if (ended(state)) trial.ended_at = kEnded;
  if (standing) {
    standing->rule = "my-overfit";
    trial.rules = {{{"another", 9, 9, 9, "crashed"}, kCreated}, {*standing, kSaid}};
  }
  return trial;
}

RuleStatus status_of(TrialState state, std::optional<debugger::RuleStanding> standing = std::nullopt) {
  return rule_status(overfit(), trial_of(state, std::move(standing)), nullptr);
}

TEST(RuleStatus, WhileATrialIsNotOverItIsInProgress) {
  EXPECT_EQ(status_of(TrialState::pending).status, RuleWord::in_progress);
  EXPECT_EQ(status_of(TrialState::pending).details, "the trial has not begun");
  EXPECT_EQ(status_of(TrialState::pending).changed_at, kCreated);
  for (const TrialState state : {TrialState::running, TrialState::paused}) {
    const RuleStatus judging = status_of(state, debugger::RuleStanding{"", 5, 4, 7, ""});
    EXPECT_EQ(judging.status, RuleWord::in_progress);
    EXPECT_EQ(judging.details, "judging; nothing was found yet");
    EXPECT_EQ(judging.changed_at, kSaid);
    EXPECT_EQ(status_of(state, debugger::RuleStanding{"", 5, 1, 7, ""}).details, judging.details);
    EXPECT_THAT(status_of(state).details, StartsWith("not judging yet: nothing that it looks at was saved (metrics and losses)"));
    EXPECT_EQ(status_of(state).changed_at, kStarted);
  }
}

TEST(RuleStatus, NothingFoundIsNotNothingJudged) {
  for (const TrialState state : {TrialState::completed, TrialState::stopped}) {
    const RuleStatus judged = status_of(state, debugger::RuleStanding{"", 5, 1, 7, ""});
    EXPECT_EQ(judged.status, RuleWord::no_issues_found);
    EXPECT_EQ(judged.details, "1 saved step judged, the last one at step 7");
    EXPECT_EQ(judged.changed_at, kEnded);
    EXPECT_EQ(judged.saved_steps, 5);
    EXPECT_EQ(judged.judged_steps, 1);
    EXPECT_EQ(judged.last_step, 7);
    const RuleStatus lacks = status_of(state, debugger::RuleStanding{"", 5, 0, 0, ""});
    EXPECT_EQ(lacks.status, RuleWord::not_judged);
    EXPECT_THAT(lacks.details, HasSubstr("was saved at 5 steps, but not what it needs: a metric"));
    EXPECT_THAT(lacks.details, HasSubstr("on training data and, at the same step or later, on validation data"));
    EXPECT_EQ(lacks.last_step, std::nullopt);
    EXPECT_EQ(status_of(state, debugger::RuleStanding{"", 5, 2, 7, ""}).details, "2 saved steps judged, the last one at step 7");
    EXPECT_THAT(status_of(state, debugger::RuleStanding{"", 1, 0, 0, ""}).details, HasSubstr("was saved at 1 step, but not"));
    EXPECT_EQ(status_of(state, debugger::RuleStanding{"", 0, 0, 0, ""}).status, RuleWord::not_judged);
    EXPECT_EQ(status_of(state).status, RuleWord::not_judged) << "a worker that said nothing";
  }
  EXPECT_EQ(status_of(TrialState::completed, debugger::RuleStanding{"", 0, 0, 0, ""}).details,
            "nothing that it looks at was saved (metrics and losses)");
}

TEST(RuleStatus, ATrialThatFailedOrWasCancelledHasStoppedItsRules) {
  for (const TrialState state : {TrialState::failed, TrialState::cancelled}) {
    EXPECT_EQ(status_of(state, debugger::RuleStanding{"", 5, 5, 7, ""}).status, RuleWord::stopped);
    EXPECT_EQ(status_of(state, debugger::RuleStanding{"", 5, 0, 0, ""}).status, RuleWord::not_judged);
  }
  EXPECT_THAT(status_of(TrialState::failed, debugger::RuleStanding{"", 5, 5, 7, ""}).details, StartsWith("the trial failed; "));
  EXPECT_THAT(status_of(TrialState::cancelled, debugger::RuleStanding{"", 5, 5, 7, ""}).details,
              StartsWith("the trial was cancelled; nothing was found until then: 5 saved steps judged"));
  TrialRow never = trial_of(TrialState::cancelled);
  never.started_at.reset();
  EXPECT_EQ(rule_status(overfit(), never, nullptr).details, "the trial never ran");
  EXPECT_EQ(rule_status(overfit(), never, nullptr).status, RuleWord::not_judged);
}

TEST(RuleStatus, ATrialThatWasEndedOnItsWayHasStoppedItsRules) {
  TrialRow trial = trial_of(TrialState::stopped, debugger::RuleStanding{"", 5, 5, 7, ""});
  trial.until_resource = 9;
  trial.resource = 8;
  EXPECT_EQ(rule_status(overfit(), trial, nullptr).status, RuleWord::stopped);
  EXPECT_EQ(rule_status(overfit(), trial, nullptr).details,
            "the trial was ended at resource 8 of 9; nothing was found as far as its worker had said: 5 saved steps judged, the "
            "last one at step 7");
  trial.resource = 9;
  EXPECT_EQ(rule_status(overfit(), trial, nullptr).status, RuleWord::no_issues_found) << "its rung stopped it";
}

TEST(RuleStatus, AFindingCountsBeforeAFaultAndAFaultBeforeTheTrial) {
  for (const TrialState state : {TrialState::running, TrialState::completed, TrialState::failed}) {
    TrialRow trial = trial_of(state, debugger::RuleStanding{"", 5, 5, 7, "ended without an answer while the training went on"});
    const RuleStatus faulty = rule_status(overfit(), trial, nullptr);
    EXPECT_EQ(faulty.status, RuleWord::error);
    EXPECT_EQ(faulty.details, "its process ended without an answer while the training went on");
    EXPECT_EQ(faulty.changed_at, kSaid);
    FindingRow finding;
    finding.rule = "my-overfit";
    finding.message = "too much";
    finding.step = 9;
    finding.at = Timestamp{3500};
    const RuleStatus found = rule_status(overfit(), trial, &finding);
    EXPECT_EQ(found.status, RuleWord::issues_found);
    EXPECT_EQ(found.details, "too much");
    EXPECT_EQ(found.changed_at, finding.at);
    EXPECT_EQ(found.last_step, 9);
  }
}

TEST(RuleStatus, WhatARuleLooksAtIsSaidAsTheJobSaysIt) {
  debugger::RuleSpec rule = overfit();
  rule.collections = {"mine"};
  rule.tensors.push_back(*debugger::Pattern::create("^losses/a"));
  const TrialRow trial = trial_of(TrialState::completed, debugger::RuleStanding{"", 0, 0, 0, ""});
  EXPECT_THAT(rule_status(rule, trial, nullptr).details, HasSubstr("(mine and `^losses/a`)"));
  rule.collections.clear();
  EXPECT_THAT(rule_status(rule, trial, nullptr).details, HasSubstr("(`^losses/a`)"));
  rule = overfit();
  rule.type = "exploding_tensor";
  EXPECT_THAT(rule_status(rule, trial, nullptr).details, HasSubstr("(any collection)"));
}

TEST(RuleStatus, ATrialIsNotComparedWithItself) {
  debugger::RuleSpec rule = overfit();
  rule.type = "similar_across_runs";
  rule.parameters["other_trial"] = 4;
  for (const TrialState state : {TrialState::pending, TrialState::running, TrialState::completed}) {
    const RuleStatus status = rule_status(rule, trial_of(state), nullptr);
    EXPECT_EQ(status.status, RuleWord::not_judged);
    EXPECT_EQ(status.details, "there is nothing to compare: this is trial 4 itself");
  }
  rule.parameters["other_trial"] = 5;
  EXPECT_EQ(rule_status(rule, trial_of(TrialState::running), nullptr).status, RuleWord::in_progress);
}

RuleOfJob over_job(bool job_ended, const std::vector<RuleWord>& words) {
  std::vector<std::pair<int, RuleStatus>> trials;
  for (const RuleWord word : words) {
    const int number = static_cast<int>(trials.size());
    RuleStatus& status = trials.emplace_back(number, RuleStatus{}).second;
    status.status = word;
    status.details = "so";
    status.changed_at = Timestamp{100 + number};
  }
  return rule_of_job(overfit(), job_ended, trials);
}

TEST(RuleStatus, OverAJobTheGravestCounts) {
  using enum RuleWord;
  const RuleOfJob found = over_job(false, {error, issues_found, in_progress, issues_found, not_judged});
  EXPECT_EQ(found.status, issues_found);
  EXPECT_EQ(found.details, "in 2 of 5 trials; in trial 1: so");
  EXPECT_EQ(found.example, 1);
  EXPECT_EQ(found.changed_at, Timestamp{103});
  EXPECT_EQ(found.trials.at(issues_found), 2);
  EXPECT_EQ(found.trials.at(stopped), 0);
  EXPECT_EQ(over_job(true, {in_progress, no_issues_found, error}).status, error);
  EXPECT_EQ(over_job(true, {no_issues_found, in_progress}).status, in_progress);
  EXPECT_EQ(over_job(true, {stopped, not_judged, no_issues_found}).status, no_issues_found);
  EXPECT_EQ(over_job(true, {not_judged, stopped}).status, stopped);
  EXPECT_EQ(over_job(true, {not_judged, not_judged}).status, not_judged);
}

TEST(RuleStatus, AJobThatGoesOnIsInProgressWhateverItsTrialsSay) {
  const RuleOfJob more = over_job(false, {RuleWord::no_issues_found, RuleWord::not_judged});
  EXPECT_EQ(more.status, RuleWord::in_progress);
  EXPECT_EQ(more.details, "nothing was found in 2 trials, and more may come");
  EXPECT_EQ(more.example, std::nullopt);
  EXPECT_EQ(over_job(false, {}).details, "the job has no trials yet");
  EXPECT_EQ(over_job(true, {}).status, RuleWord::not_judged);
  EXPECT_EQ(over_job(true, {}).details, "the job has no trials");
  EXPECT_EQ(over_job(true, {RuleWord::stopped}).details, "in 1 of 1 trial; in trial 0: so");
  EXPECT_EQ(over_job(false, {RuleWord::stopped}).details, "nothing was found in 1 trial, and more may come");
}

}  // namespace
}  // namespace tuneband

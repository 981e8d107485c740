// Jobs in which nothing meets the constraints, or has no value at all: how they go on, and how they end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduler/core_driver.hpp"

namespace tuneband::test {

namespace {

using testing::HasSubstr;

constexpr const char* kConstraints = R"([{"metric": "lat", "max": 1}])";

Json constrained(Json limits) {
  return {{"objective", {{"metric", "value"}, {"goal", "minimize"}, {"constraints", Json::parse(kConstraints)}}},
          {"limits", std::move(limits)}};
}

// What worker w has to do, done with this latency.
void finish_segment(CoreDriver& core, double latency) {
  AssignmentReport report = core.report_of("w");
  report.checkpoint_resource = core.given("w")->until_resource;
  report.observations = {{core.given("w")->until_resource, {{"value", 0.5}, {"lat", latency}}}};
  report.exit = ExitClass::completed;
  core.report("w", report);
}

// Of a job that has 30 s: what runs is stopped.
void let_time_run_out(CoreDriver& core) {
  core.advance_ms(30'000);
  core.step(TimePassed{});
  AssignmentReport stopped = core.report_of("w");
  stopped.exit = ExitClass::stopped;
  core.report("w", stopped);
}

// Trial 1 meets the constraint at the first rung and breaks it at the second; each that follows comes a little nearer to it.
int trials_until_no_better(bool restarted) {
  CoreDriver core;
  Json document = constrained({{"max_trials", 30}, {"max_trials_without_improvement", 3}});
  document["scheduler"] = {{"type", "asha_promotion"}, {"rungs", {1, 2}}, {"max_resource", 2}, {"eta", 2}};
  core.submit(document);
  core.sync("w");
  for (int segments = 0; core.given("w") != nullptr && segments < 60; ++segments) {
    const int trial = core.given("w")->trial.number;
    const bool first_rung = core.given("w")->until_resource == 1;
    finish_segment(core, trial == 1 && first_rung ? 0.5 : trial == 1 ? 20 : 10 - trial * 0.1);
    if (restarted && trial == 1 && !first_rung) {
      core.restart();
      core.sync("w");
    }
  }
  return core.job().trials_created;
}

TEST(WithoutBest, WhatMetTheConstraintsAndBrokeThemLaterIsNoStandardAfterARestart) {
  EXPECT_EQ(trials_until_no_better(false), 30) << "each comes nearer";
  EXPECT_EQ(trials_until_no_better(true), trials_until_no_better(false));
}

TEST(WithoutBest, AJobWhoseTimeIsOverHasFailed) {
  CoreDriver core;
  core.submit(constrained({{"max_runtime_seconds", 30}}));
  core.sync("w");
  finish_segment(core, 2.5);
  let_time_run_out(core);
  EXPECT_EQ(core.job().state, JobState::failed);
  EXPECT_THAT(core.job().reason, HasSubstr("no trial met the constraints: trial 0 was nearest, outside by 1.5"));
  EXPECT_THAT(core.job().reason, HasSubstr("; max_runtime_seconds is over"));
}

TEST(WithoutBest, AJobWhoseTimeIsOverWithABestHasCompleted) {
  CoreDriver core;
  core.submit(constrained({{"max_runtime_seconds", 30}}));
  core.sync("w");
  finish_segment(core, 0.5);
  let_time_run_out(core);
  EXPECT_EQ(core.job().state, JobState::completed);
  EXPECT_EQ(core.job().reason, "max_runtime_seconds is over");
}

TEST(WithoutBest, AJobWhoseTimeIsOverSaysHowItsTrialsFailed) {
  CoreDriver core;
  core.submit({{"limits", {{"max_runtime_seconds", 30}, {"max_failures_in_a_row", 100}, {"max_attempts", 1}}}});
  core.sync("w");
  core.fail("w");
  let_time_run_out(core);
  EXPECT_EQ(core.job().state, JobState::failed);
  EXPECT_THAT(core.job().reason,
              HasSubstr("no trial came to a rung with a value; max_runtime_seconds is over; the last one failed with"));
}

}  // namespace

}  // namespace tuneband::test

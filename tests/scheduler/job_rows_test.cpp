// What a job's rows tell that scripts do not show: times, files, and what sets in motion what is computed elsewhere.
#include <gtest/gtest.h>

#include "tests/scheduler/core_driver.hpp"

namespace tuneband::test {
namespace {

class JobRows : public testing::Test {
 protected:
  // Two rungs, at 2 and at 4; of two trials one goes on.
  void submit_two_trials() {
    core_.submit({{"scheduler", {{"type", "successive_halving"}, {"min_resource", 2}, {"max_resource", 4}, {"eta", 2}}},
                  {"trainer", {{"resume", "checkpoint"}}},
                  {"limits", {{"max_trials", 2}}}});
    core_.sync("a");
  }
  Timestamp later() {
    core_.advance_ms(1'000);
    return core_.now();
  }
  const DecisionRow& decision(int trial, int rung) { return core_.rows().decisions().at({{JobId{1}, trial}, rung}); }

  CoreDriver core_;
};

TEST_F(JobRows, TellWhenEachThingHappened) {
  const Timestamp submitted = core_.now();
  submit_two_trials();
  EXPECT_EQ(core_.job().created_at, submitted);
  EXPECT_EQ(core_.trial(0).created_at, submitted);
  EXPECT_EQ(core_.trial(0).started_at, submitted);
  const Timestamp first = later();
  core_.reach_target("a", 0.9);
  EXPECT_EQ(core_.trial(1).created_at, first);
  EXPECT_EQ(decision(0, 0).at, first);
  EXPECT_EQ(core_.rows().observations().at({{JobId{1}, 0}, 2}).at, first);
  EXPECT_FALSE(core_.trial(0).assigned_at);
  const Timestamp second = later();
  core_.reach_target("a", 0.1);
  EXPECT_EQ(decision(0, 0).at, second) << "of the verdict";
  EXPECT_EQ(core_.trial(0).started_at, submitted);
  EXPECT_EQ(core_.trial(0).assigned_at, second);
  EXPECT_FALSE(core_.trial(0).ended_at);
  EXPECT_FALSE(core_.job().ended_at);
  const Timestamp third = later();
  core_.reach_target("a", 0.8);
  for (const int trial : {0, 1}) {
    EXPECT_EQ(core_.trial(trial).ended_at, third);
    EXPECT_EQ(decision(trial, 0).at, trial == 0 ? second : third);
  }
  EXPECT_EQ(core_.job().ended_at, third);
  for (const EventRow& event : core_.rows().events()) {
    const bool of_the_end = event.kind == EventKind::job_completed || event.kind == EventKind::trial_completed;
    EXPECT_EQ(event.at == third, of_the_end || event.kind == EventKind::trial_stopped) << to_string(event.kind);
  }
}

// A command that is held at a rung goes on writing where it began.
TEST_F(JobRows, ATrialsFilesAreWhereItsLastSegmentWrote) {
  submit_two_trials();
  const Epoch first = core_.given("a")->epoch;
  core_.reach_target("a", 0.9);
  EXPECT_EQ(core_.trial(0).files_epoch, first);
  core_.reach_target("a", 0.1);
  ASSERT_EQ(core_.given("a")->trial.number, 0);
  const Epoch second = core_.given("a")->epoch;
  const auto files_after = [&](std::int64_t checkpoint, Epoch told) {
    AssignmentReport report = core_.report_of("a");
    report.checkpoint_resource = checkpoint;
    report.files_epoch = told;
    core_.report("a", report);
    return core_.trial(0).files_epoch;
  };
  EXPECT_EQ(files_after(3, first), first);
  AssignmentReport report = core_.report_of("a");
  report.observations = {{4, {{"value", 0.5}}}};
  report.files_epoch = Epoch{77};  // nobody's
  report.checkpoint_resource = 4;
  core_.report("a", report);
  EXPECT_EQ(core_.trial(0).files_epoch, second);
}

TEST_F(JobRows, ACheckpointOrTimeSpentInTrainingIsWrittenThoughNothingWasObserved) {
  submit_two_trials();
  AssignmentReport report = core_.report_of("a");
  report.checkpoint_resource = 1;
  core_.report("a", report);
  EXPECT_EQ(core_.trial(0).checkpoint_resource, 1);
  report.training_ms = 500;
  core_.report("a", report);
  EXPECT_EQ(core_.trial(0).training_ms, 500);
  EXPECT_EQ(core_.job().training_ms, 500);
}

TEST_F(JobRows, AJobConvergesWhenEnoughSuggestionsInARowExpectLessThanItsTolerance) {
  std::vector<std::optional<double>> expected{0.09, std::nullopt, 0.1, 0.05, 0, 0.01};
  std::size_t asked = 0;
  core_.suggest_by([&](const SuggestionWanted&) {
    Suggestion suggestion;
    suggestion.configuration = {{"x", 0.5}};
    suggestion.expected_improvement = expected.at(asked++);
    return suggestion;
  });
  core_.submit({{"sampler", {{"type", "gp"}}}, {"limits", {{"convergence", {{"tolerance", 0.1}, {"suggestions", 3}}}}}});
  core_.sync("a");
  std::string below;
  while (core_.given("a") != nullptr) {
    below += std::to_string(core_.job().suggestions_below) + " ";
    core_.reach_target("a", 0.5);
  }
  EXPECT_EQ(below, "1 1 0 1 2 3 ");
  EXPECT_EQ(core_.job().expected_improvement, 0.01);
  EXPECT_EQ(core_.job().state, JobState::completed);
  EXPECT_EQ(core_.job().reason,
            "converged: the model expected less than 0.1 of improvement from 3 trials in a row, from the last one 0.01");
}

// Some trials fail, some are stopped and one is under way all the time.
TEST(JobsSuggestions, AreTheSameWhetherTheCoreWasRestartedBeforeEachOrNot) {
  const Json objectives = {
      {"objective", nullptr},
      {"objectives", {{{"metric", "value"}, {"goal", "maximize"}}, {{"metric", "ms"}, {"goal", "minimize"}}}}};
  for (const Json& objective : {Json::object(), objectives}) {
    Json document = {{"sampler", {{"type", "tpe"}, {"startup_trials", 2}}},
                     {"scheduler", {{"type", "asha_stopping"}, {"max_resource", 4}, {"eta", 2}}},
                     {"limits", {{"max_trials", 40}, {"max_failures_in_a_row", 40}, {"max_attempts", 1}}}};
    document.update(objective);
    CoreDriver went_on;
    CoreDriver restarted;
    for (CoreDriver* core : {&went_on, &restarted}) {
      core->submit(document);
      core->sync("a");
      core->sync("b");
      while (const Assignment* given = core->given("b")) {
        const double x = std::get<double>(given->configuration.at("x"));
        AssignmentReport report = core->report_of("b");
        report.exit = x > 0.7 ? ExitClass::crashed : ExitClass::completed;
        if (x <= 0.7) report.observations = {{given->until_resource, {{"value", x}, {"ms", x * x}}}};
        if (core == &restarted) core->restart();
        core->report("b", report);
      }
    }
    ASSERT_EQ(went_on.rows().trials().size(), 40u);
    for (int trial = 0; trial < 40; ++trial) {
      EXPECT_EQ(restarted.trial(trial).configuration, went_on.trial(trial).configuration) << trial;
    }
    EXPECT_GT(went_on.job().trials_failed, 3);
    EXPECT_GT(went_on.job().trials_stopped, 3);
  }
}

}  // namespace
}  // namespace tuneband::test

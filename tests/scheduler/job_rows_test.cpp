// What a job's rows tell that scripts do not show: times, files, and what sets in motion what is computed elsewhere.
#include <gtest/gtest.h>

#include <cmath>

#include "scheduler/candidates.hpp"
#include "scheduler/job.hpp"
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

const Json kTwoObjectives = {
    {"objectives", {{{"metric", "value"}, {"goal", "maximize"}}, {{"metric", "ms"}, {"goal", "minimize"}}}}};

// Some trials fail, some are stopped and one is under way all the time.
TEST(JobsSuggestions, AreTheSameWhetherTheCoreWasRestartedBeforeEachOrNot) {
  for (const Json& objectives : {Json::object(), kTwoObjectives}) {
    Json document = {{"sampler", {{"type", "tpe"}, {"startup_trials", 2}}},
                     {"scheduler", {{"type", "asha_stopping"}, {"max_resource", 4}, {"eta", 2}}},
                     {"limits", {{"max_trials", 40}, {"max_failures_in_a_row", 40}, {"max_attempts", 1}}}};
    document.update(objectives);
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

TEST(JobsSuggestions, OfSeveralObjectivesFollowEachOfThem) {
  const auto last_of = [](double ms_at_least) {
    CoreDriver core;
    Json document = {{"sampler", {{"type", "tpe"}, {"startup_trials", 2}}}};
    document.update(kTwoObjectives);
    core.submit(document);
    core.sync("a");
    while (core.job().trials_completed < 19) {
      const double x = std::get<double>(core.given("a")->configuration.at("x"));
      AssignmentReport report = core.report_of("a");
      report.exit = ExitClass::completed;
      report.observations = {{4, {{"value", 0.5}, {"ms", std::abs(x - ms_at_least)}}}};
      core.report("a", report);
    }
    return std::get<double>(core.given("a")->configuration.at("x"));
  };
  EXPECT_LT(last_of(0.1), 0.35);
  EXPECT_GT(last_of(0.9), 0.65);
}

TEST_F(JobRows, ASegmentWithoutACheckpointHasItsFilesToo) {
  core_.submit();
  core_.sync("a");
  const Epoch epoch = core_.given("a")->epoch;
  AssignmentReport report = core_.report_of("a");
  report.observations = {{4, {{"value", 0.5}}}};
  report.exit = ExitClass::completed;
  core_.report("a", report);
  EXPECT_EQ(core_.trial(0).files_epoch, epoch);
}

TEST_F(JobRows, AStandardErrorIsANumberOfZeroOrMore) {
  core_.submit();
  core_.sync("a");
  const auto with = [&](std::optional<double> error) {
    const int trial = core_.given("a")->trial.number;
    AssignmentReport report = core_.report_of("a");
    report.observations = {{4, {{"value", 0.5}}}};
    if (error) report.observations[0].metrics.emplace_back("value-standard-error", *error);
    report.exit = ExitClass::completed;
    core_.report("a", report);
    return core_.trial(trial).standard_error;
  };
  EXPECT_EQ(with(0.25), 0.25);
  EXPECT_EQ(with(0), 0);
  EXPECT_EQ(with(-0.25), std::nullopt);
  EXPECT_EQ(with(std::nan("")), std::nullopt);
  EXPECT_EQ(with(HUGE_VAL), std::nullopt);
  EXPECT_EQ(with(std::nullopt), std::nullopt);
}

// Its worker was thought never to have heard of it, and it waits for another one.
TEST_F(JobRows, ATrialThatWasGivenBackIsNotGoneOnWith) {
  core_.submit();
  core_.sync("a");
  const AssignmentReport report = core_.report_of("a");
  core_.step(WorkerLost{WorkerId{"a"}, "its connection ended", false});
  EXPECT_EQ(core_.trial(0).state, TrialState::pending);
  core_.report("a", report);
  EXPECT_EQ(core_.trial(0).state, TrialState::pending);
  EXPECT_EQ(core_.given("a"), nullptr);
}

TEST_F(JobRows, AReportOfATrialBeforeDoesNotGoOnWithTheOneThatWasLost) {
  core_.submit();
  core_.sync("a");
  const AssignmentReport before = core_.report_of("a");
  core_.reach_target("a", 0.5);
  core_.advance_ms(20'000);
  core_.step(TimePassed{});
  core_.says("a").draining = true;
  core_.report("a", before);
  EXPECT_EQ(core_.trial(1).state, TrialState::pending);
  EXPECT_EQ(core_.trial(1).exit_class, ExitClass::worker_lost);
}

// `auto` trains some trials whole, whatever the rungs say: no sampler is asked for them.
TEST_F(JobRows, ATrialThatNoRungStopsIsDrawnAtRandom) {
  core_.suggest_by([](const SuggestionWanted&) {
    Suggestion suggestion;
    suggestion.configuration = {{"x", 0.5}};
    return suggestion;
  });
  const JobReply reply = core_.submit({{"sampler", {{"type", "gp"}}},
                                       {"scheduler", {{"type", "auto"}, {"max_resource", 9}, {"eta", 3}}},
                                       {"limits", {{"max_trials", 60}}}});
  const auto random = make_sampler(core_.spec(*reply.job), SamplerType::random);
  core_.sync("a");
  int drawn_at_random = 0;
  while (const Assignment* given = core_.given("a")) {
    const TrialRow& trial = core_.trial(given->trial.number);
    const bool drawn = trial.configuration == random->suggest(trial.id.number, {});
    drawn_at_random += drawn ? 1 : 0;
    EXPECT_TRUE(drawn ? trial.bracket > 0 : trial.configuration == Configuration({{"x", 0.5}})) << trial.id.number;
    core_.reach_target("a", trial.id.number);
  }
  EXPECT_GT(drawn_at_random, 0);
  EXPECT_EQ(core_.job().trials_created, 60);
}

// Ten seconds of a group of two are over, and since ten it is under way again.
TEST_F(JobRows, OfAGroupEveryWorkersTimeIsAJobsShareAlsoAfterARestart) {
  core_.submit({{"trainer", {{"replicas", 2}}}, {"weight", 2}});
  for (const char* worker : {"a", "b"}) core_.sync(worker);
  core_.advance_ms(10'000);
  for (const char* worker : {"a", "b"}) core_.reach_target(worker, 0.5);
  core_.advance_ms(10'000);
  Snapshot rows = core_.rows().load();
  Job job(rows.jobs[0], std::make_shared<const JobSpec>(core_.spec(JobId{1})));
  job.restore({std::move(rows.trials), std::move(rows.segments), std::move(rows.decisions), {}});
  EXPECT_EQ(job.use().over().segments, 2);
  EXPECT_EQ(job.use().over().worker_ms, 2 * 10'001);
  const std::int64_t had = 2 * 10'001 + 2 * 10'000;
  EXPECT_EQ(job.share_time(core_.now(), 1, 0), had * 1'000 / 2);
  EXPECT_EQ(job.share_time(core_.now(), 1, 3), (had + 3) * 1'000 / 2);
  EXPECT_EQ(job.share_time(core_.now(), 50'000, 0), (2 * 10'001 + 2 * 50'000) * 1'000 / 2) << "as long as they usually take";
  job.segment_ended(1, {ExitClass::crashed, "it failed"}, core_.now());
  EXPECT_EQ(job.use().over().worker_ms, 4 * 10'001);
  EXPECT_EQ(job.share_time(core_.now(), 50'000, 0), 4 * 10'001 * 1'000 / 2) << "nothing is under way";
  ASSERT_EQ(job.take(std::nullopt, 2, core_.now()), 1);
  job.start(1, {WorkerId{"a"}, WorkerId{"b"}}, false, core_.now());
  EXPECT_EQ(job.share_time(core_.now().plus_ms(70'000), 1, 0), (4 * 10'001 + 2 * 70'000) * 1'000 / 2);
}

}  // namespace
}  // namespace tuneband::test

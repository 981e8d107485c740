// The end of a job of many paused trials, which takes more than one step.
#include <gtest/gtest.h>

#include <algorithm>

#include "scheduler/scheduler.hpp"

namespace tuneband::test {

namespace {

constexpr int kTrials = 11;
constexpr int kAtOnce = 3;

class Ending : public testing::Test {
 protected:
  void submit(int trials_max) {
    Json document = Json::parse(R"({"name": "ending", "objective": {"metric": "value", "goal": "minimize"},
        "search_space": {"x": {"type": "float", "min": 0, "max": 1}}, "trainer": {"type": "command"},
        "scheduler": {"type": "asha_promotion", "max_resource": 20, "eta": 20}})");
    document["limits"]["max_trials"] = trials_max;
    Diagnostics diagnostics;
    JobSpec spec = JobSpec::parse(document, diagnostics);
    ASSERT_TRUE(diagnostics.ok());
    spec_ = spec;
    step(JobSubmitted{std::move(spec), document.dump()});
  }

  // One worker takes trials to the first rung, where they wait.
  void run_trials() {
    for (int trial = 0; trial < kTrials; ++trial) run_segment();
  }

  void run_segment() {
    WorkerSynced idle;
    idle.worker = WorkerId{"w"};
    const Assignment given = *std::get<WorkerReply>(step(idle).notices.back()).assignment;
    WorkerSynced done = idle;
    done.report.emplace();
    done.report->epoch = given.epoch;
    done.report->observations = {{given.until_resource, {{"value", 0.5}}}};
    done.report->checkpoint_resource = given.until_resource;
    done.report->training_ms = 10;
    done.report->exit = ExitClass::completed;
    done.draining = true;  // so that it is given nothing more with this
    step(done);
  }

  Outcome step(const Event& event) {
    Outcome outcome = step_with_suggestions(scheduler_, event, now_);
    most_ended_ = std::max(most_ended_, std::count_if(outcome.writes.begin(), outcome.writes.end(), [](const Write& write) {
                             const auto* trial = std::get_if<TrialRow>(&write);
                             return trial != nullptr && trial->ended_at.has_value();
                           }));
    return outcome;
  }

  void restart() {
    const Snapshot rows = scheduler_.rows();
    scheduler_ = Scheduler(SchedulerOptions{.ended_at_once = kAtOnce});
    scheduler_.restore(rows, {{JobId{1}, spec_}}, now_);
  }

  // Until the job has ended.
  int further_steps() {
    int steps = 0;
    while (scheduler_.next_deadline() == now_ && steps < kTrials) {
      ++steps;
      step(TimePassed{});
    }
    return steps;
  }

  Timestamp now_{1'000'000};
  Scheduler scheduler_{SchedulerOptions{.ended_at_once = kAtOnce}};
  std::ptrdiff_t most_ended_ = 0;
  JobSpec spec_;
};

TEST_F(Ending, AStoppedJobCancelsItsPausedTrialsAFewInEachStep) {
  submit(100);
  run_trials();
  step(JobStopRequested{JobId{1}});
  EXPECT_EQ(scheduler_.rows().jobs[0].state, JobState::stopping);
  EXPECT_TRUE(scheduler_.waiting_by_reason(JobId{1}).empty()) << "nothing runs that is being stopped";
  EXPECT_EQ(further_steps(), kTrials / kAtOnce);
  EXPECT_EQ(most_ended_, kAtOnce);
  EXPECT_EQ(scheduler_.rows().jobs[0].state, JobState::stopped);
  EXPECT_EQ(scheduler_.rows().jobs[0].trials_cancelled, kTrials);
}

TEST_F(Ending, AJobThatIsDoneStopsTheTrialsThatWaitAFewInEachStep) {
  submit(kTrials);
  run_trials();
  run_segment();  // of the best one, to max_resource
  EXPECT_EQ(scheduler_.rows().jobs[0].state, JobState::running);
  EXPECT_EQ(further_steps(), kTrials / kAtOnce);
  EXPECT_EQ(most_ended_, kAtOnce + 1);  // and the one that is completed
  EXPECT_EQ(scheduler_.rows().jobs[0].state, JobState::completed);
  EXPECT_EQ(scheduler_.rows().jobs[0].trials_stopped, kTrials - 1);
}

TEST_F(Ending, GoesOnAfterARestart) {
  submit(100);
  run_trials();
  step(JobStopRequested{JobId{1}});
  restart();
  further_steps();
  EXPECT_EQ(scheduler_.rows().jobs[0].state, JobState::stopped);
  EXPECT_EQ(scheduler_.rows().jobs[0].trials_cancelled, kTrials);
}

TEST_F(Ending, OfAJobThatIsDoneGoesOnAfterARestartThoughNothingHappens) {
  submit(kTrials);
  run_trials();
  run_segment();
  restart();
  EXPECT_EQ(further_steps(), kTrials / kAtOnce);
  EXPECT_EQ(scheduler_.rows().jobs[0].state, JobState::completed);
  EXPECT_EQ(scheduler_.rows().jobs[0].trials_stopped, kTrials - 1);
}

TEST_F(Ending, AJobThatHasSomethingToDoIsNotEndedByARestart) {
  submit(100);
  run_trials();
  restart();
  EXPECT_EQ(further_steps(), 0);
  EXPECT_EQ(scheduler_.rows().jobs[0].state, JobState::running);
}

}  // namespace

}  // namespace tuneband::test

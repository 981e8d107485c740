// Which worker gets which trial, and what it is told.
#include <gtest/gtest.h>

#include "tests/scheduler/core_driver.hpp"

namespace tuneband::test {
namespace {

using Names = std::vector<std::string>;

Json one_at_a_time() { return {{"limits", {{"max_parallel_trials", 1}}}}; }

Json of_group(int replicas) { return {{"trainer", {{"replicas", replicas}}}}; }

Json merged(Json json, const Json& overlay) {
  json.merge_patch(overlay);
  return json;
}

// Two rungs, at 2 and at 4: of `trials` the better half goes on.
Json halving(int trials) {
  return {{"scheduler", {{"type", "successive_halving"}, {"min_resource", 2}, {"max_resource", 4}, {"eta", 2}}},
          {"trainer", {{"resume", "checkpoint"}}},
          {"limits", {{"max_trials", trials}}}};
}

class Placement : public testing::Test {
 protected:
  void sync_all(const Names& workers) {
    for (const std::string& worker : workers) core_.sync(worker);
  }
  std::string given_to(const Names& workers) const { return core_.given_to(workers); }

  // Two trials of worker a come to the rung at 2 with best rounds of 0.5 and 0.25; it then has the first, until 4.
  void submit_and_fill_a_rung_of_best_rounds(const Json& trainer) {
    const Json keeps_best{{"type", "xgboost"}, {"keep", "best"}, {"resume", nullptr}};
    core_.submit(merged(halving(2), {{"trainer", merged(keeps_best, trainer)}}));
    core_.sync("a");
    for (const double value : {0.5, 0.25}) {
      AssignmentReport report = core_.report_of("a");
      report.checkpoint_resource = 2;
      report.observations = {{1, {{"value", value}}}, {2, {{"value", 0.125}}}};
      report.kept = {1, {{"value", value}}};
      report.exit = ExitClass::completed;
      core_.report("a", report);
    }
  }

  // Whose the next segments of worker a are, of ten seconds each.
  std::string turns(int segments) {
    std::string jobs;
    for (int i = 0; i < segments; ++i) {
      jobs += std::to_string(core_.given("a")->trial.job.value);
      core_.advance_ms(10'000);
      core_.reach_target("a", 0.5);
    }
    return jobs;
  }

  CoreDriver core_;
};

TEST_F(Placement, EveryFreeWorkerGetsATrialInTheStepInWhichThereIsOne) {
  sync_all({"a", "b", "c"});
  core_.submit({{"limits", {{"max_trials", 2}}}});
  EXPECT_EQ(given_to({"a", "b", "c"}), "a:1/0 b:1/1 c:- ");
}

TEST_F(Placement, OfTheFreeWorkersTheOneThatHoldsTheJobsDataIsTaken) {
  core_.says("b").data_keys = {"other", "data"};
  sync_all({"a", "b", "c"});
  core_.submit(one_at_a_time(), "data");
  EXPECT_EQ(given_to({"a", "b", "c"}), "a:- b:1/0 c:- ");
  core_.submit(one_at_a_time(), "unknown");
  EXPECT_EQ(given_to({"a", "c"}), "a:2/0 c:- ");
}

// Segments of ten seconds: the two jobs of its data take turns, and the third has its turn when they are two segments ahead.
TEST_F(Placement, AWorkerStaysWithItsDataWhileThatPutsAJobAheadByNoMoreThanASegment) {
  core_.submit();
  core_.submit(Json::object(), "data");
  core_.submit(Json::object(), "data");
  core_.says("a").data_keys = {"data"};
  core_.sync("a");
  EXPECT_EQ(turns(8), "23231231");
}

TEST_F(Placement, EachRankIsToldItsPlaceWhatToTrainAndWhereTheFirstOneIs) {
  for (const char* worker : {"a", "b"}) {
    core_.says(worker).address = std::string("host-of-") + worker;
    core_.says(worker).free_port = worker[0];
    core_.sync(worker);
  }
  core_.submit(merged(halving(2), of_group(2)));
  for (const char* worker : {"a", "b"}) {
    ASSERT_NE(core_.given(worker), nullptr);
    const Assignment& given = *core_.given(worker);
    EXPECT_EQ(given.rank, worker[0] - 'a');
    EXPECT_EQ(given.world_size, 2);
    EXPECT_EQ(given.master_address, "host-of-a");
    EXPECT_EQ(given.master_port, 'a');
    EXPECT_EQ(given.job->name, "job-1");
    EXPECT_EQ(given.configuration, core_.trial(0).configuration);
    EXPECT_EQ(given.epoch, core_.trial(0).epoch);
    EXPECT_EQ(given.until_resource, 2);
    EXPECT_EQ(given.max_resource, 4);
  }
}

// Its own segment, of the trial's checkpoint and files and of the best value so far.
TEST_F(Placement, WhoGoesOnIsToldWhatTheTrialHas) {
  submit_and_fill_a_rung_of_best_rounds(Json::object());
  const Assignment& given = *core_.given("a");
  EXPECT_EQ(given.trial.number, 0);
  EXPECT_EQ(given.from_resource, 2);
  EXPECT_EQ(given.until_resource, 4);
  EXPECT_EQ(given.kept_value, 0.5);
  EXPECT_EQ(given.best_value, core_.job().best->value);
  EXPECT_EQ(given.files_epoch, core_.trial(0).files_epoch);
  EXPECT_LT(given.files_epoch, given.epoch);
  EXPECT_GT(given.files_epoch, Epoch{});
}

// It has a value of five folds to keep then, which one of two is no measure of.
TEST_F(Placement, WhoGoesOnToMaxResourceFromFewerFoldsHasNothingToBetter) {
  submit_and_fill_a_rung_of_best_rounds({{"data", {{"folds", {{"count", 5}, {"early", 2}}}}}});
  EXPECT_EQ(core_.given("a")->until_resource, 4);
  EXPECT_FALSE(core_.given("a")->kept_value);
}

TEST_F(Placement, WhoGoesOnToMaxResourceHasNothingToBetterWhereFullTrainingsAloneCount) {
  submit_and_fill_a_rung_of_best_rounds({{"keep", "best_full"}});
  EXPECT_EQ(core_.given("a")->until_resource, 4);
  EXPECT_FALSE(core_.given("a")->kept_value);
  EXPECT_EQ(core_.trial(0).kept_value, 0.5) << "until it has been there";
  AssignmentReport report = core_.report_of("a");
  report.observations = {{3, {{"value", 0.25}}}, {4, {{"value", 0.125}}}};
  report.kept = {3, {{"value", 0.25}}};
  report.exit = ExitClass::completed;
  core_.report("a", report);
  EXPECT_EQ(core_.trial(0).kept_value, 0.25);
  EXPECT_EQ(core_.trial(0).kept_resource, 3);
  EXPECT_EQ(core_.job().best, (BestRow{0, 4, 0.25}));
}

TEST_F(Placement, ATrialOfOneWorkerLeavesThoseThatAreSetUpAsAGroup) {
  for (const char* data_key : {"", "data"}) {
    CoreDriver core;
    core.submit(merged(of_group(2), {{"limits", {{"max_trials", 1}}}}));
    for (const char* worker : {"a", "b", "c", "d"}) core.sync(worker);
    for (const char* worker : {"a", "b"}) core.reach_target(worker, 0.5);
    core.submit(one_at_a_time(), data_key);
    EXPECT_EQ(core.given_to({"a", "b", "c", "d"}), "a:- b:- c:2/0 d:- ");
  }
}

TEST_F(Placement, AGroupOfAnotherSizeLeavesThemToo) {
  core_.submit(merged(of_group(2), {{"limits", {{"max_trials", 1}}}}));
  sync_all({"a", "b", "c", "d", "e"});
  for (const char* worker : {"a", "b"}) core_.reach_target(worker, 0.5);
  core_.submit(merged(of_group(3), {{"limits", {{"max_trials", 1}}}}));
  EXPECT_EQ(given_to({"a", "b", "c", "d", "e"}), "a:- b:- c:2/0 d:2/0 e:2/0 ");
}

TEST_F(Placement, ATrialOfAGroupGoesOnWithItsOwnWorkers) {
  core_.submit(merged(halving(2), of_group(2)));
  sync_all({"a", "b", "c", "d"});
  EXPECT_EQ(given_to({"a", "b", "c", "d"}), "a:1/0 b:1/0 c:1/1 d:1/1 ");
  const std::int64_t session = core_.given("c")->session;
  for (const char* worker : {"c", "d"}) core_.reach_target(worker, 0.9);
  for (const char* worker : {"a", "b"}) core_.reach_target(worker, 0.1);
  EXPECT_EQ(given_to({"a", "b", "c", "d"}), "a:- b:- c:1/1 d:1/1 ");
  EXPECT_EQ(core_.given("c")->session, session);
}

// Of four trials of a bracket 2 and 3 go on; no worker is there for them.
TEST_F(Placement, OnlyTheWorkerThatJustLeftATrialGoesOnWithItRatherThanWithTheFirst) {
  core_.submit(merged(halving(4), {{"scheduler", {{"max_resource", 8}}}}));
  sync_all({"a", "b", "c", "d"});
  for (const char* worker : {"a", "b", "c", "d"}) {
    core_.says(worker).draining = true;
    core_.reach_target(worker, worker[0]);
  }
  core_.sync("e");
  EXPECT_EQ(given_to({"e"}), "e:1/2 ");
}

TEST_F(Placement, OneRankThatDidNotHearOfItsTrialIsToldAgainAsOftenAsAnyWorker) {
  core_.submit(of_group(2));
  sync_all({"a", "b"});
  const Epoch epoch = core_.given("b")->epoch;
  for (int i = 0; i < 4; ++i) {
    core_.sync("b");
    ASSERT_NE(core_.given("b"), nullptr) << i;
    EXPECT_EQ(core_.given("b")->epoch, epoch);
  }
}

class Shares : public Placement {
 protected:
  // Of the first job.
  void change(const JobChanges& changes) { core_.step(JobChangeRequested{JobId{1}, changes}); }

  // Places in the queue of the first jobs, now and after a restart.
  void expect_places(const std::vector<int>& places) {
    for (const bool restarted : {false, true}) {
      if (restarted) core_.restart();
      EXPECT_EQ(core_.scheduler().queue_positions().size(), places.size());
      for (std::size_t job = 0; job < places.size(); ++job) {
        EXPECT_EQ(core_.scheduler().queue_position(JobId{static_cast<std::int64_t>(job) + 1}), places[job])
            << "job " << job + 1 << (restarted ? " after a restart" : "");
      }
    }
  }
};

// A worker that was lost for twenty seconds goes on for a hundred.
TEST_F(Shares, CountATrialThatIsGoneOnWithAsUnderWay) {
  core_.submit();
  core_.sync("a");
  core_.submit({{"weight", 2}});
  core_.sync("b");
  EXPECT_EQ(given_to({"a", "b"}), "a:1/0 b:2/0 ");
  core_.advance_ms(10'000);
  core_.report("b", core_.report_of("b"));
  core_.advance_ms(10'000);
  core_.step(TimePassed{});
  EXPECT_EQ(core_.trial(0, 1).state, TrialState::pending);
  core_.report("a", core_.report_of("a"));
  EXPECT_EQ(core_.trial(0, 1).state, TrialState::running);
  EXPECT_EQ(core_.trial(0, 1).attempts_in_all, 1);
  core_.advance_ms(100'000);
  core_.report("b", core_.report_of("b"));
  expect_places({2, 1});
}

// Each job that has something to run has a place of its own; what is said of one job is said of it among all.
TEST_F(Shares, GiveEachJobThatWaitsAPlaceOfItsOwn) {
  for (const int weight : {1, 3, 2, 3}) core_.submit({{"weight", weight}});
  change({.held = true});
  sync_all({"a", "b", "c"});
  EXPECT_EQ(given_to({"a", "b", "c"}), "a:2/0 b:4/0 c:3/0 ");
  core_.advance_ms(1'000);
  const std::map<JobId, int> expected = {{JobId{2}, 1}, {JobId{4}, 2}, {JobId{3}, 3}};
  EXPECT_EQ(core_.scheduler().queue_positions(), expected);
  for (const std::int64_t job : {1, 2, 3, 4}) {
    const auto place = expected.find(JobId{job});
    EXPECT_EQ(core_.scheduler().queue_position(JobId{job}), place == expected.end() ? std::nullopt : std::optional(place->second))
        << job;
  }
  change({.held = false});
  EXPECT_EQ(core_.scheduler().queue_positions().size(), 4u);
}

TEST_F(Shares, OfAJobThatWasHeldGoOnFromWhereTheOthersAre) {
  core_.submit();
  core_.sync("a");
  core_.submit();
  EXPECT_EQ(turns(4), "1212");
  AssignmentReport given_back = core_.report_of("a");
  given_back.exit = ExitClass::stopped;
  change({.held = true});
  core_.report("a", given_back);
  EXPECT_EQ(turns(6), "222222");
  change({.held = false});
  EXPECT_EQ(turns(6), "212121");
}

TEST_F(Shares, OfAnotherWeightAreOfWhatComesAlone) {
  core_.submit();
  core_.sync("a");
  core_.submit();
  EXPECT_EQ(turns(8), "12121212");
  change({.weight = 3});
  EXPECT_EQ(turns(8), "11121112");
  core_.restart();
  core_.sync("a");
  EXPECT_EQ(turns(4), "1112");
  change({.weight = 0.5});
  EXPECT_EQ(turns(6), "122212");
}

TEST_F(Shares, OfAnotherWeightLeaveWhatIsUnderWayAsItWas) {
  core_.submit({{"weight", 10}});
  core_.sync("a");
  core_.submit();
  core_.advance_ms(100'000);
  change({.weight = 1});
  EXPECT_EQ(turns(5), "12222");
  core_.restart();
  core_.sync("a");
  EXPECT_EQ(turns(10), "2222222211");
}

// ---- what is said of it ---------------------------------------------------------------------------------------------------

using Reasons = std::vector<std::pair<std::string, int>>;

TEST_F(Placement, OfOneWorkerATrialIsNoGroup) {
  core_.says("a").address = "host";
  core_.says("a").free_port = 7;
  core_.sync("a");
  core_.submit();
  EXPECT_EQ(core_.given("a")->world_size, 1);
  EXPECT_EQ(core_.given("a")->session, 0);
  EXPECT_EQ(core_.given("a")->master_address, "");
  EXPECT_EQ(core_.given("a")->master_port, 0);
}

TEST_F(Placement, WhatATrialWaitsForOnItsMachineIsOneOfFewReasonsUntilItsEnd) {
  core_.submit({{"limits", {{"max_trials", 2}}}});
  sync_all({"a", "b"});
  const auto says = [&](const char* worker, const std::string& message) {
    AssignmentReport report = core_.report_of(worker);
    report.message = message;
    core_.report(worker, report);
    return core_.scheduler().waiting_by_reason(JobId{1});
  };
  EXPECT_EQ(says("a", ""), Reasons());
  EXPECT_EQ(says("a", "room on a worker's disk"), Reasons({{"room on a worker's disk", 1}}));
  EXPECT_EQ(says("b", "the moon"), Reasons({{"a worker's machine", 1}, {"room on a worker's disk", 1}}));
  EXPECT_EQ(says("b", "room on a worker's disk"), Reasons({{"room on a worker's disk", 2}}));
  core_.reach_target("b", 0.5);
  EXPECT_EQ(core_.scheduler().waiting_by_reason(JobId{1}), Reasons({{"room on a worker's disk", 1}}));
  EXPECT_EQ(says("a", ""), Reasons());
}

TEST_F(Placement, AWorkerThatLacksSomethingForAJobIsGivenOthersAndIsNotCountedForIt) {
  const auto lack = [](std::optional<JobId> job) { return Lack{job, "data that a worker cannot read", "no a.csv"}; };
  core_.says("a").lacks = {lack(JobId{1})};
  core_.says("b").lacks = {lack(JobId{9}), lack(std::nullopt)};
  core_.submit();
  sync_all({"a", "b"});
  EXPECT_EQ(given_to({"a", "b"}), "a:- b:- ");
  EXPECT_EQ(core_.scheduler().waiting_by_reason(JobId{1}), Reasons({{"data that a worker cannot read", 1}}));
  EXPECT_EQ(core_.scheduler().workers().at(1).lacks, std::vector{lack(std::nullopt)}) << "there is no job 9";
  core_.submit();
  EXPECT_EQ(given_to({"a", "b"}), "a:2/0 b:- ");
  core_.says("a").draining = true;
  core_.reach_target("a", 0.5);
  core_.says("b").lacks.clear();
  core_.sync("b");
  EXPECT_EQ(given_to({"b"}), "b:1/0 ");
}

// The one that is warm for the job's data, or that asks, may be the one whose machine has lost something else.
TEST_F(Placement, OfTheFreeWorkersOneThatLacksNothingIsTakenWhateverItHoldsOrWhoAsks) {
  core_.says("a").lacks = core_.says("d").lacks = {{JobId{1}, "room on a worker's disk", "full"}};
  core_.says("a").data_keys = {"data"};
  sync_all({"a", "b", "c"});
  core_.submit(one_at_a_time(), "data");
  EXPECT_EQ(given_to({"a", "b", "c"}), "a:- b:1/0 c:- ");
  core_.sync("d");
  core_.reach_target("b", 0.5);
  core_.says("b").lacks = core_.says("a").lacks;
  core_.fail("b");
  EXPECT_EQ(given_to({"a", "c", "d"}), "a:- c:1/1 d:- ");
}

TEST_F(Placement, AFreeWorkerThatCannotRunAJobIsNotOneThatIsGatheredAwayFromIt) {
  core_.says("a").lacks = {{JobId{1}, "data that a worker cannot read", "no a.csv"}};
  sync_all({"a", "b"});
  core_.submit();
  core_.submit(of_group(2));
  EXPECT_EQ(given_to({"a", "b"}), "a:- b:1/0 ");
  EXPECT_EQ(core_.scheduler().workers_gathered(), 1U);
  EXPECT_EQ(core_.scheduler().waiting_by_reason(JobId{1}), Reasons({{"no free worker", 1}}));
}

TEST_F(Placement, ATrialThatItsWorkerHasNotHeardOfIsGivenBackWhenItsMachineLacksSomethingForIt) {
  core_.submit(one_at_a_time());
  core_.sync("a");
  core_.says("a").lacks = {{JobId{1}, "data that a worker cannot read", "no a.csv"}};
  core_.sync("a");
  EXPECT_EQ(core_.trial(0).state, TrialState::pending);
  EXPECT_EQ(core_.trial(0).attempts, 0);
  core_.sync("b");
  EXPECT_EQ(given_to({"b"}), "b:1/0 ");
}

TEST_F(Placement, WorkersAreGatheredForAGroupThatNeedsMoreUntilTheyLeave) {
  core_.submit(of_group(3));
  EXPECT_EQ(core_.scheduler().queue_position(JobId{1}), std::nullopt) << "not even one worker is there";
  core_.submit();
  core_.sync("a");
  EXPECT_EQ(given_to({"a"}), "a:2/0 ");
  EXPECT_EQ(core_.scheduler().workers_gathered(), 0u);
  sync_all({"b", "c"});
  EXPECT_EQ(given_to({"a", "b", "c"}), "a:2/0 b:2/1 c:- ");
  EXPECT_EQ(core_.scheduler().workers_gathered(), 1u);
  EXPECT_EQ(core_.scheduler().waiting_by_reason(JobId{1}), Reasons({{"gathering workers", 1}}));
  EXPECT_EQ(core_.scheduler().waiting_by_reason(JobId{2}), Reasons({{"workers gathered for a wider trial", 1}}));
  core_.step(WorkerLost{WorkerId{"c"}, "it is gone"});
  EXPECT_EQ(core_.scheduler().workers_gathered(), 0u);
  EXPECT_EQ(core_.scheduler().waiting_by_reason(JobId{2}), Reasons({{"no free worker", 1}}));
}

TEST_F(Placement, AWorkerThatNoLongerKnowsOfItsTrialHasLostIt) {
  core_.submit();
  core_.sync("a");
  core_.report("a", core_.report_of("a"));
  core_.says("a").draining = true;
  core_.sync("a");
  EXPECT_EQ(core_.trial(0).state, TrialState::pending);
  EXPECT_EQ(core_.trial(0).exit_class, ExitClass::worker_lost);
  EXPECT_EQ(core_.trial(0).message, "the worker no longer knew of the trial");
}

TEST_F(Placement, TheLogTellsWhoDisconnectedFromWhoWasLostAndOfARestartOnlyWhereThereWasOne) {
  core_.restart();
  for (const char* worker : {"a", "b"}) core_.sync(worker);
  EXPECT_EQ(core_.scheduler().workers().at(1).name, "b");
  core_.step(WorkerLost{WorkerId{"a"}, "its connection ended", false});
  core_.step(WorkerLost{WorkerId{"b"}, "its process ended", true});
  core_.restart();
  core_.sync("c");
  std::vector<EventKind> kinds;
  for (const EventRow& event : core_.rows().events()) kinds.push_back(event.kind);
  EXPECT_EQ(kinds, (std::vector{EventKind::worker_connected, EventKind::worker_connected, EventKind::worker_disconnected,
                                EventKind::worker_lost, EventKind::server_started, EventKind::worker_connected}));
}

TEST_F(Placement, ALongMessageIsCutInTheLog) {
  core_.submit({{"limits", {{"max_trials", 1}, {"max_attempts", 1}}}});
  core_.sync("a");
  AssignmentReport report = core_.report_of("a");
  report.exit = ExitClass::crashed;
  report.message = std::string(10 * kEventMessageSizeMax, 'x');
  core_.report("a", report);
  for (const EventRow& event : core_.rows().events()) EXPECT_LE(event.message.size(), kEventMessageSizeMax + 3);
}

TEST(StepWithSuggestions, TellsEachWorkerTheLastWordAlone) {
  CoreDriver core;
  core.submit({{"sampler", {{"type", "tpe"}}}});
  core.sync("a");
  WorkerSynced done = core.says("a");
  done.report = core.report_of("a");
  done.report->observations = {{4, {{"value", 0.5}}}};
  done.report->exit = ExitClass::completed;
  const Outcome outcome = step_with_suggestions(core.scheduler(), done, core.now());
  ASSERT_EQ(outcome.notices.size(), 1u);
  const auto* reply = std::get_if<WorkerReply>(&outcome.notices[0]);
  ASSERT_TRUE(reply != nullptr && reply->assignment);
  EXPECT_EQ(reply->assignment->trial.number, 1);
}

TEST(SchedulerReplies, ARefusalCreatesNothing) {
  Scheduler scheduler;
  const auto refused = [&](const Event& event) {
    const JobReply reply = std::get<JobReply>(scheduler.step(event, Timestamp{}).notices.at(0));
    EXPECT_FALSE(reply.created);
    return reply.job ? std::nullopt : std::optional(reply.job.error().code);
  };
  EXPECT_EQ(refused(JobStopRequested{JobId{7}}), ErrorCode::not_found);
  EXPECT_EQ(refused(JobDeleteRequested{JobId{7}}), ErrorCode::not_found);
  CoreDriver core;
  core.submit();
  scheduler = std::move(core.scheduler());
  EXPECT_EQ(refused(JobDeleteRequested{JobId{1}}), ErrorCode::conflict);
  EXPECT_EQ(refused(JobStopRequested{JobId{1}}), std::nullopt);
}

TEST(SchedulerLimits, AJobBeyondTheMostIsRefusedUntilAnotherHasEnded) {
  CoreDriver core({.jobs_running_max = 1});
  EXPECT_TRUE(core.submit().created);
  const JobReply refused = core.submit({{"name", "second"}});
  ASSERT_FALSE(refused.job);
  EXPECT_FALSE(refused.created);
  EXPECT_EQ(refused.job.error().code, ErrorCode::unavailable);
  EXPECT_EQ(core.rows().jobs().size(), 1u);
  core.step(JobStopRequested{JobId{1}});
  EXPECT_TRUE(core.submit({{"name", "second"}}).created);
}

TEST(SchedulerLimits, AWorkerBeyondTheMostIsNotKnownUntilAnotherHasGone) {
  CoreDriver core({.workers_max = 1});
  core.submit();
  core.sync("a");
  core.sync("b");
  EXPECT_EQ(core.given_to({"a", "b"}), "a:1/0 b:- ");
  EXPECT_EQ(core.scheduler().workers().size(), 1u);
  core.reach_target("a", 0.5);
  EXPECT_EQ(core.given_to({"a"}), "a:1/1 ");
  core.step(WorkerLost{WorkerId{"a"}, "it is gone"});
  core.sync("b");
  EXPECT_EQ(core.given_to({"b"}), "b:1/1 ");
}

}  // namespace
}  // namespace tuneband::test

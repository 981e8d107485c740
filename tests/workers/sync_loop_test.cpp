#include "workers/sync_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <filesystem>
#include <future>

#include "scheduler/waiting.hpp"
#include "tests/temporary_directory.hpp"
#include "tests/text_files.hpp"
#include "tests/workers/sync_server.hpp"

namespace tuneband::workers {
namespace {

using protocol::AssignmentOrder;
using protocol::SyncRequest;
using test::SyncServer;
using test::TemporaryDirectory;
using test::write_text;
using testing::ElementsAre;

// A runner that does what the test says; by default it waits for the word to stop.
class ScriptedRunner final : public TrialRunner {
 public:
  using Script = std::function<SegmentResult(const AssignmentOrder&, TrialReporter&)>;
  Script script = [](const AssignmentOrder&, TrialReporter& reporter) { return wait_for_stop(reporter); };

  SegmentResult run(const AssignmentOrder& order, TrialReporter& reporter, TrialLog&) override { return script(order, reporter); }
  std::vector<std::string> data_keys() const override { return {"warm"}; }
  void release() override { ++releases; }
  int releases = 0;

  static SegmentResult wait_for_stop(TrialReporter& reporter) {
    pollfd stop{reporter.stop_fd(), POLLIN, 0};
    ::poll(&stop, 1, -1);
    return {kExitStopped, ""};
  }
};

class SyncLoopTest : public testing::Test {
 protected:
  SyncLoopTest() {
    server.start();
    options.id = "w-1";
    options.name = "w";
    options.retry_ms_min = 1;
    options.retry_ms_max = 5;
    options.timeout_ms = 120'000;  // nothing is sent twice because a sanitizer makes the server slow
  }

  AssignmentOrder order_of(std::int64_t epoch, std::int64_t until = 3) {
    AssignmentOrder order;
    order.epoch = epoch;
    order.job = 1;
    order.job_name = "job";
    order.configuration = Json::object();
    order.trainer = {{"type", "command"}};
    order.objective_metric = "loss";
    order.until_resource = until;
    order.max_resource = 9;
    order.trial_dir = dir / "trial";
    return order;
  }

  // Of the first of these orders, one after the other, with whose end nothing is lacked any more: what was missed is looked for
  // before a segment, if its time has come.
  protocol::AssignmentStatus exit_without_lacks(AssignmentOrder order) {
    while (true) {
      ++order.epoch;
      server.desire(order);
      const SyncRequest told = server.wait_for_exit(order.epoch);
      if (told.lacks.empty()) return *told.assignment;
    }
  }

  void start_worker() {
    worker.emplace(options, std::move(*net::HttpClient::create(server.url())), runner);
    ended = std::async(std::launch::async, [this] { return worker->run(); });
  }

  Worker::End drain() {
    worker->drain();
    return ended.get();
  }

  TemporaryDirectory dir;
  SyncServer server;
  ScriptedRunner runner;
  WorkerOptions options;
  std::optional<Worker> worker;
  std::future<Worker::End> ended;
};

bool executing(const SyncRequest& request) { return request.assignment && request.assignment->exit.empty(); }
bool idle(const SyncRequest& request) { return !request.assignment && !request.draining; }

TEST_F(SyncLoopTest, AnIdleWorkerIsHeldUntilThereIsWorkAndGoesFromOneSegmentToTheNext) {
  runner.script = [](const AssignmentOrder& order, TrialReporter& reporter) {
    reporter.observe(order.until_resource, {{"loss", 0.5}});
    reporter.checkpointed(order.until_resource);
    return SegmentResult{kExitCompleted, ""};
  };
  server.on_exit([this](const auto& status) { return status.epoch == 1 ? std::optional(order_of(2, 9)) : std::nullopt; });
  start_worker();
  server.wait_for(idle);
  server.desire(order_of(1));
  const SyncRequest first = server.wait_for_exit(1);
  EXPECT_EQ(first.assignment->exit, "completed");
  EXPECT_EQ(first.assignment->checkpoint_resource, 3);
  EXPECT_THAT(first.data_keys, ElementsAre("warm"));
  const SyncRequest second = server.wait_for_exit(2);
  ASSERT_EQ(second.assignment->observations.size(), 1U);
  EXPECT_EQ(second.assignment->observations[0].resource, 9);
  EXPECT_EQ(drain(), Worker::End::drained);
}

TEST_F(SyncLoopTest, ChecksAJobWhenItTrainsNothingAndSaysWhatItFinds) {
  options.check_job = [](const std::string& document, int workers, const std::function<bool()>&) {
    Diagnostics found;
    found.error("trainer", document + " for " + std::to_string(workers));
    return found;
  };
  start_worker();
  EXPECT_TRUE(server.wait_for(idle).checks_jobs);
  server.ask_to_check({7, 3, {{"name", "j"}}});
  const SyncRequest said = server.wait_for([](const SyncRequest& request) { return request.check_result.has_value(); });
  EXPECT_EQ(said.check_result->id, 7);
  EXPECT_EQ(said.check_result->found.errors().at(0).message, R"({"name":"j"} for 3)");
  server.desire(order_of(1));
  EXPECT_FALSE(server.wait_for(executing).check_result) << "it is told once";
  EXPECT_EQ(drain(), Worker::End::drained);
}

TEST_F(SyncLoopTest, LooksAtAJobBeforeItsFirstTrialAndAFailureSaysWhatWasFound) {
  std::vector<std::string> looked;
  options.check_job = [&](const std::string& document, int, const std::function<bool()>&) {
    looked.push_back(Json::parse(document)["search_space"].dump());
    Diagnostics found;
    found.error("trainer.argv[0]", "no such program", "install it");
    return found;
  };
  runner.script = [](const AssignmentOrder& order, TrialReporter&) {
    return order.epoch == 2 ? SegmentResult{kExitCompleted, ""} : SegmentResult{kExitCrashed, "it crashed"};
  };
  AssignmentOrder first = order_of(1);
  first.look_first = true;
  first.configuration = {{"x", 2}};
  AssignmentOrder second = first;
  second.epoch = 2;
  AssignmentOrder of_another_job = first;
  of_another_job.epoch = 3;
  of_another_job.job = 2;
  server.on_exit([&](const auto& status) {
    return status.epoch == 1 ? std::optional(second) : status.epoch == 2 ? std::optional(of_another_job) : std::nullopt;
  });
  server.desire(first);
  start_worker();
  EXPECT_THAT(server.wait_for_exit(1).assignment->message,
              testing::AllOf(testing::StartsWith("it crashed; before its first trial of the job this machine ("),
                             testing::EndsWith("was found wanting: trainer.argv[0]: no such program (install it)")));
  EXPECT_EQ(server.wait_for_exit(2).assignment->message, "");
  server.wait_for_exit(3);
  EXPECT_EQ(drain(), Worker::End::drained);
  EXPECT_THAT(looked, ElementsAre(R"({"x":2})", R"({"x":2})")) << "once a job";
}

TEST_F(SyncLoopTest, LooksOnceAtEachOfSeveralJobsWhoseTrialsTakeTurns) {
  std::vector<std::string> looked;
  options.check_job = [&](const std::string& document, int, const std::function<bool()>&) {
    looked.push_back(Json::parse(document)["name"]);
    Diagnostics found;
    found.error("trainer.argv[0]", "no program of " + looked.back());
    return found;
  };
  runner.script = [](const AssignmentOrder&, TrialReporter&) { return SegmentResult{kExitCrashed, "it crashed"}; };
  const auto order_in_turn = [this](std::int64_t epoch) {
    AssignmentOrder order = order_of(epoch);
    order.look_first = true;
    order.job = epoch % 2 == 1 ? 1 : 2;
    order.job_name = order.job == 1 ? "one" : "two";
    return order;
  };
  server.on_exit(
      [&](const auto& status) { return status.epoch < 4 ? std::optional(order_in_turn(status.epoch + 1)) : std::nullopt; });
  server.desire(order_in_turn(1));
  start_worker();
  EXPECT_THAT(server.wait_for_exit(3).assignment->message, testing::HasSubstr("no program of one"));
  EXPECT_THAT(server.wait_for_exit(4).assignment->message, testing::HasSubstr("no program of two"));
  EXPECT_EQ(drain(), Worker::End::drained);
  EXPECT_THAT(looked, ElementsAre("one", "two"));
}

TEST_F(SyncLoopTest, ALookThatWasCutShortIsTakenAgain) {
  std::promise<void> looking;
  int looks = 0;
  options.check_job = [&](const std::string&, int, const std::function<bool()>& should_stop) {
    if (++looks == 1) {
      looking.set_value();
      while (!should_stop()) std::this_thread::yield();
    }
    return Diagnostics();
  };
  runner.script = [](const AssignmentOrder&, TrialReporter& reporter) {
    return SegmentResult{reporter.should_stop() ? kExitStopped : kExitCompleted, ""};
  };
  AssignmentOrder order = order_of(1);
  order.look_first = true;
  server.desire(order);
  start_worker();
  looking.get_future().wait();
  server.desire(std::nullopt);
  server.wait_for_exit(1);
  order.epoch = 2;
  server.desire(order);
  EXPECT_EQ(server.wait_for_exit(2).assignment->exit, kExitCompleted);
  EXPECT_EQ(drain(), Worker::End::drained);
  EXPECT_EQ(looks, 2);
}

TEST_F(SyncLoopTest, ObservationsAreSentUntilTheyAreAcknowledgedAndNotAgain) {
  std::promise<void> told;
  runner.script = [&](const AssignmentOrder&, TrialReporter& reporter) {
    reporter.observe(1, {{"loss", 0.5}});
    told.get_future().wait();
    reporter.observe(2, {{"loss", 0.25}});
    return ScriptedRunner::wait_for_stop(reporter);
  };
  server.desire(order_of(1));
  start_worker();
  const auto holds = [](std::int64_t resource) {
    return [resource](const SyncRequest& r) {
      return r.assignment && !r.assignment->observations.empty() && r.assignment->observations.back().resource == resource;
    };
  };
  server.wait_for(holds(1));
  server.lose_replies(3);
  told.set_value();
  EXPECT_EQ(server.wait_for(holds(2)).assignment->observations.front().resource, 2);
  server.wait_for([](const SyncRequest& r) { return executing(r) && r.assignment->observations.empty(); });
  server.desire(std::nullopt);
  EXPECT_EQ(server.wait_for_exit(1).assignment->exit, "stopped");
  drain();
  int sent = 0;
  for (const SyncRequest& request : server.requests()) sent += holds(2)(request) ? 1 : 0;
  EXPECT_GE(sent, 2) << "a lost reply is no acknowledgement";
}

TEST_F(SyncLoopTest, WhereTheServersDataDirectoryIsNotNothingIsTrainedUntilItIsThereOrTheTrialIsTakenBack) {
  runner.script = [](const AssignmentOrder&, TrialReporter&) { return SegmentResult{kExitCompleted, ""}; };
  const auto waits = [](std::int64_t epoch) {
    return [epoch](const SyncRequest& r) {
      return executing(r) && r.assignment->epoch == epoch && r.assignment->message == waiting::kDataDirectory;
    };
  };
  AssignmentOrder order = order_of(1);
  order.trial_dir = dir / "data/jobs/1/trials/0";
  server.desire(order);
  start_worker();
  server.wait_for(waits(1));
  server.desire(std::nullopt);  // its job is deleted, say
  EXPECT_EQ(server.wait_for_exit(1).assignment->exit, "stopped");
  order.epoch = 2;
  server.desire(order);
  server.wait_for(waits(2));
  std::filesystem::create_directories(dir / "data/jobs");
  EXPECT_EQ(server.wait_for_exit(2).assignment->exit, "completed");
  EXPECT_TRUE(std::filesystem::exists(order.trial_dir + "/log.txt"));
  drain();
}

TEST_F(SyncLoopTest, ARankWithoutTheServersDataDirectoryGivesItsTrialBackAndAsksForNoneUntilItIsThere) {
  options.lack_ms = 1;
  AssignmentOrder order = order_of(1);
  order.trial_dir = dir / "data/jobs/1/trials/0";
  order.group.emplace().session = 1;
  server.desire(order);
  start_worker();
  const SyncRequest told = server.wait_for_exit(1);
  EXPECT_EQ(told.assignment->exit, "stopped");
  EXPECT_THAT(told.assignment->message, testing::HasSubstr("data directory is not at"));
  ASSERT_EQ(told.lacks.size(), 1U);
  EXPECT_EQ(told.lacks[0].job, 0);
  EXPECT_EQ(told.lacks[0].what, waiting::kDataDirectory);
  EXPECT_EQ(told.lacks[0].message, told.assignment->message);
  server.desire(std::nullopt);
  server.wait_for([](const SyncRequest& request) { return idle(request) && request.lacks.size() == 1; });
  std::filesystem::create_directories(dir / "data/jobs");
  order.group.reset();
  runner.script = [](const AssignmentOrder&, TrialReporter&) { return SegmentResult{kExitCrashed, "it crashed"}; };
  EXPECT_EQ(exit_without_lacks(order).exit, "crashed");
  drain();
}

TEST_F(SyncLoopTest, ATrialOfOneWorkerIsGivenBackOnceItsDataHasNotComeForAWhile) {
  options.lack_ms = 1;
  std::atomic<int> attempts = 0;
  runner.script = [&attempts](const AssignmentOrder&, TrialReporter&) {
    ++attempts;
    return SegmentResult{.exit = kExitDataUnreadable, .message = "no data", .waits_for = std::string(waiting::kReadableData)};
  };
  server.desire(order_of(1));
  start_worker();
  const SyncRequest told = server.wait_for_exit(1);
  EXPECT_EQ(told.assignment->exit, "stopped");
  EXPECT_EQ(told.assignment->message, "no data");
  ASSERT_EQ(told.lacks.size(), 1U);
  EXPECT_EQ(told.lacks[0].job, 1);
  EXPECT_EQ(attempts, 2) << "it has waited for it once";
  drain();
}

TEST_F(SyncLoopTest, ACommandWhoseScriptThisMachineAloneLacksIsGivenBackUntilItIsThere) {
  options.lack_ms = 1;
  AssignmentOrder order = order_of(1);
  order.trainer["argv"] = {"/bin/sh", dir / "train.sh"};
  order.look_first = true;  // it is not the server's machine
  runner.script = [](const AssignmentOrder&, TrialReporter&) { return SegmentResult{kExitCrashed, "exit status 2"}; };
  server.desire(order);
  start_worker();
  const SyncRequest told = server.wait_for_exit(1);
  EXPECT_EQ(told.assignment->exit, "stopped");
  ASSERT_EQ(told.lacks.size(), 1U);
  EXPECT_EQ(told.lacks[0].job, 1);
  EXPECT_EQ(told.lacks[0].what, waiting::kCommandParts);
  EXPECT_THAT(told.lacks[0].message, testing::HasSubstr("trainer.argv[1]: the script " + dir / "train.sh" + " is not there"));
  server.desire(std::nullopt);
  server.wait_for([](const SyncRequest& request) { return idle(request) && request.lacks.size() == 1; });
  write_text(dir / "train.sh", "exit 2\n");
  EXPECT_EQ(exit_without_lacks(order).exit, "crashed") << "nothing is missing: the failure is its own";
  drain();
}

TEST_F(SyncLoopTest, WhereTheServerIsACommandWithoutItsProgramFails) {
  AssignmentOrder order = order_of(1);
  order.trainer["argv"] = {dir / "train"};
  runner.script = [](const AssignmentOrder&, TrialReporter&) { return SegmentResult{kExitInvalidParameters, "no program"}; };
  server.desire(order);
  start_worker();
  const SyncRequest told = server.wait_for_exit(1);
  EXPECT_EQ(told.assignment->exit, "invalid_parameters");
  EXPECT_TRUE(told.lacks.empty());
  drain();
}

TEST_F(SyncLoopTest, WhatASegmentStoresAfterItsTrialWasCutGoes) {
  runner.script = [](const AssignmentOrder& order, TrialReporter&) {
    write_text(order.trial_dir + "/" + protocol::kReleasedFile, "");
    std::filesystem::create_directory(order.trial_dir + "/checkpoint");
    write_text(order.trial_dir + "/model.ubj", "a model");
    return SegmentResult{kExitStopped, ""};
  };
  const AssignmentOrder order = order_of(1);
  server.desire(order);
  start_worker();
  server.wait_for_exit(1);
  EXPECT_FALSE(std::filesystem::exists(order.trial_dir + "/checkpoint"));
  EXPECT_FALSE(std::filesystem::exists(order.trial_dir + "/model.ubj"));
  drain();
}

TEST_F(SyncLoopTest, AThreadThatHangsInACallFailsItsTrialAndThenTheProcessIsReplaced) {
  options.stall_ms = 50;
  std::promise<void> replaced;
  std::promise<void> back;
  options.replace_process = [&](bool for_good) {
    EXPECT_FALSE(for_good);
    replaced.set_value();
  };
  runner.script = [&](const AssignmentOrder&, TrialReporter&) {
    back.get_future().wait();
    return SegmentResult{kExitCompleted, ""};
  };
  server.desire(order_of(1));
  start_worker();
  const auto told = server.wait_for_exit(1);
  EXPECT_EQ(told.assignment->exit, "stalled");
  EXPECT_THAT(told.assignment->message, testing::HasSubstr("did not come back"));
  replaced.get_future().wait();
  back.set_value();
  worker->drain();
}

TEST_F(SyncLoopTest, AThreadThatHangsWhenItIsToldToStopIsGivenUpSoonerAndItsTrialBlamedForNothing) {
  options.group_grace_ms = 50;
  std::promise<void> replaced;
  std::promise<void> back;
  options.replace_process = [&](bool) { replaced.set_value(); };
  runner.script = [&](const AssignmentOrder&, TrialReporter&) {
    back.get_future().wait();
    return SegmentResult{kExitCompleted, ""};
  };
  server.desire(order_of(1));
  start_worker();
  server.wait_for(executing);
  server.desire(std::nullopt);
  EXPECT_EQ(server.wait_for_exit(1).assignment->exit, "stopped");
  replaced.get_future().wait();
  back.set_value();
  worker->drain();
}

TEST_F(SyncLoopTest, AnExitIsSentAgainUntilTheServerNoLongerDesiresItsEpoch) {
  runner.script = [](const AssignmentOrder&, TrialReporter&) { return SegmentResult{kExitCrashed, "boom"}; };
  server.on_exit([this](const auto& status) { return status.epoch == 1 ? std::optional(order_of(2)) : std::nullopt; });
  server.lose_replies_to_exit(3);
  server.desire(order_of(1));
  start_worker();
  EXPECT_EQ(server.wait_for_exit(2).assignment->message, "boom");
  drain();
  int told = 0;
  for (const SyncRequest& request : server.requests()) {
    told += request.assignment && request.assignment->epoch == 1 && !request.assignment->exit.empty() ? 1 : 0;
  }
  EXPECT_EQ(told, 4) << "three lost, one answered";
}

TEST_F(SyncLoopTest, ASegmentThatIsNoLongerDesiredIsStoppedBeforeTheNextBegins) {
  std::atomic<int> running = 0;
  std::atomic<int> running_max = 0;
  runner.script = [&](const AssignmentOrder& order, TrialReporter& reporter) {
    running_max = std::max<int>(running_max, ++running);
    const SegmentResult result = order.epoch == 1 ? ScriptedRunner::wait_for_stop(reporter) : SegmentResult{kExitCompleted, ""};
    --running;
    return result;
  };
  server.desire(order_of(1));
  start_worker();
  server.wait_for(executing);
  server.desire(order_of(2));
  EXPECT_EQ(server.wait_for_exit(1).assignment->exit, "stopped");
  EXPECT_EQ(server.wait_for_exit(2).assignment->exit, "completed");
  EXPECT_EQ(running_max, 1);
  drain();
}

TEST_F(SyncLoopTest, TrainingGoesOnWhileTheServerIsAwayAndItsResultIsDeliveredLater) {
  std::promise<void> server_is_away;
  std::promise<void> segment_is_over;
  runner.script = [&](const AssignmentOrder& order, TrialReporter& reporter) {
    server_is_away.get_future().wait();
    reporter.observe(order.until_resource, {{"loss", 0.5}});
    segment_is_over.set_value();
    return SegmentResult{kExitCompleted, ""};
  };
  server.desire(order_of(1));
  start_worker();
  server.wait_for(executing);
  server.stop();
  server_is_away.set_value();
  segment_is_over.get_future().wait();
  server.start();
  const SyncRequest request = server.wait_for_exit(1);
  EXPECT_EQ(request.assignment->exit, "completed");
  // With the exit or, when the server came back in between, just before it.
  server.wait_for([](const SyncRequest& r) { return r.assignment && r.assignment->observations.size() == 1; });
  EXPECT_EQ(drain(), Worker::End::drained);
}

TEST_F(SyncLoopTest, AnIdleWorkerComesBackToAServerThatWasStartedAnew) {
  start_worker();
  server.wait_for(idle);
  server.stop();
  server.start();
  server.desire(order_of(1));
  server.wait_for(executing);
  EXPECT_EQ(drain(), Worker::End::drained);
  EXPECT_EQ(server.wait_for_exit(1).assignment->exit, "stopped");
}

TEST_F(SyncLoopTest, GivesUpOnAServerThatStaysAwayAfterStoppingItsSegment) {
  options.give_up_after_ms = 1;
  std::atomic<bool> stopped = false;
  runner.script = [&](const AssignmentOrder&, TrialReporter& reporter) {
    const SegmentResult result = ScriptedRunner::wait_for_stop(reporter);
    stopped = true;
    return result;
  };
  server.desire(order_of(1));
  start_worker();
  server.wait_for(executing);
  server.stop();
  EXPECT_EQ(ended.get(), Worker::End::gave_up);
  EXPECT_TRUE(stopped);
}

TEST_F(SyncLoopTest, DrainingEndsAHeldSyncAndTellsTheServer) {
  start_worker();
  server.wait_for(idle);
  EXPECT_EQ(drain(), Worker::End::drained);
  EXPECT_FALSE(server.wait_for([](const SyncRequest& r) { return r.draining; }).assignment);
}

TEST_F(SyncLoopTest, AWorkerThatEndsItsOwnCallSaysNothingOfItsServer) {
  std::vector<std::string> said;
  options.log = [&](const std::string& line) { said.push_back(line); };
  start_worker();
  server.wait_for(idle);
  EXPECT_EQ(drain(), Worker::End::drained);
  EXPECT_THAT(said, testing::IsEmpty());
}

TEST_F(SyncLoopTest, DrainingStopsTheSegmentAndTellsTheServerBoth) {
  server.desire(order_of(1));
  start_worker();
  server.wait_for(executing);
  server.lose_replies(2);
  EXPECT_EQ(drain(), Worker::End::drained);
  const SyncRequest exit = server.wait_for_exit(1);
  EXPECT_TRUE(exit.draining);
  EXPECT_EQ(exit.assignment->exit, "stopped");
}

TEST_F(SyncLoopTest, DrainingDoesNotWaitForEverForAServerThatIsAway) {
  options.drain_ms_max = 20;
  server.desire(order_of(1));
  start_worker();
  server.wait_for(executing);
  server.stop();
  EXPECT_EQ(drain(), Worker::End::drained);
}

TEST_F(SyncLoopTest, TheServerCanSendAWorkerHome) {
  start_worker();
  server.wait_for(idle);
  server.desire_drain();
  EXPECT_EQ(ended.get(), Worker::End::drained);
}

TEST_F(SyncLoopTest, EachFaultOfTheServerIsSaidOnceAlsoWhereOneFollowsAnother) {
  int asked = 0;
  const test::LoopbackServer refusing([&](const auto&) -> std::optional<test::LoopbackAnswer> {
    ++asked;
    if (asked <= 2) return std::nullopt;
    if (asked <= 4) return test::LoopbackAnswer{401, R"({"error": {"code": "unauthorized", "message": "no token"}})"};
    return test::LoopbackAnswer{.body =
                                    to_json(protocol::SyncReply{.desired = "drain", .order = {}, .sync_within_ms = 5}).dump()};
  });
  std::vector<std::string> said;
  options.log = [&](const std::string& line) { said.push_back(line); };
  EXPECT_EQ(Worker(options, std::move(*net::HttpClient::create(refusing.url())), runner).run(), Worker::End::drained);
  EXPECT_EQ(said,
            (std::vector<std::string>{"cannot reach the server at " + refusing.url() + ": it closed the connection; trying again",
                                      "no token; trying again", "the server is there again"}));
}

TEST_F(SyncLoopTest, ALongBacklogGoesOutInPiecesAndTheExitWithTheLast) {
  constexpr std::int64_t kCount = 25'000;
  runner.script = [](const AssignmentOrder&, TrialReporter& reporter) {
    for (std::int64_t i = 1; i <= kCount; ++i) reporter.observe(i, {{"loss", 0.5}});
    return SegmentResult{kExitCompleted, ""};
  };
  server.desire(order_of(1, kCount));
  start_worker();
  server.wait_for_exit(1);
  drain();
  std::int64_t next = 1;
  for (const SyncRequest& request : server.requests()) {
    if (!request.assignment) continue;
    for (const auto& observation : request.assignment->observations) ASSERT_EQ(observation.resource, next++);
    EXPECT_TRUE(request.assignment->exit.empty() || next == kCount + 1);
  }
}

TEST_F(SyncLoopTest, AnExceptionOfATrainerIsACrashOfItsTrialOnlyAndLeavesNothingToGoOnWith) {
  int releases = 0;
  runner.script = [&](const AssignmentOrder& order, TrialReporter&) -> SegmentResult {
    releases = runner.releases;
    if (order.epoch == 1) throw std::runtime_error("unexpected");
    throw std::bad_alloc();
  };
  server.on_exit([this](const auto& status) { return status.epoch == 1 ? std::optional(order_of(2)) : std::nullopt; });
  server.desire(order_of(1));
  start_worker();
  const SyncRequest crash = server.wait_for_exit(1);
  EXPECT_EQ(crash.assignment->exit, "crashed");
  EXPECT_THAT(crash.assignment->message, testing::HasSubstr("unexpected"));
  EXPECT_EQ(server.wait_for_exit(2).assignment->exit, "out_of_memory");
  drain();
  EXPECT_EQ(releases, 1) << "before the second";
}

TEST_F(SyncLoopTest, AMessageThatIsLongAndNoUtf8StillReachesTheServer) {
  runner.script = [](const AssignmentOrder&, TrialReporter&) {
    return SegmentResult{kExitCrashed, std::string(100'000, '\xff')};
  };
  server.desire(order_of(1));
  start_worker();
  EXPECT_LE(server.wait_for_exit(1).assignment->message.size(), protocol::kMessageSizeMax);
  drain();
}

}  // namespace
}  // namespace tuneband::workers

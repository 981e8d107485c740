#include "server/engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <semaphore>
#include <thread>

#include "core/random.hpp"
#include "db/store.hpp"
#include "server/log.hpp"
#include "tests/server/loop_until.hpp"
#include "tests/temporary_directory.hpp"

namespace tuneband::server {
namespace {

using test::loop_until;
using test::TemporaryDirectory;

JobSpec small_job(const std::string& name) {
  Diagnostics faults;
  JobSpec spec;
  spec.name = name;
  spec.objective = {"validation-auc", Goal::maximize, std::nullopt};
  spec.search_space =
      SearchSpace::parse(*parse_json(R"({"eta": {"type": "float", "min": 0, "max": 1}})"), "search_space", faults);
  spec.sampler.seed = 7;
  spec.scheduler.type = SchedulerType::hyperband;
  spec.scheduler.max_resource = 9;
  spec.trainer = {{"type", "command"}, {"argv", {"true"}}};
  EXPECT_TRUE(faults.ok());
  return spec;
}

JobSubmitted submission(const std::string& name) {
  const JobSpec spec = small_job(name);
  return {spec, R"({"name":")" + name + R"("})"};
}

protocol::SyncRequest idle_call() {
  protocol::SyncRequest request;
  request.name = "local-0";
  request.host = "here";
  request.pid = 1;
  return request;
}

protocol::SyncRequest reporting_call(std::int64_t epoch, std::int64_t resource, const std::string& exit) {
  protocol::SyncRequest request = idle_call();
  protocol::AssignmentStatus status;
  status.epoch = epoch;
  status.observations = {{resource, {{"validation-auc", 0.5}}}};
  status.checkpoint_resource = resource;
  status.training_ms = 10;
  status.exit = exit;
  request.assignment = std::move(status);
  return request;
}

// A commit that waits until it is let through, on top of a real store.
class GatedStore {
 public:
  explicit GatedStore(const std::string& path) : store_(Store::open(path)) {}

  void commit(std::span<const Write> writes) {
    {
      std::unique_lock lock(mutex_);
      ++begun_;
      changed_.notify_all();
      changed_.wait(lock, [this] { return open_; });
    }
    store_.commit(writes);
  }
  void close() {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void wait_until_begun(int commits) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return begun_ >= commits; });
  }
  int begun() {
    const std::lock_guard lock(mutex_);
    return begun_;
  }
  Snapshot load() { return store_.load(); }

 private:
  Store store_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  int begun_ = 0;
};

class EngineTest : public testing::Test {
 protected:
  EngineTest() { set_log_level(LogLevel::error); }

  ~EngineTest() override { store_.open(); }

  EngineWorld world() {
    EngineWorld world;
    world.commit = [this](std::span<const Write> writes) { store_.commit(writes); };
    world.trial_dir = [](TrialId trial) {
      return "/data/" + std::to_string(trial.job.value) + "/" + std::to_string(trial.number);
    };
    world.wall_clock = [this] { return wall_clock(); };
    return world;
  }

  Timestamp wall_clock() const { return Timestamp{read_wall_clock().ms + set_by_ms_}; }

  Engine& engine(EngineOptions options = {}) {
    if (!engine_) {
      engine_ = std::make_unique<Engine>(loop_, options, world());
      engine_->restore(store_.load(), {});
    }
    return *engine_;
  }

  // Submits a job and runs the loop until it is on disk.
  JobId job(const std::string& name) {
    std::optional<JobId> id;
    EXPECT_TRUE(engine().submit(submission(name),
                                [&](std::span<const Notice> notices) { id = *std::get<JobReply>(notices.back()).job; }));
    EXPECT_TRUE(loop_until(loop_, [&] { return id.has_value(); }));
    return *id;
  }

  protocol::SyncReply answer(const WorkerId& worker, const protocol::SyncRequest& request) {
    std::optional<protocol::SyncReply> reply;
    EXPECT_TRUE(engine().sync(worker, request, [&](const protocol::SyncReply& said) { reply = said; }));
    EXPECT_TRUE(loop_until(loop_, [&] { return reply.has_value(); }));
    return *reply;
  }

  // Everything that is ready now runs.
  void settle() {
    loop_.restart();
    while (loop_.poll() > 0) loop_.restart();
  }
  // A worker's first call is in the log of events before it is held.
  void wait_until_held() {
    ASSERT_TRUE(loop_until(loop_, [&] { return engine().stats().held_calls == 1; }));
  }

  std::atomic<std::int64_t> set_by_ms_ = 0;  // the machine's clock
  TemporaryDirectory directory_;
  boost::asio::io_context loop_;
  GatedStore store_{directory_ / "tuneband.db"};
  std::unique_ptr<Engine> engine_;
};

TEST_F(EngineTest, NothingIsToldBeforeItIsOnDisk) {
  engine();
  store_.close();
  bool told = false;
  bool listened = false;
  engine().add_listener([&](std::span<const Write>) { listened = true; });
  ASSERT_TRUE(engine().submit(submission("first"), [&](std::span<const Notice>) { told = true; }));
  settle();
  store_.wait_until_begun(1);
  settle();
  EXPECT_FALSE(told);
  EXPECT_FALSE(listened);

  store_.open();
  ASSERT_TRUE(loop_until(loop_, [&] { return told; }));
  EXPECT_TRUE(listened);
  ASSERT_EQ(store_.load().jobs.size(), 1U);
  EXPECT_EQ(store_.load().jobs[0].name, "first");
}

TEST_F(EngineTest, WhileASuggestionIsComputedOtherJobsAndWorkersAreAnswered) {
  std::promise<void> asked;
  std::promise<void> let_go;
  EngineWorld slow = world();
  slow.suggest = [&](const SuggestionWanted& wanted) {
    if (wanted.trial == 0) {
      asked.set_value();
      let_go.get_future().wait();
    }
    return wanted.make();
  };
  engine_ = std::make_unique<Engine>(loop_, EngineOptions{}, slow);
  engine_->restore(store_.load(), {});
  JobSubmitted thinker = submission("thinker");
  thinker.spec.sampler.type = SamplerType::tpe;
  ASSERT_TRUE(engine_->submit(std::move(thinker)));
  std::optional<protocol::SyncReply> kept;
  ASSERT_TRUE(engine_->sync(WorkerId{"kept"}, idle_call(), [&](const protocol::SyncReply& said) { kept = said; }));
  std::future<void> computing = asked.get_future();
  ASSERT_TRUE(loop_until(loop_, [&] { return computing.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }));

  job("quick");
  ASSERT_TRUE(answer(WorkerId{"other"}, idle_call()).order) << "a job that need not think gets the next worker";
  EXPECT_FALSE(kept) << "the free worker is kept for the job whose turn it was";
  EXPECT_EQ(engine_->stats().suggestions, 1U);

  let_go.set_value();
  ASSERT_TRUE(loop_until(loop_, [&] { return kept.has_value(); }));
  ASSERT_TRUE(kept->order);
  EXPECT_EQ(kept->order->job, 1);
}

TEST_F(EngineTest, WhatDeletionsLeaveGoesBitByBitAfterARestartAndAfterEachDeletion) {
  constexpr int kBits = 5;
  std::atomic<int> bits = 0;
  EngineWorld tidied = world();
  tidied.tidy = [&bits] { return ++bits % kBits != 0; };
  engine_ = std::make_unique<Engine>(loop_, EngineOptions{}, tidied);
  engine_->restore(store_.load(), {});
  const auto wait_for = [&bits](int count) {
    while (bits < count) std::this_thread::yield();  // the writer thread's
  };
  wait_for(kBits);

  const JobId id = job("first");
  bool deleted = false;
  ASSERT_TRUE(engine_->submit(JobStopRequested{id}));
  ASSERT_TRUE(engine_->submit(JobDeleteRequested{id}, [&](std::span<const Notice>) { deleted = true; }));
  ASSERT_TRUE(loop_until(loop_, [&] { return deleted; }));
  job("second");  // its commit comes in between
  wait_for(2 * kBits);
  EXPECT_EQ(engine_->stats().commits, engine_->stats().commits_within.back()) << "none took longer than the longest bucket";
}

TEST_F(EngineTest, ACommitWaitsForOneBitHoweverManyDeletionsHaveLeftSome) {
  std::counting_semaphore<> permits(0);
  std::atomic<bool> more = true;
  EngineWorld tidied = world();
  tidied.tidy = [&] {
    permits.acquire();
    return more.load();
  };
  engine_ = std::make_unique<Engine>(loop_, EngineOptions{}, tidied);
  engine_->restore(store_.load(), {});
  int deleted = 0;
  for (const char* name : {"first", "second", "third"}) {
    ASSERT_TRUE(engine_->submit(submission(name), [&](std::span<const Notice> notices) {
      const JobId id = *std::get<JobReply>(notices.back()).job;
      EXPECT_TRUE(engine_->submit(JobStopRequested{id}));
      EXPECT_TRUE(engine_->submit(JobDeleteRequested{id}, [&](std::span<const Notice>) { ++deleted; }));
    }));
  }
  ASSERT_TRUE(loop_until(loop_, [&] {
    permits.release();
    return deleted == 3;
  }));
  while (permits.try_acquire()) {
  }
  bool told = false;
  ASSERT_TRUE(engine_->submit(submission("last"), [&](std::span<const Notice>) { told = true; }));
  settle();
  permits.release();
  EXPECT_TRUE(loop_until(loop_, [&] { return told; })) << "its commit stands behind the bit that is under way";
  more = false;
  permits.release(100);
  engine_.reset();
}

TEST_F(EngineTest, EventsThatArriveDuringACommitShareTheNextOne) {
  engine();
  store_.close();
  int told = 0;
  ASSERT_TRUE(engine().submit(submission("first"), [&](std::span<const Notice>) { ++told; }));
  settle();
  store_.wait_until_begun(1);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(engine().submit(submission("job-" + std::to_string(i)), [&](std::span<const Notice>) { ++told; }));
  }
  store_.open();
  ASSERT_TRUE(loop_until(loop_, [&] { return told == 51; }));
  EXPECT_EQ(store_.begun(), 2);
  EXPECT_EQ(engine().stats().events, 51U);
  EXPECT_EQ(engine().stats().commits, 2U);
}

TEST_F(EngineTest, AnIdleWorkersCallIsHeldUntilThereIsWork) {
  std::optional<protocol::SyncReply> reply;
  ASSERT_TRUE(engine().sync({"w1"}, idle_call(), [&](const protocol::SyncReply& said) { reply = said; }));
  wait_until_held();
  EXPECT_FALSE(reply);
  EXPECT_EQ(engine().stats().held_calls, 1U);

  const JobId id = job("first");
  ASSERT_TRUE(loop_until(loop_, [&] { return reply.has_value(); }));
  EXPECT_EQ(reply->desired, "execute");
  ASSERT_TRUE(reply->order);
  EXPECT_EQ(reply->order->job, id.value);
  EXPECT_EQ(reply->order->job_name, "first");
  EXPECT_EQ(reply->order->trial, 0);
  EXPECT_EQ(reply->order->trial_dir, "/data/1/0");
  EXPECT_EQ(reply->order->objective_metric, "validation-auc");
  EXPECT_EQ(reply->order->from_resource, 0);
  EXPECT_EQ(reply->order->until_resource, 1);
  EXPECT_EQ(reply->order->max_resource, 9);
  EXPECT_EQ(reply->order->seed, random_bits(7, {0, stable_hash("trainer")}));
  EXPECT_EQ(reply->order->trainer.at("type"), "command");
  EXPECT_EQ(engine().stats().held_calls, 0U);
}

TEST_F(EngineTest, AHeldCallIsAnsweredIdleWhenItsTimeIsOver) {
  EngineOptions options;
  options.hold_ms = 1;
  engine(options);
  const protocol::SyncReply reply = answer({"w1"}, idle_call());
  EXPECT_EQ(reply.desired, "idle");
  EXPECT_FALSE(reply.order);
  EXPECT_EQ(engine().stats().held_calls, 0U);
}

TEST_F(EngineTest, ANewerCallOfTheSameWorkerReplacesTheOlderOne) {
  std::optional<protocol::SyncReply> older;
  std::optional<protocol::SyncReply> newer;
  ASSERT_TRUE(engine().sync({"w1"}, idle_call(), [&](const protocol::SyncReply& said) { older = said; }));
  wait_until_held();
  ASSERT_TRUE(engine().sync({"w1"}, idle_call(), [&](const protocol::SyncReply& said) { newer = said; }));
  settle();
  ASSERT_TRUE(older);
  EXPECT_EQ(older->desired, "idle");
  EXPECT_FALSE(newer);
  EXPECT_EQ(engine().stats().held_calls, 1U);

  job("first");
  ASSERT_TRUE(loop_until(loop_, [&] { return newer.has_value(); }));
  EXPECT_EQ(newer->desired, "execute");
}

// What an idle worker of whom nobody knows yet that it went, and its test, say to each other.
struct WatchedCall {
  std::optional<protocol::SyncReply> reply;
  std::function<void()> gone;

  Engine::SyncReplied replied() {
    return [this](const protocol::SyncReply& said) { reply = said; };
  }
  Engine::WatchCaller watch() {
    return [this](std::function<void()> told) { gone = std::move(told); };
  }
};

TEST_F(EngineTest, AnIdleWorkerThatGoesWhileItsCallIsHeldIsGivenNothing) {
  WatchedCall left;
  ASSERT_TRUE(engine().sync({"w1"}, idle_call(), left.replied(), left.watch()));
  wait_until_held();
  ASSERT_TRUE(left.gone);
  left.gone();
  ASSERT_TRUE(left.reply) << "it may still take an answer";
  EXPECT_EQ(engine().stats().held_calls, 0U);
  job("first");
  const protocol::SyncReply order = answer({"w2"}, idle_call());
  ASSERT_TRUE(order.order);
  EXPECT_EQ(order.order->trial, 0);
  EXPECT_FALSE(left.reply->order);
  EXPECT_EQ(answer({"w1"}, idle_call()).order->trial, 1) << "it is as good as any when it calls again";
}

TEST_F(EngineTest, WorkThatAnIdleWorkerWasGivenWhenItWentGoesToAnotherAtNoCharge) {
  WatchedCall left;
  ASSERT_TRUE(engine().sync({"w1"}, idle_call(), left.replied(), left.watch()));
  wait_until_held();
  store_.close();
  ASSERT_TRUE(engine().submit(submission("first")));
  settle();
  store_.wait_until_begun(1);
  ASSERT_TRUE(left.gone);
  left.gone();
  store_.open();
  const protocol::SyncReply order = answer({"w2"}, idle_call());
  ASSERT_TRUE(order.order);
  EXPECT_EQ(order.order->trial, 0);
  EXPECT_EQ(order.order->attempt, 1);
  ASSERT_TRUE(left.reply);
  EXPECT_FALSE(left.reply->order);
}

TEST_F(EngineTest, AnOlderCallsEndDoesNotConcernAWorkerThatHasCalledAgain) {
  WatchedCall older;
  WatchedCall newer;
  ASSERT_TRUE(engine().sync({"w1"}, idle_call(), older.replied(), older.watch()));
  wait_until_held();
  ASSERT_TRUE(engine().sync({"w1"}, idle_call(), newer.replied(), newer.watch()));
  older.gone();
  settle();
  EXPECT_EQ(engine().scheduler().workers().size(), 1U);
  job("first");
  ASSERT_TRUE(loop_until(loop_, [&] { return newer.reply.has_value(); }));
  EXPECT_EQ(newer.reply->desired, "execute");
}

TEST_F(EngineTest, ANoteIsNotConfirmedOnceTheDataIsLost) {
  EngineWorld losing = world();
  losing.put_note = [](JobId, std::optional<int>, const std::string&, Timestamp) { return true; };
  losing.data_lost = [] { return std::optional<std::string>("gone"); };
  Engine engine(loop_, {}, losing);
  engine.restore(store_.load(), {});
  bool confirmed = false;
  ASSERT_TRUE(engine.put_note(JobId{1}, std::nullopt, "text", [&](bool) { confirmed = true; }));
  EXPECT_TRUE(loop_until(loop_, [&] { return engine.lost(); }));
  EXPECT_FALSE(confirmed);
}

TEST_F(EngineTest, AnAnswerThatWasLostIsGivenAgain) {
  std::optional<protocol::SyncReply> lost;
  ASSERT_TRUE(engine().sync({"w1"}, idle_call(), [&](const protocol::SyncReply& said) { lost = said; }));
  job("first");
  ASSERT_TRUE(loop_until(loop_, [&] { return lost.has_value(); }));
  const protocol::SyncReply again = answer({"w1"}, idle_call());
  EXPECT_EQ(again.desired, "execute");
  ASSERT_TRUE(again.order);
  EXPECT_EQ(again.order->epoch, lost->order->epoch);
}

TEST_F(EngineTest, ObservationsAreOnDiskBeforeTheirCallIsAnswered) {
  job("first");
  const protocol::SyncReply order = answer({"w1"}, idle_call());
  ASSERT_TRUE(order.order);
  store_.close();
  const int before = store_.begun();
  std::optional<protocol::SyncReply> reply;
  ASSERT_TRUE(engine().sync({"w1"}, reporting_call(order.order->epoch, 1, "completed"),
                            [&](const protocol::SyncReply& said) { reply = said; }));
  settle();
  store_.wait_until_begun(before + 1);
  settle();
  EXPECT_FALSE(reply);
  store_.open();
  ASSERT_TRUE(loop_until(loop_, [&] { return reply.has_value(); }));
  EXPECT_EQ(reply->desired, "execute");
  const Snapshot rows = store_.load();
  ASSERT_FALSE(rows.trials.empty());
  EXPECT_EQ(rows.trials[0].objective, 0.5);
  ASSERT_FALSE(rows.decisions.empty());
}

TEST_F(EngineTest, ACallWithAnUnknownExitClassIsRefused) {
  const Result<void> taken = engine().sync({"w1"}, reporting_call(1, 1, "exploded"), [](const protocol::SyncReply&) { FAIL(); });
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(taken.error().path, "assignment.exit");
}

TEST_F(EngineTest, AWorkerOfAnotherVersionIsToldToEndAndGivenNothing) {
  job("first");
  protocol::SyncRequest call = idle_call();
  call.version = "0.0.1";
  EXPECT_EQ(answer({"w1"}, call).desired, "drain");
  call.version = TUNEBAND_VERSION;
  EXPECT_EQ(answer({"w2"}, call).desired, "execute");
}

TEST_F(EngineTest, OfAWorkerThatIsToldToEndAgainAndAgainTheLogSaysSoOnce) {
  set_log_level(LogLevel::warning);
  protocol::SyncRequest call = idle_call();
  call.version = "0.0.1";
  testing::internal::CaptureStderr();
  for (const char* worker : {"w1", "w2", "w1", "w1", "w2"}) EXPECT_EQ(answer({worker}, call).desired, "drain");
  call.version = "0.0.2";
  EXPECT_EQ(answer({"w1"}, call).desired, "drain");
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 3) << said;
  EXPECT_THAT(said, testing::HasSubstr("worker=w2 version=0.0.1"));
}

TEST_F(EngineTest, AWorkerOfAnotherVersionGivesItsTrialBackFirst) {
  job("first");
  const protocol::SyncReply order = answer({"w1"}, idle_call());
  ASSERT_TRUE(order.order);
  protocol::SyncRequest running = reporting_call(order.order->epoch, 0, "");
  running.version = "9.9.9";
  EXPECT_EQ(answer({"w1"}, running).desired, "idle");
  protocol::SyncRequest given_back = reporting_call(order.order->epoch, 0, "stopped");
  given_back.version = "9.9.9";
  EXPECT_EQ(answer({"w1"}, given_back).desired, "drain");
  EXPECT_EQ(answer({"w2"}, idle_call()).order->trial, order.order->trial);
}

TEST_F(EngineTest, AFullQueueRefusesEvents) {
  EngineOptions options;
  options.queue_max = 2;
  engine(options);
  EXPECT_TRUE(engine().submit(submission("a")));
  EXPECT_TRUE(engine().submit(submission("b")));
  const Result<void> refused = engine().submit(submission("c"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_EQ(engine().stats().refused, 1U);
}

TEST_F(EngineTest, AWorkerThatIsSilentForItsLeaseLosesItsTrial) {
  EngineOptions options;
  options.scheduler.lease_ms = 30;
  engine(options);
  std::optional<TrialRow> lost;
  engine().add_listener([&](std::span<const Write> writes) {
    for (const Write& write : writes) {
      if (const auto* trial = std::get_if<TrialRow>(&write); trial && trial->exit_class == ExitClass::worker_lost) lost = *trial;
    }
  });
  job("first");
  const protocol::SyncReply order = answer({"w1"}, idle_call());
  ASSERT_TRUE(order.order);
  answer({"w1"}, reporting_call(order.order->epoch, 0, ""));
  ASSERT_TRUE(loop_until(loop_, [&] { return lost.has_value(); }));
  EXPECT_EQ(lost->state, TrialState::pending);
  EXPECT_EQ(lost->id.number, 0);
}

TEST_F(EngineTest, NoWorkerIsLostBecauseTheClockWasSetOrTheServerDidNotRun) {
  EngineOptions options;
  options.hold_ms = 50;
  engine(options);
  JobSubmitted one_at_a_time = submission("first");
  one_at_a_time.spec.limits.max_parallel_trials = 1;
  ASSERT_TRUE(engine().submit(one_at_a_time));
  const protocol::SyncReply order = answer({"w1"}, idle_call());
  ASSERT_TRUE(order.order);
  answer({"w1"}, reporting_call(order.order->epoch, 0, ""));
  constexpr std::int64_t kDayMs = 24 * 3'600 * 1'000;
  set_by_ms_ = kDayMs;
  bool lost = false;
  engine().add_listener([&](std::span<const Write> writes) {
    for (const Write& write : writes) {
      const auto* trial = std::get_if<TrialRow>(&write);
      lost = lost || (trial != nullptr && trial->exit_class == ExitClass::worker_lost);
    }
  });
  EXPECT_EQ(answer({"w2"}, idle_call()).desired, "idle") << "it was held: a deadline that is over would have come";
  EXPECT_FALSE(lost);
}

TEST_F(EngineTest, StoppingFinishesTheQueueAndAnswersHeldCalls) {
  std::optional<protocol::SyncReply> reply;
  ASSERT_TRUE(engine().sync({"w1"}, idle_call(), [&](const protocol::SyncReply& said) { reply = said; }));
  settle();
  engine().refuse_jobs();
  EXPECT_FALSE(engine().submit(submission("late")));
  bool asked = false;
  ASSERT_TRUE(engine().submit(JobStopRequested{{99}}, [&](std::span<const Notice>) { asked = true; }));
  bool stopped = false;
  engine().stop([&] { stopped = true; });
  EXPECT_FALSE(engine().submit(TimePassed{}));
  ASSERT_TRUE(loop_until(loop_, [&] { return stopped; }));
  EXPECT_TRUE(asked);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->desired, "idle");
}

TEST_F(EngineTest, AnEngineRestoredFromTheRowsEqualsTheOneBefore) {
  const JobId id = job("first");
  const protocol::SyncReply order = answer({"w1"}, idle_call());
  answer({"w1"}, reporting_call(order.order->epoch, 1, "completed"));
  const Snapshot before = engine().scheduler().rows();
  engine_.reset();

  Engine restored(loop_, {}, world());
  restored.restore(store_.load(), {{id, small_job("first")}});
  const Snapshot after = restored.scheduler().rows();
  EXPECT_EQ(after.jobs, before.jobs);
  EXPECT_EQ(after.trials, before.trials);
  EXPECT_EQ(after.decisions, before.decisions);
}

TEST(EngineCommitDeathTest, AFailedCommitEndsTheProcessWithAStatusOfItsOwn) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto fail = [] {
    boost::asio::io_context loop;
    EngineWorld world;
    world.commit = [](std::span<const Write>) { throw std::runtime_error("disk full"); };
    world.trial_dir = [](TrialId) { return std::string(); };
    Engine engine(loop, {}, std::move(world));
    (void)engine.submit(submission("first"));
    loop_until(loop, [] { return false; });
  };
  EXPECT_EXIT(fail(), testing::ExitedWithCode(kExitCommitFailed), "disk full");
}

TEST(MonotonicClock, GoesOnAtTheWallClocksPaceWhenThatFallsBack) {
  std::int64_t wall_ms = 1000;
  MonotonicClock clock([&] { return Timestamp{wall_ms}; });
  EXPECT_EQ(clock.now().ms, 1000);
  wall_ms = 400;
  EXPECT_EQ(clock.now().ms, 1000);
  wall_ms = 450;
  EXPECT_EQ(clock.now().ms, 1050);
}

TEST(MonotonicClock, StartsNoEarlierThanTheRows) {
  std::int64_t wall_ms = 1000;
  MonotonicClock clock([&] { return Timestamp{wall_ms}; });
  clock.not_before({5000});
  EXPECT_EQ(clock.now().ms, 5000);
  wall_ms = 1007;
  EXPECT_EQ(clock.now().ms, 5007);
}

}  // namespace
}  // namespace tuneband::server

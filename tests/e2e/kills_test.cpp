// kill -9 of the server and of its workers at random moments, again and again, and workers that are stopped until they are
// thought lost, and then wake up: the job comes to the same table of trials as without, and at most one segment of a trial is
// trained again for each worker that was killed or stopped.
//
//   TUNEBAND_KILLS=100 TUNEBAND_KILL_TRIALS=200 TUNEBAND_KILL_SEED=3   more of it; scripts/kill-everything sets these
//
// Only processes that this program started, and the workers of those, are killed and stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "core/random.hpp"
#include "core/text.hpp"
#include "tests/e2e/job_outcome.hpp"
#include "tests/e2e/running_server.hpp"
#include "tests/temporary_directory.hpp"
#include "tests/text_files.hpp"

namespace tuneband::test {
namespace {

constexpr int kWorkersToKill = 2;
constexpr std::int64_t kMaxResource = 27;
constexpr std::int64_t kLongestSegment = 18;  // from 9 to 27
constexpr int kLeaseSeconds = 3;
constexpr int kLookEveryMs = 100;
constexpr std::uint64_t kKillDelayMsMax = 40;  // after the event that a kill waits for

class KillsTest : public testing::Test {
 protected:
  struct Kills {
    int servers = 0;
    int workers = 0;
    int stops = 0;  // of workers
  };

  struct Stopped {
    pid_t pid = 0;
    std::chrono::steady_clock::time_point since;
  };

  std::uint64_t random(std::uint64_t below) { return random_bits(seed_, {++drawn_}) % below; }

  Json job(const std::string& name) const {
    return {{"name", name},
            {"objective", {{"metric", "loss"}, {"goal", "minimize"}}},
            {"search_space", {{"n", {{"type", "int"}, {"min", 0}, {"max", 1'000'000}}}}},
            {"sampler", {{"type", "random"}, {"seed", 5}}},
            {"scheduler", {{"type", "hyperband"}, {"max_resource", kMaxResource}}},
            {"limits", {{"max_trials", trials_}, {"max_attempts", 100}}}};
  }

  // A unit takes some milliseconds, of a process that the command has started: it has to go with its worker too. Every unit that
  // is trained leaves a line in `units`, also one that nobody hears of.
  Json command_job() {
    const std::string path =
        directory_.write_script("train.sh",
                                "i=$TUNEBAND_FROM_RESOURCE\n"
                                "( while [ $i -lt $TUNEBAND_UNTIL_RESOURCE ]; do\n"
                                "  sleep 0.005\n"
                                "  i=$((i + 1))\n"
                                "  echo $TUNEBAND_TRIAL $i >> \"$1\"\n"
                                "  echo $i > \"$TUNEBAND_CHECKPOINT_DIR/done\"\n"
                                "  echo \"{\\\"resource\\\": $i, \\\"loss\\\": $(($2 % 1000 * 1000 + 100000 / i))}\"\n"
                                "done )\n"
                                ":\n");
    Json document = job("commands");
    document["trainer"] = {
        {"type", "command"}, {"argv", {path, units_file(), "{n}"}}, {"resume", "checkpoint"}, {"grace_seconds", 1}};
    return document;
  }

  Json xgboost_job() {
    const std::string path = directory_ / "table.csv";
    std::ofstream file(path);
    file << "a,b,c,label\n";
    for (std::uint64_t row = 0; row < 2000; ++row) {
      double sum = 0;
      for (std::uint64_t column = 0; column < 3; ++column) {
        const double value = random_unit(11, {row, column});
        sum += value * static_cast<double>(column + 1);
        file << format_number(value) << ',';
      }
      file << (sum + 2 * random_unit(11, {row, 99}) > 4 ? 1 : 0) << '\n';
    }
    Json document = job("xgboost");
    document["objective"] = {{"metric", "validation-logloss"}, {"goal", "minimize"}};
    document["search_space"] = {{"eta", {{"type", "float"}, {"min", 0.01}, {"max", 1}, {"scale", "log"}}},
                                {"max_depth", {{"type", "int"}, {"min", 2}, {"max", 8}}},
                                {"subsample", {{"type", "float"}, {"min", 0.5}, {"max", 1}}}};
    document["trainer"] = {{"type", "xgboost"},
                           {"parameters", {{"objective", "binary:logistic"}}},
                           {"eval_metric", {"logloss"}},
                           {"data", {{"train", path}, {"label", "label"}, {"validation", {{"fraction", 0.3}, {"seed", 1}}}}}};
    return document;
  }

  std::string units_file() const { return directory_ / "units"; }
  std::int64_t units_trained() const { return std::ranges::count(read_text(units_file()), '\n'); }

  std::unique_ptr<RunningServer> start(const std::string& name) {
    return std::make_unique<RunningServer>(directory_ / name, kWorkersToKill,
                                           std::vector<std::string>{"--lease-seconds", std::to_string(kLeaseSeconds)});
  }

  void kill_worker(RunningServer& server, int index, Kills& kills) {
    const std::int64_t pid = server.worker_pid(index);
    if (pid > 0 && ::kill(static_cast<pid_t>(pid), SIGKILL) == 0) ++kills.workers;
  }

  // One at a time: the other goes on with the job.
  void stop_worker(RunningServer& server, int index, Kills& kills) {
    const std::int64_t pid = server.worker_pid(index);
    if (stopped_ || pid <= 0 || ::kill(static_cast<pid_t>(pid), SIGSTOP) != 0) return;
    stopped_ = Stopped{static_cast<pid_t>(pid), std::chrono::steady_clock::now()};
    ++kills.stops;
  }

  // Once its lease is over. The server may have given it up and ended it.
  void wake_up_late() {
    if (!stopped_ || std::chrono::steady_clock::now() - stopped_->since < std::chrono::seconds(kLeaseSeconds + 1)) return;
    ::kill(stopped_->pid, SIGCONT);
    stopped_.reset();
  }

  void kill_something(std::unique_ptr<RunningServer>& server, Kills& kills) {
    wake_up_late();
    const std::uint64_t what = random(6);
    if (what == 1) return stop_worker(*server, static_cast<int>(random(kWorkersToKill)), kills);
    if (what == 0 || what == 5) return kill_worker(*server, static_cast<int>(random(kWorkersToKill)), kills);
    if (what == 4) {
      for (int index = 0; index < kWorkersToKill; ++index) kill_worker(*server, index, kills);
    }
    server->kill();
    ++kills.servers;
    server = start("disturbed");
  }

  // Kills spread over the job, each after an event and a random while.
  Kills disturb(std::unique_ptr<RunningServer>& server, const std::string& id, std::int64_t resource) {
    Kills kills;
    for (std::uint64_t i = 0; i < kills_; ++i) {
      const std::int64_t at = resource * static_cast<std::int64_t>(i) / static_cast<std::int64_t>(kills_ + 1);
      if (!follow_until_spent(*server, id, at)) break;
      ::poll(nullptr, 0, static_cast<int>(random(kKillDelayMsMax)));
      kill_something(server, kills);
    }
    // The last one sleeps for as long as there is work for the others.
    while (stopped_ && server->get("/v1/jobs/" + id).at("state") == "running") {
      ::poll(nullptr, 0, kLookEveryMs);
      wake_up_late();
    }
    if (stopped_) ::kill(stopped_->pid, SIGCONT);
    stopped_.reset();
    return kills;
  }

  struct Run {
    std::vector<std::string> trials;
    std::vector<std::string> decisions;
    std::int64_t resource = 0;
    Kills kills;
  };

  static Run finish(RunningServer& server, const std::string& id) {
    Run run;
    const Json ended = server.wait_for_end(id);
    EXPECT_EQ(ended.at("state"), "completed") << ended;
    run.trials = outcome(server, id);
    run.decisions = verdicts(server, id, run.trials.size());
    run.resource = ended.at("resource_spent").get<std::int64_t>();
    return run;
  }

  Run run_undisturbed(const Json& document) {
    const auto server = start("undisturbed");
    return finish(*server, submit(*server, document));
  }

  Run run_disturbed(const Json& document, std::int64_t resource) {
    auto server = start("disturbed");
    const std::string id = submit(*server, document);
    const Kills kills = disturb(server, id, resource);
    Run run = finish(*server, id);
    run.kills = kills;
    return run;
  }

  // `repeated`: units of resource that were trained more than once.
  void expect_same(const Run& undisturbed, const Run& disturbed, std::int64_t repeated) {
    EXPECT_THAT(disturbed.trials, testing::ElementsAreArray(undisturbed.trials)) << "seed " << seed_;
    EXPECT_THAT(disturbed.decisions, testing::ElementsAreArray(undisturbed.decisions)) << "seed " << seed_;
    const Kills& kills = disturbed.kills;
    EXPECT_LE(repeated, (kills.workers + kills.stops) * kLongestSegment) << "seed " << seed_;
    std::printf(
        "%zu trials, %d kills of the server and %d of workers, %d stops: the same table; %lld of %lld units trained again\n",
        undisturbed.trials.size(), kills.servers, kills.workers, kills.stops, static_cast<long long>(repeated),
        static_cast<long long>(undisturbed.resource));
  }

  TemporaryDirectory directory_;
  std::uint64_t kills_ = setting("TUNEBAND_KILLS", 6);
  std::uint64_t trials_ = setting("TUNEBAND_KILL_TRIALS", 40);
  std::uint64_t seed_ = setting("TUNEBAND_KILL_SEED", 1);
  std::uint64_t drawn_ = 0;
  std::optional<Stopped> stopped_;
};

TEST_F(KillsTest, CommandsComeToTheSameTableWhoeverIsKilled) {
  const Json document = command_job();
  const Run undisturbed = run_undisturbed(document);
  const std::int64_t trained = units_trained();
  EXPECT_EQ(trained, undisturbed.resource);
  const Run disturbed = run_disturbed(document, undisturbed.resource);
  expect_same(undisturbed, disturbed, units_trained() - 2 * trained);
}

TEST_F(KillsTest, XgboostComesToTheSameTableWhoeverIsKilled) {
  const Json document = xgboost_job();
  const Run undisturbed = run_undisturbed(document);
  const Run disturbed = run_disturbed(document, undisturbed.resource);
  expect_same(undisturbed, disturbed, disturbed.resource - undisturbed.resource);
}

// It wakes up when its trial is over, with a training in memory that has come half as far.
TEST_F(KillsTest, AWorkerThatWakesUpAfterItsLeaseLeavesTheModelThatTheOtherCompleted) {
  Json document = xgboost_job();
  document["scheduler"] = {{"type", "none"}, {"max_resource", 1500}};
  document["limits"] = {{"max_trials", 1}};
  document["trainer"]["checkpoint_interval_seconds"] = 0.05;
  RunningServer server(directory_ / "late", kWorkersToKill, {"--lease-seconds", "1"});
  const std::string id = submit(server, document);
  ASSERT_TRUE(follow_until_spent(server, id, 100));
  pid_t late = 0;
  const Json workers = server.get("/v1/workers");
  for (int index = 0; index < kWorkersToKill; ++index) {
    for (const Json& worker : workers.at("workers")) {
      if (worker.at("name") == "local-" + std::to_string(index) && worker.at("state") == "executing")
        late = static_cast<pid_t>(server.worker_pid(index));
    }
  }
  ASSERT_GT(late, 0) << workers;
  ::kill(late, SIGSTOP);
  const Json ended = server.wait_for_end(id);
  EXPECT_EQ(ended.at("state"), "completed") << ended;
  const auto model = [&] { return server.raw("GET", "/v1/jobs/" + id + "/trials/0/model", "").body; };
  const std::string completed = model();
  EXPECT_FALSE(completed.empty());
  ::kill(late, SIGCONT);
  server.send(SIGTERM);  // the workers end what they are at first
  EXPECT_EQ(server.wait(), 0);
  EXPECT_TRUE(read_text(directory_ / "late/jobs/" + id + "/trials/0/model.ubj") == completed);
  EXPECT_TRUE(std::filesystem::is_symlink(directory_ / "late/jobs/" + id + "/trials/0/checkpoint"));
}

}  // namespace
}  // namespace tuneband::test

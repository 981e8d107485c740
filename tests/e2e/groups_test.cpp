// Distributed trials on real processes: groups of workers that train together, and what becomes of them when ranks are killed,
// stopped (SIGSTOP) or cut off.
//
//   TUNEBAND_GROUP_KILLS=200 TUNEBAND_GROUP_TRIALS=120 TUNEBAND_GROUP_SEED=3   more of it; scripts/kill-groups sets these
//
// Only processes that this program started, and the workers of those, are killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include "core/random.hpp"
#include "core/text.hpp"
#include "os/child_process.hpp"
#include "tests/e2e/job_outcome.hpp"
#include "tests/e2e/running_server.hpp"
#include "tests/temporary_directory.hpp"

namespace tuneband::test {
namespace {

constexpr int kWorkers = 4;
constexpr std::uint64_t kDelayMsMax = 60;  // after the event that a kill waits for: any stage of a segment may be under way

class GroupsTest : public testing::Test {
 protected:
  std::uint64_t random(std::uint64_t below) { return random_bits(seed_, {++drawn_}) % below; }

  std::string table() {
    const std::string path = directory_ / "table.csv";
    std::ofstream file(path);
    file << "a,b,c,label\n";
    for (std::uint64_t row = 0; row < 4000; ++row) {
      const double a = random_unit(11, {row, 0});
      const double b = random_unit(11, {row, 1});
      const double noise = random_unit(11, {row, 2});
      file << format_number(a) << ',' << format_number(b) << ',' << format_number(noise) << ',' << (a + b + noise > 1.5 ? 1 : 0)
           << '\n';
    }
    return path;
  }

  Json xgboost_job(const std::string& name, const Json& replicas) {
    return {{"name", name},
            {"objective", {{"metric", "validation-logloss"}, {"goal", "minimize"}}},
            {"search_space",
             {{"eta", {{"type", "float"}, {"min", 0.01}, {"max", 1}, {"scale", "log"}}},
              {"subsample", {{"type", "float"}, {"min", 0.5}, {"max", 1}}}}},
            {"sampler", {{"type", "random"}, {"seed", 5}}},
            {"scheduler", {{"type", "hyperband"}, {"max_resource", 27}}},
            {"limits", {{"max_trials", trials_}, {"max_attempts", 100}}},
            {"trainer",
             {{"type", "xgboost"},
              {"replicas", replicas},
              {"parameters", {{"objective", "binary:logistic"}, {"max_depth", 4}}},
              {"eval_metric", {"logloss"}},
              {"data", {{"train", table()}, {"label", "label"}, {"validation", {{"fraction", 0.3}, {"seed", 1}}}}}}}};
  }

  // `script` is a shell's.
  Json command_job(const std::string& name, int replicas, const std::string& script) {
    const std::string path = directory_.write_script(name + ".sh", script);
    return {{"name", name},
            {"objective", {{"metric", "loss"}, {"goal", "minimize"}}},
            {"search_space", {{"x", {{"type", "float"}, {"min", 0}, {"max", 1}}}}},
            {"sampler", {{"type", "random"}, {"seed", 5}}},
            {"scheduler", {{"type", "none"}, {"max_resource", 1}}},
            {"limits", {{"max_trials", 2}}},
            {"trainer", {{"type", "command"}, {"replicas", replicas}, {"argv", {path}}, {"grace_seconds", 1}}}};
  }

  std::unique_ptr<RunningServer> start(const std::string& name, int workers = kWorkers,
                                       const std::vector<std::string>& more_arguments = {}) {
    return std::make_unique<RunningServer>(directory_ / name, workers, more_arguments);
  }

  // A kill, or a stop that lasts: the worker is given up when its lease is over.
  void strike(RunningServer& server) {
    const auto pid = static_cast<pid_t>(server.worker_pid(static_cast<int>(random(kWorkers))));
    if (pid <= 0) return;
    const bool stop = random(8) == 0;
    if (::kill(pid, stop ? SIGSTOP : SIGKILL) == 0 && stop) stopped_.push_back(pid);
  }

  void strike_again_and_again(RunningServer& server, const std::string& id, std::int64_t resource) {
    for (std::uint64_t i = 0; i < kills_; ++i) {
      const std::int64_t at = resource * static_cast<std::int64_t>(i) / static_cast<std::int64_t>(kills_ + 1);
      if (!follow_until_spent(server, id, at)) break;
      ::poll(nullptr, 0, static_cast<int>(random(kDelayMsMax)));
      strike(server);
    }
  }

  void TearDown() override {
    for (const pid_t pid : stopped_) ::kill(pid, SIGKILL);
    for (const pid_t pid : started_) os::reap(P_PID, static_cast<id_t>(pid));
  }

  TemporaryDirectory directory_;
  std::uint64_t kills_ = setting("TUNEBAND_GROUP_KILLS", 5);
  std::uint64_t trials_ = setting("TUNEBAND_GROUP_TRIALS", 12);
  std::uint64_t seed_ = setting("TUNEBAND_GROUP_SEED", 1);
  std::uint64_t drawn_ = 0;
  std::vector<pid_t> stopped_;
  std::vector<pid_t> started_;  // by the test itself
};

TEST_F(GroupsTest, ThreeWorkersTrainEveryTrialTogether) {
  const auto server = start("data");
  const std::string id = submit(*server, xgboost_job("together", 3));
  const Json job = server->wait_for_end(id);
  EXPECT_EQ(job.at("state"), "completed") << job;
  const Json analytics = server->get("/v1/jobs/" + id + "/analytics");
  std::set<double> values;
  for (const Json& trial : analytics.at("trials")) {
    EXPECT_EQ(trial.at("replicas"), 3);
    EXPECT_EQ(trial.at("attempts"), 1);
    values.insert(trial.at("objective").get<double>());
  }
  EXPECT_EQ(values.size(), trials_) << "each trial is measured by its own model";
  EXPECT_EQ(analytics.at("replicas").at("totals").size(), 1u);
}

TEST_F(GroupsTest, TwoJobsOfGroupsAndOneOfSingleWorkersShareTheWorkers) {
  const auto server = start("data", 3);
  const std::string wide = submit(*server, xgboost_job("wide", 3));
  const std::string pairs = submit(*server, xgboost_job("pairs", 2));
  const std::string narrow = submit(*server, xgboost_job("narrow", 1));
  for (const std::string& id : {wide, pairs, narrow}) EXPECT_EQ(server->wait_for_end(id).at("state"), "completed");
}

TEST_F(GroupsTest, TheNumberOfReplicasIsTunedAndCompared) {
  trials_ = 8;
  const auto server = start("data", 3);
  Json document = xgboost_job("sizes", {1, 2, 3});
  document["scheduler"] = {{"type", "none"}, {"max_resource", 5}};
  const std::string id = submit(*server, document);
  EXPECT_EQ(server->wait_for_end(id).at("state"), "completed");
  const Json analytics = server->get("/v1/jobs/" + id + "/analytics");
  for (const Json& trial : analytics.at("trials")) EXPECT_EQ(trial.at("replicas"), trial.at("parameters").at("replicas"));
  EXPECT_GT(analytics.at("replicas").at("totals").size(), 1u);
  EXPECT_FALSE(analytics.at("replicas").at("non_dominated_by_worker_seconds").empty());
}

TEST_F(GroupsTest, TheRanksOfACommandFindEachOtherAndRankZeroIsHeard) {
  const auto server = start("data", 3);
  const std::string id = submit(*server, command_job("ranks", 3,
                                                     "[ -n \"$MASTER_ADDR\" ] && [ \"$MASTER_PORT\" -gt 0 ] || exit 9\n"
                                                     "[ \"$WORLD_SIZE\" = 3 ] && [ \"$LOCAL_RANK\" -ge 0 ] || exit 8\n"
                                                     "echo \"{\\\"resource\\\": 1, \\\"loss\\\": $RANK}\"\n"));
  const Json job = server->wait_for_end(id);
  EXPECT_EQ(job.at("state"), "completed") << job;
  EXPECT_EQ(job.at("best").at("value"), 0);
}

TEST_F(GroupsTest, OneRanksFailureEndsTheOthers) {
  const auto server = start("data", 3);
  Json document = command_job("fails", 3, "[ \"$RANK\" = 1 ] && exit 7\nexec sleep 1000\n");
  document["limits"] = {{"max_trials", 1}, {"max_attempts", 1}};
  const std::string id = submit(*server, document);
  EXPECT_EQ(server->wait_for_end(id).at("state"), "failed");
  const Json trial = server->get("/v1/jobs/" + id + "/trials").at("trials").at(0);
  EXPECT_EQ(trial.at("exit_class"), "crashed");
  EXPECT_THAT(trial.at("message").get<std::string>(), testing::StartsWith("rank 1: "));
  // All three are free again: the next job of three needs them.
  const std::string next = submit(*server, command_job("next", 3, "echo '{\"resource\": 1, \"loss\": 1}'\n"));
  EXPECT_EQ(server->wait_for_end(next).at("state"), "completed");
}

// Each worker's data is in the directory in which it was started.
TEST_F(GroupsTest, AWorkerThatDoesNotSeeTheDataGivesItsTrialsToOthersAtNoCharge) {
  const auto server = start("data", 0);
  const auto start_in = [&](const std::string& name) {
    std::filesystem::create_directories(directory_ / name);
    const std::string command = "cd '" + (directory_ / name) +
                                "' && exec " TUNEBAND_BIN_DIR "/tuneband-worker --no-guardian --name " + name + " --server " +
                                server->url() + " >log 2>&1";
    const Result<pid_t> worker = os::spawn({.program = "/bin/sh", .arguments = {"-c", command}});
    ASSERT_TRUE(worker);
    stopped_.push_back(*worker);
    started_.push_back(*worker);
  };
  start_in("sees");
  start_in("blind");
  Json document = xgboost_job("job", 2);
  std::filesystem::rename(table(), directory_ / "sees/table.csv");
  document["trainer"]["data"]["train"] = "/proc/self/cwd/table.csv";
  document["limits"] = {{"max_trials", 3}, {"max_attempts", 1}};
  const std::string id = server->post("/v1/jobs?preflight=off", document.dump()).at("job").at("id").dump();
  std::string reason;
  const auto is_given_back = [&](const ServerEvent& event) {
    reason = event.data.value("message", "");
    return event.data.value("kind", "") == "trial_given_back";
  };
  EXPECT_TRUE(server->stream("/v1/events/stream?after=0", is_given_back));
  EXPECT_THAT(reason, testing::HasSubstr("/proc/self/cwd/table.csv"));
  EXPECT_EQ(server->get("/v1/jobs/" + id).at("waiting"), Json({{"data that a worker cannot read", 1}}));
  std::filesystem::create_directories(directory_ / "sees-too");
  std::filesystem::copy_file(directory_ / "sees/table.csv", directory_ / "sees-too/table.csv");
  start_in("sees-too");
  EXPECT_EQ(server->wait_for_end(id).at("state"), "completed");
  EXPECT_EQ(server->get("/v1/jobs/" + id).at("trials").at("failed"), 0);
}

TEST_F(GroupsTest, ARankThatHangsOnceTheMetricRankIsDoneIsToldToEndAndTheValueCounts) {
  const auto server = start("data", 3);
  Json document = command_job("hangs", 3,
                              "case $RANK in\n"
                              "  0) echo '{\"resource\": 1, \"loss\": 0.5}' ;;\n"
                              "  1) trap '' TERM; while :; do sleep 1; done ;;\n"
                              "  2) while ! grep -q loss \"$TUNEBAND_TRIAL_DIR/log.txt\"; do sleep 0.1; done\n"
                              "     echo shard > \"$TUNEBAND_CHECKPOINT_DIR/2\" ;;\n"
                              "esac\n");
  document["trainer"]["grace_seconds"] = 2;
  document["limits"] = {{"max_trials", 1}, {"max_attempts", 1}};
  const std::string id = submit(*server, document);
  const Json job = server->wait_for_end(id);
  EXPECT_EQ(job.at("state"), "completed") << job;
  EXPECT_EQ(job.at("best").at("value"), 0.5);
  const Json trial = server->get("/v1/jobs/" + id + "/trials").at("trials").at(0);
  EXPECT_THAT(trial.at("message").get<std::string>(), testing::StartsWith("rank 1: it was still at work 10 s"));
  const std::string shard = directory_ / ("data/jobs/" + id + "/trials/0/checkpoint/2");
  EXPECT_TRUE(std::filesystem::exists(shard)) << "rank 2 had the time to save";
}

TEST_F(GroupsTest, AGroupJobComesToTheSameTableWhicheverRanksAreKilledOrStopped) {
  std::vector<std::string> undisturbed;
  std::int64_t resource = 0;
  const Json document = xgboost_job("kills", 3);
  {
    const auto server = start("undisturbed");
    const std::string id = submit(*server, document);
    resource = server->wait_for_end(id).at("resource_spent").get<std::int64_t>();
    undisturbed = outcome(*server, id);
  }
  const auto server = start("disturbed", kWorkers, {"--lease-seconds", "3"});
  const std::string id = submit(*server, document);
  strike_again_and_again(*server, id, resource);
  const Json job = server->wait_for_end(id);
  EXPECT_EQ(job.at("state"), "completed") << job;
  EXPECT_THAT(outcome(*server, id), testing::ElementsAreArray(undisturbed)) << "seed " << seed_;
  std::printf("%zu trials of 3 ranks, %llu kills or stops: the same table; %lld rounds trained for %lld\n", undisturbed.size(),
              static_cast<unsigned long long>(kills_), static_cast<long long>(job.at("resource_spent").get<std::int64_t>()),
              static_cast<long long>(resource));
}

}  // namespace
}  // namespace tuneband::test

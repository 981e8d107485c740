// A training that the kernel kills because memory ran out: the trial's own fault, whoever started its worker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "core/random.hpp"
#include "core/text.hpp"
#include "os/child_process.hpp"
#include "tests/e2e/job_outcome.hpp"
#include "tests/e2e/running_server.hpp"
#include "tests/os/limited_group.hpp"
#include "tests/temporary_directory.hpp"

namespace tuneband::test {
namespace {

constexpr int kRows = 20'000;
constexpr int kManyClasses = 300;  // margins and gradients of 20,000 rows take more than 70 MB

class KilledForMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (!group_.made()) GTEST_SKIP() << "no memory control group can be made here: that takes root, and /sys/fs/cgroup writable";
    std::ofstream table(directory_ / "table.csv");
    table << "a,b,label\n";
    for (std::uint64_t row = 0; row < kRows; ++row) {
      table << format_number(random_unit(3, {row, 0})) << ',' << format_number(random_unit(3, {row, 1})) << ','
            << (row % kManyClasses) << '\n';
    }
  }

  Json job(const std::string& name, const std::string& metric, const Json& parameters) {
    return {{"name", name},
            {"objective", {{"metric", "train-" + metric}, {"goal", "minimize"}}},
            {"search_space", {{"eta", 0.5}}},
            {"scheduler", {{"type", "none"}, {"max_resource", 2}}},
            {"limits", {{"max_trials", 1}, {"max_attempts", 3}}},
            {"trainer",
             {{"type", "xgboost"},
              {"parameters", parameters},
              {"eval_metric", {metric}},
              {"eval_train", true},
              {"data", {{"train", directory_ / "table.csv"}, {"label", "label"}}}}}};
  }

  void train_what_fits(RunningServer& server, const std::string& name) {
    const std::string id = submit(server, job(name, "rmse", {{"objective", "reg:squarederror"}, {"max_depth", 1}}));
    EXPECT_EQ(server.wait_for_end(id).at("state"), "completed");
  }

  // The one worker trains what fits: with what it says of that its group is known. Then it is killed in the group, says so, and
  // the next one trains what fits.
  void train_what_does_not_fit_and_what_does(RunningServer& server) {
    train_what_fits(server, "before");
    const std::string id = submit(
        server, job("large", "mlogloss", {{"objective", "multi:softprob"}, {"num_class", kManyClasses}, {"max_depth", 1}}));
    const Json ended = server.wait_for_end(id);
    EXPECT_EQ(ended.at("state"), "failed");
    const Json trial = server.get("/v1/jobs/" + id + "/trials/0");
    EXPECT_EQ(trial.at("exit_class"), "out_of_memory") << trial;
    EXPECT_EQ(trial.at("attempts"), 1);
    EXPECT_THAT(trial.at("message").get<std::string>(),
                testing::MatchesRegex("the kernel killed the worker process .* because memory ran out" TUNEBAND_TOLD_PEAK
                                      "; its control group had [0-9]+ MB at its peak, and may have 60 MB.*"));
    train_what_fits(server, "after");
  }

  TemporaryDirectory directory_;
  LimitedGroup group_{std::int64_t{60} << 20};
};

TEST_F(KilledForMemory, AWorkerOfTheServersOwn) {
  RunningServer server(directory_ / "data", 1);
  while (server.get("/v1/workers").at("workers").empty()) std::this_thread::yield();
  ASSERT_TRUE(group_.take(server.worker_pid(0)));
  train_what_does_not_fit_and_what_does(server);
}

TEST_F(KilledForMemory, AWorkerThatAUserStarted) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a worker with a sanitizer has more than the group's memory before it does anything";
#endif
  RunningServer server(directory_ / "data", 0);
  ASSERT_EQ(::mkfifo((directory_ / "fifo").c_str(), 0600), 0);
  os::ChildCommand shell{.program = "/bin/sh"};
  shell.arguments = {"-c", "read line < " + (directory_ / "fifo") +
                               "; exec " TUNEBAND_BIN_DIR "/tuneband-worker --name elsewhere --server " + server.url()};
  const Result<pid_t> worker = os::spawn(shell);
  ASSERT_TRUE(worker);
  ASSERT_TRUE(group_.take(*worker));  // and all that it starts
  std::ofstream(directory_ / "fifo") << '\n';
  train_what_does_not_fit_and_what_does(server);
  ::kill(*worker, SIGTERM);
  const auto end = os::reap(P_PID, static_cast<id_t>(*worker));
  ASSERT_TRUE(end);
  EXPECT_EQ(os::describe_exit(end->how), "ended with status 0");
}

}  // namespace
}  // namespace tuneband::test

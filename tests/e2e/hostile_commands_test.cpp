// Commands that misbehave, on real workers: they eat memory, print without end, fork and ignore SIGTERM, print what is no number.
// Their trials fail with a class and a sentence; the job goes on, and nothing is left behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "tests/e2e/job_outcome.hpp"
#include "tests/e2e/running_server.hpp"
#include "tests/temporary_directory.hpp"

namespace tuneband::test {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLogBytesMax = 65 * 1024 * 1024;  // the limit of a trial's log, and the line that says so

class HostileCommandsTest : public testing::Test {
 protected:
  // What is not to be ended by its time has more of it than a busy machine takes.
  Json job(const std::string& script, int trials = 5, int timeout_seconds = 120) {
    const std::string name = "hostile-" + std::to_string(trials);
    const std::string path = directory_.write_script(name + ".sh", script, "/bin/bash");
    return {{"name", name},
            {"objective", {{"metric", "loss"}, {"goal", "minimize"}}},
            {"search_space", {{"x", {{"type", "float"}, {"min", 0}, {"max", 1}}}}},
            {"scheduler", {{"type", "none"}, {"max_resource", 1}}},
            {"limits", {{"max_trials", trials}, {"max_attempts", 1}}},
            {"trainer",
             {{"type", "command"},
              {"argv", {path, directory_ / "pids"}},
              {"grace_seconds", 0.2},
              {"timeout_seconds", timeout_seconds},
              {"memory_mb", 200}}}};
  }

  TemporaryDirectory directory_;
};

TEST_F(HostileCommandsTest, TheirTrialsFailWithAReasonAndTheOthersComplete) {
  RunningServer server(directory_ / "data", 2);
  const std::string id = submit(server, job(R"(
case $TUNEBAND_TRIAL in
  0) x=$(head -c 400000000 /dev/zero | tr '\0' x); echo "{\"loss\": ${#x}}" ;;
  1) yes 'no metric, only noise' | head -c 80000000; echo; echo '{"loss": 0.5}' ;;
  2) printf '{"loss": 1e999}\n{"loss": }\n\xff\xfe{"loss"\n{"loss": "twelve"}\n' ;;
  *) echo '{"loss": 0.25}' ;;
esac
)"));
  const Json ended = server.wait_for_end(id);
  EXPECT_EQ(ended.at("state"), "completed") << ended;
  const auto trial = [&](int number) { return server.get("/v1/jobs/" + id + "/trials/" + std::to_string(number)); };
  EXPECT_EQ(trial(0).at("state"), "failed");
  EXPECT_THAT(trial(0).at("exit_class"), testing::AnyOf("out_of_memory", "crashed"));
  EXPECT_EQ(trial(1).at("state"), "completed");
  EXPECT_EQ(trial(2).at("exit_class"), "no_metric");
  for (const int number : {0, 2}) {
    EXPECT_FALSE(trial(number).at("message").get<std::string>().empty()) << number;
    EXPECT_FALSE(trial(number).at("advice").get<std::string>().empty()) << number;
  }
  for (const int number : {3, 4}) EXPECT_EQ(trial(number).at("objective"), 0.25) << number;

  const std::string log = directory_ / "data/jobs/" + id + "/trials/1/log.txt";
  EXPECT_LE(fs::file_size(log), kLogBytesMax);
  EXPECT_THAT(server.raw("GET", "/v1/jobs/" + id + "/trials/1/log?tail=300", "").body,
              testing::HasSubstr("has reached its limit"));
}

TEST_F(HostileCommandsTest, WhatOneThatIgnoresSigtermHasStartedEndsWithItsTime) {
  RunningServer server(directory_ / "data", 1);
  const std::string id = submit(server, job(R"(
trap '' TERM; (trap '' TERM; setsid sleep 1000 & echo $! >> "$1"; wait) & echo $$ >> "$1"; wait; sleep 1000
)",
                                            1, 5));
  server.wait_for_end(id);
  const Json trial = server.get("/v1/jobs/" + id + "/trials/0");
  EXPECT_EQ(trial.at("exit_class"), "timed_out");
  EXPECT_FALSE(trial.at("message").get<std::string>().empty());
  EXPECT_FALSE(trial.at("advice").get<std::string>().empty());

  std::ifstream pids(directory_ / "pids");
  int count = 0;
  for (pid_t pid = 0; pids >> pid; ++count) {
    EXPECT_EQ(::kill(pid, 0), -1) << "process " << pid << " is left behind";
    EXPECT_EQ(errno, ESRCH);
  }
  EXPECT_EQ(count, 2);
}

}  // namespace
}  // namespace tuneband::test

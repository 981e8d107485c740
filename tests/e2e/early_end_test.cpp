// A full training that will not become the best is ended on its way: a command that would never end by itself tells it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/e2e/job_outcome.hpp"
#include "tests/e2e/running_server.hpp"
#include "tests/temporary_directory.hpp"

namespace tuneband::test {
namespace {

constexpr int kMost = 32;
constexpr int kGood = 5;  // trials, after which another one can be judged
constexpr int kWaits = 3;

class EarlyEndTest : public testing::Test {
 protected:
  // Those of x 0 train to the end at once. That of x 1 is far behind from the start; it waits once for a word of the test's, and
  // comes no further than three quarters of its way.
  Json job() const {
    ::mkfifo((directory_ / "word").c_str(), 0600);
    const std::string path =
        directory_.write_script("train.sh",
                                "i=0\n"
                                "while [ $i -lt $TUNEBAND_UNTIL_RESOURCE ]; do\n"
                                "  if [ $2 = 1 ] && [ $i = " +
                                    std::to_string(kWaits) +
                                    " ]; then read word < \"$1\"; fi\n"
                                    "  if [ $2 = 1 ] && [ $i = 24 ]; then sleep 1000; fi\n"
                                    "  i=$((i + 1))\n"
                                    "  echo \"{\\\"resource\\\": $i, \\\"loss\\\": $(($2 * 1000 + 100 - i))}\"\n"
                                    "done\n");
    Json enqueued = Json::array();
    for (int trial = 0; trial < kGood + 2; ++trial) enqueued.push_back({{"x", trial == kGood ? 1 : 0}});
    return {{"name", "early"},
            {"objective", {{"metric", "loss"}, {"goal", "minimize"}}},
            {"search_space", {{"x", {{"type", "int"}, {"min", 0}, {"max", 1}}}}},
            {"enqueue", enqueued},
            {"scheduler", {{"type", "none"}, {"max_resource", kMost}, {"early_end", true}}},
            {"limits", {{"max_trials", kGood + 2}}},
            {"trainer", {{"type", "command"}, {"argv", {path, directory_ / "word", "{x}"}}, {"grace_seconds", 1}}}};
  }

  void wait_until_it_waits(RunningServer& server, const std::string& job) {
    ASSERT_TRUE(follow_until_spent(server, job, kGood * kMost + kWaits));
  }

  void let_it_go_on() { std::ofstream(directory_ / "word") << "on\n"; }

  static void expect_ended_early(RunningServer& server, const std::string& job) {
    const Json ended = server.wait_for_end(job);
    EXPECT_EQ(ended.at("state"), "completed") << ended;
    EXPECT_EQ(ended.at("trials").at("completed"), kGood + 1);
    EXPECT_EQ(ended.at("trials").at("stopped"), 1);
    const std::string trial = "/v1/jobs/" + job + "/trials/" + std::to_string(kGood);
    EXPECT_EQ(server.get(trial).at("state"), "stopped");
    const Json decision = server.get(trial + "/decisions").at("decisions").at(0);
    EXPECT_EQ(decision.at("verdict"), "stopped");
    EXPECT_EQ(decision.at("rank"), kGood + 1);
    EXPECT_THAT(decision.at("rule").get<std::string>(),
                testing::AllOf(testing::StartsWith("ended early, after "), testing::EndsWith("the best has 68 (trial 0)")));
  }

  TemporaryDirectory directory_;
};

TEST_F(EarlyEndTest, ACommandThatWillNotBeTheBestIsEndedAndItsWorkerGoesOn) {
  RunningServer server(directory_ / "data", 1);
  const std::string id = submit(server, job());
  wait_until_it_waits(server, id);
  let_it_go_on();
  expect_ended_early(server, id);
}

TEST_F(EarlyEndTest, AServerKilledOnTheWayComesToTheSameWord) {
  std::string id;
  {
    RunningServer server(directory_ / "data", 1);
    id = submit(server, job());
    wait_until_it_waits(server, id);
    server.kill();
  }
  RunningServer server(directory_ / "data", 1);
  let_it_go_on();
  expect_ended_early(server, id);
}

}  // namespace
}  // namespace tuneband::test

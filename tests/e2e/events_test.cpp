// Who follows a job through kill -9 of the server and of its workers knows at the end what a client knows that asks then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <map>
#include <memory>
#include <set>

#include "tests/e2e/job_outcome.hpp"
#include "tests/e2e/running_server.hpp"
#include "tests/temporary_directory.hpp"

namespace tuneband::test {
namespace {

constexpr int kWorkersFollowed = 2;
constexpr std::size_t kMessagesBetweenKills = 25;
constexpr int kKillsFollowed = 4;

// A page that puts what it is told where it belongs.
struct Mirror {
  std::map<int, Json> trials;
  std::set<std::pair<int, std::int64_t>> observations;
  std::map<std::pair<int, int>, std::string> verdicts;
  Json job;
  std::string last_id;
  int gaps = 0;

  void take(const ServerEvent& event) {
    if (!event.id.empty()) last_id = event.id;
    if (event.type == "gap") ++gaps;
    if (event.type == "job") job = event.data;
    if (event.type == "trial") trials[event.data.at("number").get<int>()] = event.data;
    if (event.type == "observation")
      observations.emplace(event.data.at("trial").get<int>(), event.data.at("resource").get<std::int64_t>());
    if (event.type == "decision")
      verdicts[{event.data.at("trial").get<int>(), event.data.at("rung").get<int>()}] = event.data.at("verdict");
  }
};

class FollowedThroughKills : public testing::Test {
 protected:
  static Json document() {
    return {{"name", "followed"},
            {"objective", {{"metric", "x"}, {"goal", "maximize"}}},
            {"search_space", {{"x", {{"type", "float"}, {"min", 0}, {"max", 1}}}}},
            {"sampler", {{"type", "random"}, {"seed", 3}}},
            {"scheduler", {{"type", "hyperband"}, {"max_resource", 9}}},
            {"limits", {{"max_trials", 25}, {"max_attempts", 100}}},
            {"trainer",
             {{"type", "command"},
              {"argv",
               {"/bin/sh", "-c",
                "for i in $(seq 1 $TUNEBAND_UNTIL_RESOURCE); do sleep 0.01; echo \"{\\\"resource\\\": $i, \\\"x\\\": $0}\"; done",
                "{x}"}}}}};
  }
  std::unique_ptr<RunningServer> start() {
    return std::make_unique<RunningServer>(directory_ / "data", kWorkersFollowed,
                                           std::vector<std::string>{"--lease-seconds", "3"});
  }
  void kill_server(bool with_a_worker) {
    if (with_a_worker && server_->worker_pid(0) > 0) ::kill(static_cast<pid_t>(server_->worker_pid(0)), SIGKILL);
    server_->kill();
    server_ = start();
  }
  // All pages.
  std::vector<Json> log() {
    std::vector<Json> events;
    Json after = 0;
    while (!after.is_null()) {
      const Json page = server_->get("/v1/events?limit=1000&after=" + after.dump());
      for (const Json& event : page.at("events")) events.push_back(event);
      after = page.at("next");
    }
    return events;
  }

  TemporaryDirectory directory_;
  std::unique_ptr<RunningServer> server_ = start();
};

TEST_F(FollowedThroughKills, TheLastIdIsEnoughToMissNothingOfAJob) {
  const std::string id = submit(*server_, document());
  // From its submission on: what happened before a stream is there is no part of it.
  const Json submitted = server_->get("/v1/events?limit=1&job=" + id).at("events").at(0);
  Mirror mirror;
  mirror.last_id = submitted.at("id").dump() + "-0";
  const auto path = [&] { return "/v1/jobs/" + id + "/events" + (mirror.last_id.empty() ? "" : "?after=" + mirror.last_id); };
  for (int kill = 0; kill < kKillsFollowed; ++kill) {
    std::size_t messages = 0;
    server_->stream(path(), [&](const ServerEvent& event) {
      mirror.take(event);
      return ++messages == kMessagesBetweenKills;
    });
    kill_server(kill % 2 == 1);
  }
  server_->stream(path(), [&](const ServerEvent& event) {
    mirror.take(event);
    return false;
  });
  EXPECT_EQ(mirror.gaps, 0);
  EXPECT_EQ(mirror.job.at("state"), "completed");
  const Json trials = server_->get("/v1/jobs/" + id + "/trials?limit=1000").at("trials");
  ASSERT_EQ(mirror.trials.size(), trials.size());
  std::set<std::pair<int, std::int64_t>> observations;
  std::map<std::pair<int, int>, std::string> verdicts;
  for (Json trial : trials) {
    trial.erase("note");  // which live updates leave out
    mirror.trials.at(trial.at("number").get<int>()).erase("note");
    const int number = trial.at("number").get<int>();
    EXPECT_EQ(mirror.trials.at(number), trial);
    const std::string one = "/v1/jobs/" + id + "/trials/" + std::to_string(number);
    const Json curve = server_->get(one + "/observations");
    for (const Json& seen : curve.at("observations")) observations.emplace(number, seen.at("resource").get<std::int64_t>());
    const Json decisions = server_->get(one + "/decisions");
    for (const Json& decision : decisions.at("decisions"))
      verdicts[{number, decision.at("rung").get<int>()}] = decision.at("verdict");
  }
  EXPECT_EQ(mirror.observations, observations);
  EXPECT_EQ(mirror.verdicts, verdicts);
}

TEST_F(FollowedThroughKills, TheLogIsToldWithoutAGapAndNothingTwice) {
  submit(*server_, document());
  std::vector<Json> told;
  const auto take = [&](const ServerEvent& event, std::size_t enough) {
    EXPECT_EQ(event.type, "event") << event.data;
    told.push_back(event.data);
    const std::string kind = event.data.at("kind");
    return told.size() == enough || kind == "job_completed";
  };
  const auto path = [&] { return "/v1/events/stream?after=" + (told.empty() ? "0" : told.back().at("id").dump()); };
  for (int kill = 0; kill < kKillsFollowed; ++kill) {
    const std::size_t enough = told.size() + kMessagesBetweenKills;
    server_->stream(path(), [&](const ServerEvent& event) { return take(event, enough); });
    kill_server(kill % 2 == 1);
  }
  server_->stream(path(), [&](const ServerEvent& event) { return take(event, 0); });
  EXPECT_EQ(told.back().at("kind"), "job_completed");
  std::vector<Json> all = log();
  ASSERT_GE(all.size(), told.size());
  all.resize(told.size());  // what workers did after the end
  EXPECT_EQ(told, all);
  int starts = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].at("id"), i + 1) << "in the commit that made it true, or not at all";
    starts += all[i].at("kind") == "server_started" ? 1 : 0;
  }
  EXPECT_EQ(starts, kKillsFollowed);
}

}  // namespace
}  // namespace tuneband::test

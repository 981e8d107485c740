// The debugger on real trainings: what its rules find, what their actions do, and that kill -9 changes nothing of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "core/random.hpp"
#include "core/text.hpp"
#include "tests/e2e/job_outcome.hpp"
#include "tests/e2e/running_server.hpp"
#include "tests/server/temporary_directory.hpp"

namespace tuneband::test {
namespace {

class DebuggerTest : public testing::Test {
 protected:
  // Trains so deep on so few rows that every trial overfits, sooner or later.
  Json job(const std::string& name, const Json& debug) {
    const std::string path = directory_ / "table.csv";
    std::ofstream file(path);
    file << "a,b,c,label\n";
    for (std::uint64_t row = 0; row < 400; ++row) {
      for (std::uint64_t column = 0; column < 3; ++column) file << format_number(random_unit(11, {row, column})) << ',';
      file << (random_unit(11, {row, 0}) + random_unit(11, {row, 99}) > 1 ? 1 : 0) << '\n';
    }
    return {{"name", name},
            {"objective", {{"metric", "validation-logloss"}, {"goal", "minimize"}}},
            {"search_space", {{"eta", {{"type", "float"}, {"min", 0.05}, {"max", 1}, {"scale", "log"}}}}},
            {"sampler", {{"type", "random"}, {"seed", 5}}},
            {"scheduler", {{"type", "none"}, {"max_resource", 200}}},
            {"limits", {{"max_trials", 6}, {"max_attempts", 100}, {"max_failures_in_a_row", 2}}},
            {"debug", debug},
            {"trainer",
             {{"type", "xgboost"},
              {"parameters", {{"objective", "binary:logistic"}, {"max_depth", 8}}},
              {"eval_metric", {"logloss"}},
              {"eval_train", true},
              {"data", {{"train", path}, {"label", "label"}, {"validation", {{"fraction", 0.5}, {"seed", 1}}}}}}}};
  }

  // Without times.
  static std::vector<std::string> findings(RunningServer& server, const std::string& job) {
    std::vector<std::string> rows;
    for (const Json& found : server.get("/v1/jobs/" + job + "/findings").value("findings", Json::array())) {
      Json row = found;
      row.erase("at");
      rows.push_back(row.dump());
    }
    std::sort(rows.begin(), rows.end());
    return rows;
  }

  TemporaryDirectory directory_;
};

const char* const kStopsOverfit =
    R"({"rules": [{"rule": "overfit", "parameters": {"ratio_threshold": 1}, "action": "stop_trial"}]})";

TEST_F(DebuggerTest, ARuleEndsTrialsAndTheJobSaysSo) {
  RunningServer server(directory_ / "data", 1);
  const std::string job_id = submit(server, job("ends", Json::parse(kStopsOverfit)));
  const Json ended = server.wait_for_end(job_id);
  EXPECT_EQ(ended.at("state"), "failed") << "no trial came to the end";
  const Json trial = server.get("/v1/jobs/" + job_id + "/trials/0");
  EXPECT_EQ(trial.at("state"), "failed");
  EXPECT_EQ(trial.at("exit_class"), "stopped_by_rule");
  EXPECT_THAT(trial.at("message").get<std::string>(), testing::HasSubstr("the rule `overfit` stopped the trial"));
  EXPECT_EQ(findings(server, job_id).size(), 6) << "one a trial, none of which counts as a failure in a row";
  const Json series = server.get("/v1/jobs/" + job_id + "/trials/0/tensors/series?name=metrics/validation-logloss");
  EXPECT_EQ(series.at("steps").back().at("step"), trial.at("resource"));
}

TEST_F(DebuggerTest, ARuleStopsTheJob) {
  RunningServer server(directory_ / "data", 1);
  Json debug = Json::parse(kStopsOverfit);
  debug["rules"][0]["action"] = "stop_job";
  const std::string job_id = submit(server, job("stops", debug));
  const Json ended = server.wait_for_end(job_id);
  EXPECT_THAT(ended.at("reason").get<std::string>(), testing::HasSubstr("the rule `overfit` stopped the job"));
  EXPECT_EQ(findings(server, job_id).size(), 1);
}

TEST_F(DebuggerTest, KilledAtAnyMomentItFindsTheSame) {
  const Json document = job("killed", Json::parse(R"({"rules": [{"rule": "overfit", "parameters": {"ratio_threshold": 1}},
    {"rule": "loss_not_decreasing"}, {"rule": "overtraining"}]})"));
  std::vector<std::string> undisturbed;
  {
    RunningServer server(directory_ / "calm", 1);
    const std::string job_id = submit(server, document);
    server.wait_for_end(job_id);
    undisturbed = findings(server, job_id);
  }
  EXPECT_GT(undisturbed.size(), 6);
  std::string job_id;
  for (const std::int64_t spent : {100, 250, 500, 700}) {
    RunningServer server(directory_ / "wild", 1);
    if (job_id.empty()) job_id = submit(server, document);
    if (!follow_until_spent(server, job_id, spent)) break;
    ::kill(static_cast<pid_t>(server.worker_pid(0)), SIGKILL);
    server.kill();
  }
  RunningServer server(directory_ / "wild", 1);
  server.wait_for_end(job_id);
  EXPECT_EQ(findings(server, job_id), undisturbed);
}

}  // namespace
}  // namespace tuneband::test

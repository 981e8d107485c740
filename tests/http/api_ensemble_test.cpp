// GET /v1/jobs/{job}/ensemble: what the worker program is asked, and what becomes of its answer. A script plays that program;
// tests/cli/run_test.cpp has the real one.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "os/unique_fd.hpp"
#include "tests/http/api_fixture.hpp"
#include "tests/text_files.hpp"
#include "workers/protocol/sync.hpp"

namespace tuneband::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr int kEndsSoonMs = 60'000;

class ApiEnsembleTest : public ApiTest {
 protected:
  ApiEnsembleTest() {
    job_ = submit(job_document("whole"));
    work_until_idle("worker-1");
  }

  void write_model(int trial) {
    fs::create_directories(trial_dir(job_, trial));
    std::ofstream(model_of(trial)) << "a model";
  }
  // A trial of XGBoost with a model.
  void train_trees() {
    Json document = job_document("trees");
    document["trainer"] = {{"type", "xgboost"},
                           {"data", {{"train", "/x.csv"}, {"label", "y"}}},
                           {"parameters", {{"objective", "reg:squarederror"}}}};
    document["search_space"] = {{"gamma", {{"type", "float"}, {"min", 0}, {"max", 1}}}};
    document["objective"] = {{"metric", "validation-rmse"}, {"goal", "minimize"}};
    document["scheduler"] = {{"type", "none"}, {"max_resource", 9}};
    document["limits"] = {{"max_trials", 1}};
    job_ = submit(document);
    const Json reply = sync("worker-1");
    ASSERT_EQ(reply.value("desired", ""), "execute");
    Json trained = reached(reply.at("order"), 0);
    trained["observations"][0]["metrics"] = {{"validation-rmse", 0.5}};
    sync("worker-1", trained);
    write_model(0);
  }
  std::string model_of(int trial) const { return trial_dir(job_, trial) + "/" + protocol::kModelFile; }

  // Keeps what it is asked, then does this with the order in $order and the path that it names in $output.
  void play(const std::string& script) {
    directory_.write_script(
        "worker-program", "echo \"$@\" > " + asked("arguments") + "\norder=" + asked("order") +
                              "\ncat > $order\noutput=$(sed 's/.*\"output\":\"\\([^\"]*\\)\".*/\\1/' $order)\n" + script + "\n");
  }
  std::string asked(const std::string& what) const { return directory_ / what; }

  std::string job_;
};

TEST_F(ApiEnsembleTest, IsWhatTheWorkerProgramMakesOfTheBestTrialsThatLeftAModel) {
  const Json ranked = get_json("/v1/jobs/whole/trials?sort=objective&state=completed&limit=1000").at("trials");
  const Json stopped = get_json("/v1/jobs/whole/trials?sort=objective&state=stopped&limit=1000").at("trials");
  ASSERT_GT(ranked.size(), 3U);
  ASSERT_FALSE(stopped.empty());
  const int second = ranked[1].at("number");
  const int last = ranked.back().at("number");
  for (const int trial : {last, second, stopped[0].at("number").get<int>()}) write_model(trial);
  play(R"(printf 'one\000model' > "$output"; echo '{"members": []}')");
  const RawReply reply = get("/v1/jobs/whole/ensemble");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.header("content-type"), "application/octet-stream");
  EXPECT_EQ(reply.body, std::string("one\0model", 9));
  EXPECT_EQ(read_text(asked("arguments")), "--ensemble --end-with-parent\n");
  const Json order = Json::parse(read_text(asked("order")));
  EXPECT_EQ(order.at("job").at("name"), "whole");
  const auto model = [&](const Json& trial) {
    const int number = trial.at("number");
    return Json{{"trial", number},
                {"value", trial.at("objective")},
                {"file", model_of(number)},
                {"configuration", trial.at("configuration")}};
  };
  const Json expected = Json::array({model(ranked[1]), model(ranked.back())});
  EXPECT_EQ(order.at("models"), expected) << "a stopped one's is not of its best round";
  EXPECT_FALSE(fs::exists(fs::path(order.at("output").get<std::string>()).parent_path())) << "gone with the answer";
}

TEST_F(ApiEnsembleTest, SaysHowEachModelWasTrainedWhereItIsTrainedOnceMore) {
  train_trees();
  play(R"(echo x > "$output"; echo '{"members": []}')");
  EXPECT_EQ(get("/v1/jobs/trees/ensemble?refit=true").status, 200);
  const Json order = Json::parse(read_text(asked("order")));
  EXPECT_EQ(order.at("refit"), true);
  const Json refit = get_json("/v1/jobs/trees/trials/0").at("refit");
  const Json& training = order.at("models")[0].at("training");
  EXPECT_EQ(training.at("kept_rounds"), refit.at("rounds"));
  EXPECT_EQ(training.at("rounds"), 9);
  EXPECT_EQ(training.at("max_rounds"), 9);
  EXPECT_EQ(training.at("seed").get<std::uint64_t>() & 0x7fffffff, refit.at("parameters").at("seed").get<std::uint64_t>());
}

TEST_F(ApiEnsembleTest, DoesNotWaitForModelsThatAreTrainedOnceMore) {
  train_trees();
  const std::string runs = directory_ / "runs";
  ASSERT_EQ(::mkfifo(runs.c_str(), 0600), 0);
  play("if grep -q '\"refit\":true' $order; then echo it runs > " + runs +
       "; exec sleep 1000; fi; echo x > \"$output\"; echo '{\"members\": []}'");
  RawClient refits = client();
  refits.send("GET /v1/jobs/trees/ensemble?refit=true HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(read_text(runs), "it runs\n");
  EXPECT_EQ(get("/v1/jobs/trees/ensemble").status, 200);
}

TEST_F(ApiEnsembleTest, IsNotOfModelsThatCannotBeTrainedOnceMoreWhereTheyAreToBe) {
  write_model(get_json("/v1/jobs/whole/best").at("trial").at("number"));
  play("echo '{}'");
  EXPECT_EQ(get("/v1/jobs/whole/ensemble?refit=true").status, 409) << "of a command";
  EXPECT_FALSE(fs::exists(asked("arguments")));
}

TEST_F(ApiEnsembleTest, IsOfAsManyOfTheBestTrialsAsAreAskedFor) {
  const Json ranked = get_json("/v1/jobs/whole/trials?sort=objective&state=completed&limit=1000").at("trials");
  ASSERT_GT(ranked.size(), 1U);
  for (const Json& trial : ranked) write_model(trial.at("number"));
  play(R"(echo x > "$output"; echo '{"members": []}')");
  EXPECT_EQ(get("/v1/jobs/whole/ensemble?models=1").status, 200);
  const Json models = Json::parse(read_text(asked("order"))).at("models");
  ASSERT_EQ(models.size(), 1U);
  EXPECT_EQ(models[0].at("trial"), ranked[0].at("number"));
  const RawReply refused = get("/v1/jobs/whole/ensemble?models=25&refit=yes");
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("expected an integer between 1 and 24"));
  EXPECT_THAT(refused.body, HasSubstr("expected true or false"));
}

TEST_F(ApiEnsembleTest, OfAJobWithoutModelsIsNone) {
  play("echo '{}'");
  const RawReply none = get("/v1/jobs/whole/ensemble");
  EXPECT_EQ(none.status, 409);
  EXPECT_THAT(none.body, HasSubstr("no trial of the job has completed and left a model"));
  EXPECT_FALSE(fs::exists(asked("arguments")));
  EXPECT_EQ(get("/v1/jobs/none/ensemble").status, 404);
}

TEST_F(ApiEnsembleTest, SaysWhatTheWorkerProgramSays) {
  write_model(get_json("/v1/jobs/whole/best").at("trial").at("number"));
  play(R"(echo '{"error": {"message": "is not what it was", "path": "trainer.data", "hint": "look"}}'; exit 1)");
  const RawReply refused = get("/v1/jobs/whole/ensemble");
  EXPECT_EQ(refused.status, 409);
  const Json error = Json::parse(refused.body).at("error");
  EXPECT_THAT(error.dump(), HasSubstr("is not what it was"));
  EXPECT_THAT(error.dump(), HasSubstr("trainer.data"));
  play("kill -9 $$");
  EXPECT_EQ(get("/v1/jobs/whole/ensemble").status, 503);
  play("echo what");
  EXPECT_EQ(get("/v1/jobs/whole/ensemble").status, 503);
  fs::remove(directory_ / "worker-program");
  const RawReply without = get("/v1/jobs/whole/ensemble");
  EXPECT_EQ(without.status, 503);
  EXPECT_THAT(without.body, HasSubstr("could not be started"));
}

TEST_F(ApiEnsembleTest, IsNotJoinedForAClientThatHasGone) {
  write_model(get_json("/v1/jobs/whole/best").at("trial").at("number"));
  const std::string runs = directory_ / "runs";
  ASSERT_EQ(::mkfifo(runs.c_str(), 0600), 0);
  play("exec 3> " + runs + "; echo it runs >&3; exec sleep 1000");
  RawClient leaves = client();
  leaves.send("GET /v1/jobs/whole/ensemble HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const os::UniqueFd word(::open(runs.c_str(), O_RDONLY | O_CLOEXEC));
  char text[64];
  ASSERT_EQ(::read(word.get(), text, sizeof text), 8);
  leaves.close();
  pollfd ends{word.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&ends, 1, kEndsSoonMs), 1) << "it goes on";
}

TEST_F(ApiEnsembleTest, WritesNowhereWhereNoTemporaryDirectoryCanBeMade) {
  write_model(get_json("/v1/jobs/whole/best").at("trial").at("number"));
  play("echo '{}'");
  const fs::path before = fs::current_path();
  const fs::path gone = directory_ / "gone";
  fs::create_directory(gone);
  fs::current_path(gone);  // where one is made when TMPDIR is none
  fs::remove(gone);
  ASSERT_EQ(setenv("TMPDIR", gone.c_str(), 1), 0);
  const RawReply reply = get("/v1/jobs/whole/ensemble");
  ASSERT_EQ(unsetenv("TMPDIR"), 0);
  fs::current_path(before);
  EXPECT_EQ(reply.status, 503);
  EXPECT_THAT(reply.body, HasSubstr("no temporary directory"));
  EXPECT_FALSE(fs::exists(asked("arguments")));
}

}  // namespace
}  // namespace tuneband::test

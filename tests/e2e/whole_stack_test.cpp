// Server, workers and XGBoost together, as processes, with the faults that happen: killed servers, killed workers, commands that
// fail.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>

#include "core/random.hpp"
#include "core/text.hpp"
#include "os/child_process.hpp"
#include "os/unique_fd.hpp"
#include "tests/e2e/job_outcome.hpp"
#include "tests/e2e/running_server.hpp"
#include "tests/run_program.hpp"
#include "tests/temporary_directory.hpp"
#include "workers/protocol/sync.hpp"

namespace tuneband::test {
namespace {

namespace fs = std::filesystem;

class WholeStackTest : public testing::Test {
 protected:
  // Two classes that the columns tell apart only in part, so that configurations differ.
  std::string table() {
    const std::string path = directory_ / "table.csv";
    if (fs::exists(path)) return path;
    std::ofstream file(path);
    file << "a,b,c,d,label\n";
    for (std::uint64_t row = 0; row < 1500; ++row) {
      double sum = 0;
      for (std::uint64_t column = 0; column < 4; ++column) {
        const double value = random_unit(11, {row, column});
        sum += value * static_cast<double>(column + 1);
        file << format_number(value) << ',';
      }
      file << (sum + 2 * random_unit(11, {row, 99}) > 6 ? 1 : 0) << '\n';
    }
    return path;
  }

  Json xgboost_job(const std::string& name) {
    return Json::parse(R"({
      "name": "", "objective": {"metric": "validation-auc", "goal": "maximize"},
      "search_space": {"eta": {"type": "float", "min": 0.01, "max": 1, "scale": "log"},
                       "max_depth": {"type": "int", "min": 1, "max": 6},
                       "subsample": {"type": "float", "min": 0.5, "max": 1}},
      "sampler": {"type": "random", "seed": 5},
      "scheduler": {"type": "hyperband", "max_resource": 27},
      "trainer": {"type": "xgboost", "parameters": {"objective": "binary:logistic"}, "eval_metric": ["auc"],
                  "data": {"train": "", "label": "label", "validation": {"fraction": 0.3, "seed": 1}}}})")
        .patch(Json::parse(R"([{"op": "replace", "path": "/name", "value": ")" + name + R"("},
                               {"op": "replace", "path": "/trainer/data/train", "value": ")" +
                           table() + R"("}])"));
  }

  // `script` is a shell's.
  Json command_job(const std::string& name, const std::string& script, int grace_seconds = 1) {
    const std::string path = directory_.write_script(name + ".sh", script);
    return {{"name", name},
            {"objective", {{"metric", "loss"}, {"goal", "minimize"}}},
            {"search_space", {{"x", {{"type", "float"}, {"min", 0}, {"max", 1}}}}},
            {"sampler", {{"type", "random"}, {"seed", 5}}},
            {"scheduler", {{"type", "hyperband"}, {"max_resource", 9}}},
            {"trainer", {{"type", "command"}, {"argv", {path, "{x}"}}, {"grace_seconds", grace_seconds}}}};
  }

  // One report a unit of resource, the same value whenever and wherever it runs.
  static std::string reports(const std::string& before = "") {
    return before + R"(i=0
while [ $i -lt $TUNEBAND_UNTIL_RESOURCE ]; do
  i=$((i + 1))
  echo "{\"resource\": $i, \"loss\": $(awk -v x="$1" -v i=$i 'BEGIN { printf "%.9f", x + 1 / i }')}"
done
)";
  }

  // The stream begins with the job as it is: what is asked of it cannot have been missed.
  static auto cut_or_completed(int count) {
    return [count](const ServerEvent& event) {
      if (event.type != "job") return false;
      const Json& trials = event.data.at("trials");
      return trials.at("stopped").get<int>() + trials.at("completed").get<int>() >= count;
    };
  }

  static bool has_a_value(const ServerEvent& event) { return event.type == "job" && !event.data.at("best_anywhere").is_null(); }

  // Runs tuneband-server to its end.
  static Ran run_server_program(const std::string& arguments) {
    return run_program(std::string(TUNEBAND_BIN_DIR) + "/tuneband-server " + arguments + " 2>&1");
  }

  std::string data(const std::string& name) { return directory_ / name; }

  TemporaryDirectory directory_;
};

TEST_F(WholeStackTest, AnXgboostJobCompletesWithAModelOnDisk) {
  RunningServer server(data("data"), 2);
  Json document = xgboost_job("first");
  document["trainer"]["data"]["test"] = {{"fraction", 0.2}};
  const std::string job = submit(server, document);
  const Json ended = server.wait_for_end(job);
  EXPECT_EQ(ended.at("state"), "completed") << ended;
  EXPECT_EQ(ended.at("trials").at("failed"), 0);
  ASSERT_FALSE(ended.at("best").is_null());
  const Json plan = server.get("/v1/jobs/" + job + "/plan");
  EXPECT_TRUE(plan.at("restarts"));
  EXPECT_EQ(ended.at("resource_spent"), plan.at("total_resource")) << "each rung is trained from nothing";
  EXPECT_EQ(ended.at("best").at("value"), ended.at("best_anywhere").at("value")) << "the best that was found, at whatever rung";
  EXPECT_GT(ended.at("best").at("value").get<double>(), 0.7);
  const Json best = server.get("/v1/jobs/" + job + "/best");
  ASSERT_TRUE(best.at("model").is_string()) << best;
  EXPECT_EQ(best.at("trial").at("kept_value"), ended.at("best").at("value"));
  EXPECT_GE(best.at("trial").at("kept_resource"), 1);
  EXPECT_EQ(best.at("test_value"), ended.at("best").at("test_value"));
  EXPECT_GT(best.at("test_value").get<double>(), 0.5);
  const std::string model = data("data") + "/jobs/" + job + "/trials/" + ended.at("best").at("trial").dump() + "/model.ubj";
  EXPECT_TRUE(fs::exists(model));
  EXPECT_EQ(server.raw("GET", "/v1/jobs/" + job + "/trials/" + ended.at("best").at("trial").dump() + "/model", "").body.size(),
            fs::file_size(model));
}

class RestartTest : public WholeStackTest {
 protected:
  // Runs the job undisturbed and then disturbed after some decisions, on servers of their own.
  void expect_same_outcome(const Json& job, const std::function<void(std::unique_ptr<RunningServer>&)>& disturb) {
    std::vector<std::string> expected;
    std::vector<std::string> expected_verdicts;
    {
      RunningServer undisturbed(data("undisturbed"), 2);
      const std::string id = submit(undisturbed, job);
      EXPECT_EQ(undisturbed.wait_for_end(id).at("state"), "completed");
      expected = outcome(undisturbed, id);
      expected_verdicts = verdicts(undisturbed, id, expected.size());
    }
    auto server = std::make_unique<RunningServer>(data("disturbed"), 2);
    const std::string id = submit(*server, job);
    for (const int trials : {3, 9}) {
      EXPECT_TRUE(server->follow(id, cut_or_completed(trials)));
      disturb(server);
    }
    const Json ended = server->wait_for_end(id);
    EXPECT_EQ(ended.at("state"), "completed") << ended;
    EXPECT_THAT(outcome(*server, id), testing::ElementsAreArray(expected));
    EXPECT_THAT(verdicts(*server, id, expected.size()), testing::ElementsAreArray(expected_verdicts));
  }
};

TEST_F(RestartTest, AServerKilledInTheMiddleOfAJobGoesOnToTheSameResult) {
  expect_same_outcome(xgboost_job("killed"), [this](std::unique_ptr<RunningServer>& server) {
    const std::string url = server->url();
    const std::int64_t worker = server->worker_pid(0);
    server->kill();
    server = std::make_unique<RunningServer>(data("disturbed"), 2);
    EXPECT_EQ(server->url(), url) << "the port is the one of the run before";
    EXPECT_EQ(server->worker_pid(0), worker) << "workers outlive the server";
  });
}

TEST_F(RestartTest, AServerToldToEndGoesOnToTheSameResult) {
  expect_same_outcome(xgboost_job("told"), [this](std::unique_ptr<RunningServer>& server) {
    server->send(SIGTERM);
    EXPECT_EQ(server->wait(), 0);
    EXPECT_EQ(server->worker_pid(0), 0) << "its workers end with it";
    server = std::make_unique<RunningServer>(data("disturbed"), 2);
  });
}

TEST_F(RestartTest, AKilledWorkerChangesNothingInTheResult) {
  expect_same_outcome(xgboost_job("worker"),
                      [](std::unique_ptr<RunningServer>& server) { ::kill(static_cast<pid_t>(server->worker_pid(0)), SIGKILL); });
}

TEST_F(RestartTest, KilledCommandsGoOnToTheSameResult) {
  expect_same_outcome(command_job("command", reports()), [this](std::unique_ptr<RunningServer>& server) {
    server->kill();
    server = std::make_unique<RunningServer>(data("disturbed"), 2);
  });
}

// As a kill leaves them that comes before they are removed.
TEST_F(RestartTest, FilesOfTrialsThatWereStoppedGoAtTheStartWhereTheServerEndedJustAfterTheirJob) {
  const auto run_until = [this](const std::function<void(RunningServer&)>& then) {
    RunningServer server(data("data"), 1);
    then(server);
    server.send(SIGTERM);
    EXPECT_EQ(server.wait(), 0);
  };
  std::vector<fs::path> stopped;
  run_until([&](RunningServer& server) {
    const std::string job = submit(server, command_job("over", reports()));
    const Json best = server.wait_for_end(job).at("best_anywhere").at("trial");
    const Json page = server.get("/v1/jobs/" + job + "/trials?state=stopped");
    for (const Json& trial : page.at("trials")) {
      if (trial.at("number") != best) stopped.push_back(data("data") + "/jobs/" + job + "/trials/" + trial.at("number").dump());
    }
  });
  ASSERT_FALSE(stopped.empty());
  for (const fs::path& trial : stopped) {
    EXPECT_TRUE(fs::remove(trial / protocol::kReleasedFile));
    fs::create_directories(trial / protocol::kEpochsDir / "1" / protocol::kCheckpointDir);
  }
  run_until([](RunningServer&) {});
  for (const fs::path& trial : stopped) EXPECT_FALSE(fs::exists(trial / protocol::kEpochsDir)) << trial;
}

// One trial that trains for long enough to be interrupted in the middle of its only segment.
class LongTrialTest : public WholeStackTest {
 protected:
  static constexpr int kRounds = 6000;  // seconds of training; a worker reports every 0.6 s of it

  Json long_job(const std::string& name) {
    Json job = xgboost_job(name);
    job["scheduler"] = {{"type", "none"}, {"max_resource", kRounds}};
    job["limits"] = {{"max_trials", 1}};
    return job;
  }

  std::unique_ptr<RunningServer> start() {
    return std::make_unique<RunningServer>(data("data"), 1, std::vector<std::string>{"--lease-seconds", "3"});
  }

  static bool observed(const ServerEvent& event) { return event.type == "observation"; }

  void expect_trained_once(RunningServer& server, const std::string& job, int segments) {
    const Json ended = server.wait_for_end(job);
    EXPECT_EQ(ended.at("state"), "completed") << ended;
    EXPECT_EQ(ended.at("resource_spent"), kRounds) << "no round was trained twice";
    EXPECT_EQ(server.get("/v1/jobs/" + job + "/trials/0").at("segments"), segments);
    EXPECT_EQ(server.get("/v1/jobs/" + job + "/trials/0/observations").at("observations").size(), kRounds);
  }
};

TEST_F(LongTrialTest, GoesOnFromItsCheckpointAfterTheServerWasToldToEnd) {
  auto server = start();
  const std::string job = submit(*server, long_job("told"));
  ASSERT_TRUE(server->follow(job, observed));
  server->send(SIGTERM);
  ASSERT_EQ(server->wait(), 0);
  server = start();
  expect_trained_once(*server, job, 2);
}

TEST_F(LongTrialTest, GoesOnUnderItsWorkerWhileTheServerIsKilledAndStartedAgain) {
  auto server = start();
  const std::string job = submit(*server, long_job("killed"));
  ASSERT_TRUE(server->follow(job, observed));
  server->kill();
  server = start();
  expect_trained_once(*server, job, 1);
}

TEST_F(WholeStackTest, ATrialWhoseWorkerIsKilledHasOneAttemptMore) {
  RunningServer server(data("data"), 1);
  const std::string once =
      "if [ $TUNEBAND_TRIAL = 1 ] && mkdir \"" + (directory_ / "once") + "\" 2>/dev/null; then kill -9 $PPID; exit; fi\n";
  const std::string job = submit(server, command_job("lost", reports(once)));
  const Json ended = server.wait_for_end(job);
  EXPECT_EQ(ended.at("state"), "completed") << ended;
  EXPECT_EQ(ended.at("trials").at("failed"), 0);
  EXPECT_TRUE(fs::exists(directory_ / "once"));
  const Json trial = server.get("/v1/jobs/" + job + "/trials/1");
  const Json decisions = server.get("/v1/jobs/" + job + "/trials/1/decisions");
  // One segment for each rung it stood at, and the one that was lost.
  EXPECT_EQ(trial.at("segments").get<std::size_t>(), decisions.at("decisions").size() + 1) << trial;
}

TEST_F(WholeStackTest, AStoppedJobEndsItsTrialsAndKeepsTheBest) {
  RunningServer server(data("data"), 2);
  const std::string job = submit(server, command_job("stopped", "echo '{\"resource\": 1, \"loss\": 0.5}'\nsleep 1000\n"));
  ASSERT_TRUE(server.follow(job, has_a_value));
  server.post("/v1/jobs/" + job + "/stop", "");
  const Json ended = server.wait_for_end(job);
  EXPECT_EQ(ended.at("state"), "stopped");
  EXPECT_EQ(ended.at("trials").at("running"), 0);
  EXPECT_EQ(ended.at("trials").at("pending"), 0);
  EXPECT_EQ(server.raw("DELETE", "/v1/jobs/" + job, "").status, 204);
  EXPECT_EQ(server.raw("GET", "/v1/jobs/" + job, "").status, 404);
}

// Of labels that follow from nothing the luckiest of many trainings of few rounds is the best.
TEST_F(WholeStackTest, TheBestOfFullTrainingsIsOneEvenWhereALowerRungHadABetterValue) {
  RunningServer server(data("data"), 2);
  Json document = xgboost_job("full");
  const std::string noise = directory_ / "noise.csv";
  {
    std::ofstream rows(noise);
    rows << "a,b,label\n";
    for (std::uint64_t i = 0; i < 200; ++i) rows << i % 17 << ',' << i % 29 << ',' << random_bits(5, {i}) % 2 << '\n';
  }
  document["trainer"]["data"]["train"] = noise;
  document["scheduler"]["type"] = "successive_halving";
  document["trainer"]["keep"] = "best_full";
  const std::string job = submit(server, document);
  const Json ended = server.wait_for_end(job);
  EXPECT_EQ(ended.at("state"), "completed") << ended;
  EXPECT_FALSE(ended.at("rungs_compare"));
  const Json& max_resource = document["scheduler"]["max_resource"];
  EXPECT_LT(ended.at("best_anywhere").at("resource"), max_resource) << "else this shows nothing";
  EXPECT_EQ(ended.at("best").at("resource"), max_resource);
  const Json trial = server.get("/v1/jobs/" + job + "/best").at("trial");
  EXPECT_EQ(trial.at("kept_value"), ended.at("best").at("value"));
  EXPECT_EQ(trial.at("kept_value"), trial.at("objective")) << "that of its last rung";
}

TEST_F(WholeStackTest, AStoppedJobHasTheModelThatItsTrainingHadComeTo) {
  RunningServer server(directory_ / "data", 1);
  Json document = xgboost_job("unfinished");
  document["scheduler"] = {{"type", "none"}, {"max_resource", 20'000}};
  document["limits"] = {{"max_trials", 1}};
  document["trainer"]["keep"] = "best";
  document["trainer"]["data"]["test"] = {{"fraction", 0.2}, {"seed", 2}};
  const std::string job = submit(server, document);
  ASSERT_TRUE(follow_until_spent(server, job, 20));
  server.post("/v1/jobs/" + job + "/stop", "");
  EXPECT_EQ(server.wait_for_end(job).at("state"), "stopped");
  const Json best = server.get("/v1/jobs/" + job + "/best");
  EXPECT_EQ(best.at("trial").at("number"), 0);
  EXPECT_EQ(best.at("trial").at("state"), "cancelled");
  EXPECT_GT(best.at("trial").at("objective"), 0.5);
  EXPECT_LT(best.at("trial").at("resource"), 20'000);
  EXPECT_GT(best.at("test_value"), 0.5);
  const net::HttpResponse model = server.raw("GET", "/v1/jobs/" + job + "/trials/0/model", "");
  EXPECT_EQ(model.status, 200);
  EXPECT_THAT(model.body, testing::HasSubstr("best_iteration"));
}

TEST_F(WholeStackTest, TrialsThatAllFailTheSameWayEndTheJobEarlyWithTheReason) {
  RunningServer server(data("data"), 2);
  const std::string job = submit(server, command_job("failing", "echo 'no such module: foo' >&2\nexit 7\n"));
  const Json ended = server.wait_for_end(job);
  EXPECT_EQ(ended.at("state"), "failed") << ended;
  EXPECT_NE(ended.at("reason").get<std::string>().find("crashed"), std::string::npos) << ended;
  EXPECT_LT(ended.at("trials").at("created").get<int>(), 12);
  const Json trial = server.get("/v1/jobs/" + job + "/trials/0");
  EXPECT_EQ(trial.at("state"), "failed");
  EXPECT_EQ(trial.at("exit_class"), "crashed");
  EXPECT_FALSE(trial.at("advice").get<std::string>().empty());
  EXPECT_NE(server.raw("GET", "/v1/jobs/" + job + "/trials/0/log", "").body.find("no such module: foo"), std::string::npos);
}

TEST_F(WholeStackTest, AJobWithAMissingFileIsRefusedAtSubmit) {
  RunningServer server(data("data"), 1);
  Json job = xgboost_job("missing");
  job["trainer"]["data"]["train"] = directory_ / "nowhere.csv";
  const net::HttpResponse response = server.raw("POST", "/v1/jobs", job.dump());
  EXPECT_EQ(response.status, 400) << response.body;
  EXPECT_NE(response.body.find("trainer.data.train"), std::string::npos) << response.body;
}

TEST_F(WholeStackTest, ASecondServerOnTheSameDirectorySaysSo) {
  RunningServer first(data("data"), 0);
  const auto [status, said] = run_server_program("--port 0 --workers 0 --data-dir " + data("data"));
  EXPECT_NE(status, 0);
  EXPECT_NE(said.find("another tuneband-server is running"), std::string::npos) << said;
}

TEST_F(WholeStackTest, APortThatIsTakenIsNamed) {
  RunningServer first(data("data"), 0);
  const std::string port = first.url().substr(first.url().rfind(':') + 1);
  const auto [status, said] = run_server_program("--workers 0 --port " + port + " --data-dir " + data("other"));
  EXPECT_EQ(status, 1);
  EXPECT_NE(said.find("cannot listen on 127.0.0.1 port " + port), std::string::npos) << said;
}

TEST_F(WholeStackTest, ASecondSignalEndsTheServerAtOnce) {
  RunningServer server(data("data"), 1);
  const std::string job = submit(
      server, command_job("deaf", "trap '' TERM\necho '{\"resource\": 1, \"loss\": 0.5}'\nsleep 1000 & wait; wait\n", 600));
  ASSERT_TRUE(server.follow(job, has_a_value));
  server.send(SIGTERM);
  server.send(SIGINT);
  const int status = server.wait();
  EXPECT_TRUE(status == 128 + SIGTERM || status == 128 + SIGINT) << status;
}

TEST_F(WholeStackTest, AServerWhoseTerminalIsClosedEndsOrderly) {
  RunningServer server(data("data"), 1);
  server.send(SIGHUP);
  EXPECT_EQ(server.wait(), 0);
  EXPECT_FALSE(fs::exists(data("data") + "/workers/local-0.json")) << "its worker was told to end";
}

TEST_F(WholeStackTest, AServerThatOnlyReadsRemovesItsCopyHoweverItIsToldToEnd) {
  { RunningServer server(data("data"), 0); }
  fs::create_directories(data("tmp"));
  for (const int signal : {SIGTERM, SIGHUP}) {
    auto output = os::make_pipe();
    ASSERT_TRUE(output);
    const Result<pid_t> reading = os::spawn({.program = std::string(TUNEBAND_BIN_DIR) + "/tuneband-server",
                                             .arguments = {"--read-only", "--port", "0", "--data-dir", data("data")},
                                             .environment = os::environment_with({{"TMPDIR", data("tmp")}}),
                                             .stdout_fd = output->write.get()});
    ASSERT_TRUE(reading);
    output->write.reset();
    char c = 0;
    while (::read(output->read.get(), &c, 1) == 1 && c != '\n') continue;
    EXPECT_FALSE(fs::is_empty(data("tmp")));
    ::kill(*reading, signal);
    const auto end = os::reap(P_PID, static_cast<id_t>(*reading));
    ASSERT_TRUE(end);
    EXPECT_EQ(os::describe_exit(end->how), "ended with status 0");
    EXPECT_TRUE(fs::is_empty(data("tmp")));
  }
}

TEST_F(WholeStackTest, AServerEndsWithTheProcessThatStartedIt) {
  int out[2] = {-1, -1};
  ASSERT_EQ(::pipe2(out, O_CLOEXEC), 0);
  os::ChildCommand shell;
  shell.program = "/bin/sh";
  shell.arguments = {"-c", std::string(TUNEBAND_BIN_DIR) + "/tuneband-server --end-with-parent --port 0 --workers 1 --data-dir " +
                               data("data") + "; true"};
  shell.stdout_fd = out[1];
  const Result<pid_t> parent = os::spawn(shell);
  ASSERT_TRUE(parent);
  ::close(out[1]);
  char c = 0;
  while (::read(out[0], &c, 1) == 1 && c != '\n') continue;
  EXPECT_EQ(::kill(*parent, SIGKILL), 0);
  EXPECT_EQ(::read(out[0], &c, 1), 0) << "the server has ended, and with it its side of the pipe";
  EXPECT_FALSE(fs::exists(data("data") + "/workers/local-0.json")) << "its worker was told to end";
  ::close(out[0]);
  int status = 0;
  ::waitpid(*parent, &status, 0);
}

TEST_F(WholeStackTest, ADataDirectoryIsCheckedWithoutAServer) {
  {
    RunningServer server(data("data"), 1);
    server.wait_for_end(submit(server, command_job("checked", reports())));
  }
  const auto [sound, contents] = run_server_program("--check --data-dir " + data("data"));
  EXPECT_EQ(sound, 0) << contents;
  EXPECT_NE(contents.find("jobs: 1, of which 0 have not ended"), std::string::npos) << contents;

  for (const char* journal : {"-wal", "-shm"}) fs::remove(data("data") + "/tuneband.db" + journal);
  std::fstream database(data("data") + "/tuneband.db", std::ios::in | std::ios::out | std::ios::binary);
  database.seekp(static_cast<std::streamoff>(fs::file_size(data("data") + "/tuneband.db") / 2));
  database << std::string(8192, '#');
  database.close();
  const auto [damaged, said] = run_server_program("--check --data-dir " + data("data"));
  EXPECT_EQ(damaged, 1) << said;
  const auto [missing, words] = run_server_program("--check --data-dir " + data("nowhere"));
  EXPECT_EQ(missing, 1);
  EXPECT_NE(words.find("there is no directory"), std::string::npos) << words;
}

}  // namespace
}  // namespace tuneband::test

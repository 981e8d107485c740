// A finished job's curves, exported and run again under other rules.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/commands/commands.hpp"
#include "tests/cli/canned_server.hpp"
#include "tests/cli/examples.hpp"
#include "tests/text_files.hpp"

namespace tuneband::cli {

namespace {

class SimulateCommand : public testing::Test {
 protected:
  SimulateCommand() { std::filesystem::create_directories(directory_); }
  ~SimulateCommand() override { std::filesystem::remove_all(directory_); }

  std::string file(const std::string& name, const std::string& text) {
    const std::string path = directory_ + "/" + name;
    std::ofstream(path) << text;
    return path;
  }

  Finished simulate(SimulateOptions options) { return simulate_job(console_, options); }

  std::string directory_ = testing::TempDir() + "cli_simulate_" + std::to_string(getpid());
  std::ostringstream out_;
  std::ostringstream err_;
  Console console_{Terminal{}, out_, err_, false};
  Console json_console_{Terminal{}, out_, err_, true};
};

constexpr const char* kCurves =
    "x,acc_1,acc_2,acc_3\n0.1,1,2,3\n0.2,2,3,4\n0.3,3,4,5\n0.4,4,5,9\n0.5,5,6,7\n0.6,1,1,1\n0.7,1,1,1\n0.8,1,1,2\n0.9,1,1,1\n";

}  // namespace

TEST_F(SimulateCommand, PutsSchedulersAndSamplersSideBySideAndWritesCsvAndAChart) {
  SimulateOptions options;
  options.table = file("curves.csv", kCurves);
  options.job_file = file("job.json", R"({"objective": {"goal": "maximize"}, "sampler": {"type": "random", "seed": 1}})");
  options.schedulers = {"asha_delayed", "none"};
  options.samplers = {"random", "sobol"};
  options.budgets = {1, 9};
  options.workers = 2;
  options.seeds = 3;
  options.csv = directory_ + "/runs.csv";
  options.plot = directory_ + "/chart.svg";
  const auto finished = simulate(options);
  ASSERT_TRUE(finished) << describe(finished.error().errors.front());
  for (const char* method : {"asha_delayed / random", "asha_delayed / sobol", "none / random", "none / sobol"}) {
    EXPECT_NE(out_.str().find(method), std::string::npos) << method;
  }
  EXPECT_NE(out_.str().find("9 configurations of acc, best 9 at 3, median 3"), std::string::npos) << out_.str();
  EXPECT_EQ(err_.str(), "");
  const std::string csv = test::read_text(options.csv);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 4 * 2 * 2 * 3);
  EXPECT_TRUE(test::read_text(options.plot).ends_with("</svg>\n"));
}

TEST_F(SimulateCommand, PrintsJsonForPrograms) {
  SimulateOptions options;
  options.table = file("curves.csv", kCurves);
  options.job_file = file("job.json", R"({"objective": {"goal": "maximize"}, "sampler": {"type": "random"}})");
  options.seeds = 2;
  options.budgets = {9};
  ASSERT_TRUE(simulate_job(json_console_, options));
  const Json document = Json::parse(out_.str());
  EXPECT_EQ(document["best"], 9);
  ASSERT_EQ(document["methods"].size(), 1U);
  EXPECT_EQ(document["methods"][0]["trials_unmeasured"], 0);
  EXPECT_EQ(document["methods"][0]["by_resource"][0]["budget"], 9);
  EXPECT_TRUE(document["notes"].is_array());
  EXPECT_TRUE(document["notes"].empty());
}

TEST_F(SimulateCommand, NamesTheFileOrTheFieldThatIsWrong) {
  SimulateOptions options;
  options.table = directory_ + "/none.csv";
  options.job_file = file("job.json", R"({"objective": {"goal": "maximize"}})");
  EXPECT_EQ(simulate(options).error().errors.front().path, options.table);
  options.table = file("curves.csv", kCurves);
  options.schedulers = {"asha"};
  EXPECT_EQ(simulate(options).error().errors.front().path, "scheduler.type");
  options.schedulers.clear();
  options.job_file = file("other.json", R"({"objective": {"goal": "maximize", "metric": "loss"}})");
  EXPECT_EQ(simulate(options).error().errors.front().message, "has no curve of `loss`");
}

TEST_F(SimulateCommand, ComparesOnlyWhatTrainsUntilTheSameResource) {
  SimulateOptions options;
  options.table = file("curves.csv", kCurves);
  options.job_file = file("job.json", R"({"objective": {"goal": "maximize"}})");
  options.schedulers = {"asha_delayed", "none,max_resource=3", "none,max_resource=1"};
  const auto finished = simulate(options);
  ASSERT_FALSE(finished);
  EXPECT_EQ(
      describe(finished.error().errors.front()),
      "scheduler.max_resource: is 1 of `none,max_resource=1 / auto` and 3 of `asha_delayed / auto`: they cannot be compared "
      "(simulate them one by one)");
}

TEST_F(SimulateCommand, SaysWhyLinesAreLeftOut) {
  SimulateOptions options;
  options.table = file("curves.csv", "x,y,acc_1\n1,1,1\n2,,2\n3,,3\n4,2,4\n5,3,5\n6,1,\n7,2,\n");
  options.job_file = file("job.json", R"({"objective": {"goal": "maximize"}})");
  options.in_order = true;
  ASSERT_TRUE(simulate(options));
  EXPECT_NE(err_.str().find("2 configurations have an empty cell, which only a `search_space`"), std::string::npos) << err_.str();
  EXPECT_NE(err_.str().find("2 lines without a value of `acc` are left out"), std::string::npos) << err_.str();
  options.job_file = file("job.json", R"({"objective": {"goal": "maximize"}, "search_space": {
      "x": {"type": "int", "min": 1, "max": 9}, "y": {"type": "int", "min": 1, "max": 2}}})");
  ASSERT_TRUE(simulate(options));
  EXPECT_NE(err_.str().find("3 configurations lie outside of the search space"), std::string::npos) << err_.str();
}

TEST_F(SimulateCommand, TellsProgramsTooWhatIsLeftOut) {
  SimulateOptions options;
  options.table = file("curves.csv", "x,acc_1\n1,1\n2,2\n3,\n");
  options.job_file = file("job.json", R"({"objective": {"goal": "maximize"}})");
  options.in_order = true;
  ASSERT_TRUE(simulate_job(json_console_, options));
  EXPECT_EQ(Json::parse(out_.str())["notes"], Json({"1 line without a value of `acc` is left out"}));
}

TEST_F(SimulateCommand, SaysWhichConfigurationsOfTheDocumentItDoesNotTry) {
  SimulateOptions options;
  options.table = file("curves.csv", kCurves);
  options.job_file = file("job.json", R"({"objective": {"goal": "maximize"}, "sampler": {"type": "random"},
      "candidates": [{"x": 0.15}, {"x": 0.2}], "enqueue": [{"x": 0.15}]})");
  ASSERT_TRUE(simulate(options));
  EXPECT_NE(err_.str().find(
                "`candidates` and `enqueue` of the job's document are not used: the table's configurations are what is tried"),
            std::string::npos)
      << err_.str();
}

TEST_F(SimulateCommand, AsksForAsManyWorkersAsATrialNeeds) {
  SimulateOptions options;
  options.table = file("curves.csv", kCurves);
  options.job_file = file("job.json", R"({"objective": {"goal": "maximize"}, "trainer": {"replicas": 4}})");
  options.workers = 3;
  EXPECT_EQ(simulate(options).error().errors.front().path, "trainer.replicas");
  options.job_file = file("list.json", R"({"objective": {"goal": "maximize"}, "trainer": {"replicas": [2, 3]}})");
  EXPECT_EQ(describe(simulate(options).error().errors.front()),
            "trainer.replicas: is a list to choose from, but the table has no column `replicas` (give one number of workers)");
  options.table = file("wide.csv", "x,replicas,acc_1\n1,2,1\n2,4,2\n3,4,3\n");
  options.job_file = file("list.json", R"({"objective": {"goal": "maximize"}, "trainer": {"replicas": [2, 4]}})");
  const auto finished = simulate(options);
  ASSERT_FALSE(finished);
  EXPECT_EQ(describe(finished.error().errors.front()),
            "trainer.replicas: asks for 4 workers for one trial: with 3 workers it could not start (simulate more `--workers`)");
  options.workers = 4;
  EXPECT_TRUE(simulate(options));
}

TEST_F(SimulateCommand, RunsAJobAgainToItsEndUnlessABudgetIsGiven) {
  std::string curves = "x,acc_3\n";
  for (int i = 0; i < 60; ++i) curves += std::to_string(i) + ',' + std::to_string(i) + '\n';
  SimulateOptions options;
  options.table = file("many.csv", curves);
  options.job_file = file("job.json", R"({"objective": {"goal": "maximize"}, "scheduler": {"type": "none"}})");
  options.in_order = true;
  ASSERT_TRUE(simulate_job(json_console_, options));
  Json method = Json::parse(out_.str())["methods"][0];
  EXPECT_EQ(method["trials_completed"], 60);
  EXPECT_EQ(method["resource"], 180);
  EXPECT_EQ(method["by_resource"].back(), Json::parse(R"({"budget": 60, "regret": 0, "half_width": 0})"));
  // Each rung a training of its own: 1 + 2 + 3 of each trial, if each is better than those before.
  options.job_file = file("restarts.json", R"({"objective": {"goal": "maximize"}, "trainer": {"type": "command", "argv": ["x"]},
      "scheduler": {"type": "median_stopping", "rungs": [1, 2, 3]}})");
  std::string rising = "x,acc_1,acc_2,acc_3\n";
  for (int i = 0; i < 60; ++i) {
    const std::string value = std::to_string(i);
    rising += value + ',' + value + ',' + value + ',' + value + '\n';
  }
  options.table = file("rising.csv", rising);
  out_.str("");
  ASSERT_TRUE(simulate_job(json_console_, options));
  method = Json::parse(out_.str())["methods"][0];
  EXPECT_EQ(method["trials_completed"], 60);
  EXPECT_EQ(method["resource"], 360);
  options.budgets = {3};
  out_.str("");
  ASSERT_TRUE(simulate_job(json_console_, options));
  method = Json::parse(out_.str())["methods"][0];
  EXPECT_LT(method["trials"], 6);
}

TEST_F(SimulateCommand, SaysOfWhichTrialsOnlyALaterValueIsKnown) {
  SimulateOptions options;
  options.table = file("late.csv", "x,acc_1,acc_3\n0.1,1,1\n0.2,,3\n0.3,2,2\n");
  options.job_file = file("job.json", R"({"objective": {"goal": "maximize"}, "scheduler": {"type": "successive_halving"}})");
  options.in_order = true;
  ASSERT_TRUE(simulate(options));
  EXPECT_NE(err_.str().find("the first value that was recorded for them is a later one"), std::string::npos) << err_.str();
  EXPECT_EQ(err_.str().find("reported the value recorded before it"), std::string::npos) << err_.str();
  out_.str("");
  ASSERT_TRUE(simulate_job(json_console_, options));
  const Json method = Json::parse(out_.str())["methods"][0];
  EXPECT_EQ(method["trials_unmeasured"], 1);
  EXPECT_EQ(method["trials_measured_later"], 1);
  EXPECT_EQ(method["trials_measured_earlier"], 0);
  EXPECT_EQ(method["resource_unmeasured"], 1);
}

TEST_F(SimulateCommand, TakesTheBestRoundsOfTrialsThatKeepThemAndSaysWhatATableOfWholeTrainingsLacks) {
  SimulateOptions options;
  options.table = file(
      "t.csv", "eta,validation-auc_1,validation-auc_2,validation-auc_3\n0.1,0.5,0.9,0.7\n0.2,0.6,0.8,0.6\n0.3,0.5,0.6,0.5\n");
  options.in_order = true;
  const auto ran = [&](const Json& scheduler, const char* fidelity, const char* keep) {
    const Json job{{"objective", {{"metric", "validation-auc"}, {"goal", "maximize"}}},
                   {"search_space", {{"eta", {{"type", "float"}, {"min", 0.1}, {"max", 0.3}}}}},
                   {"trainer",
                    {{"type", "xgboost"},
                     {"data", {{"train", "/t.csv"}, {"label", "y"}}},
                     {"fidelity", fidelity},
                     {"keep", keep},
                     {"parameters", {{"objective", "binary:logistic"}}}}},
                   {"scheduler", scheduler}};
    options.job_file = file("job.json", job.dump());
    out_.str("");
    const auto finished = simulate_job(json_console_, options);
    EXPECT_TRUE(finished) << describe(finished.error().errors.front());
    return finished ? Json::parse(out_.str()) : Json();
  };
  const Json halving{{"type", "asha_promotion"}, {"min_resource", 1}};
  EXPECT_EQ(ran(halving, "prefix", "last")["best"], 0.7);
  EXPECT_EQ(ran(halving, "prefix", "best")["best"], 0.9);
  EXPECT_TRUE(ran(halving, "prefix", "last")["notes"].empty());
  const Json whole = ran({{"type", "none"}, {"early_end", true}}, "shrinkage", "last");
  EXPECT_EQ(whole["notes"].size(), 1U) << "of early_end alone: there are no rungs";
  EXPECT_NE(ran(halving, "shrinkage", "last")["notes"].dump().find("trainings of their own"), std::string::npos);
}

TEST_F(SimulateCommand, RunsAnExportedJobAgainWhateverItsNamesAreLike) {
  test::CannedServer server;
  auto api = std::move(ApiClient::create(server.url()).value());
  Json job = test::example_job();
  job["objective"] = {{"metric", "time"}, {"goal", "minimize"}};
  server.answer("GET /v1/jobs/7", job.dump());
  Json trials = Json::array();
  for (int number = 0; number < 3; ++number) {
    Json trial = test::example_trial(number, "completed");
    trial["configuration"] = {{"config", number + 1},
                              {"state", number == 0 ? "on" : "off"},
                              {"time_3", 0.5 * number},
                              {"seconds_per_unit", 2 * number}};
    trial["resource"] = 3;
    trial["segments"] = 1;
    trial["training_seconds"] = 6;
    trials.push_back(trial);
    const Json observations{test::example_observation(1, 5 - number), test::example_observation(3, 4 - number)};
    server.answer("GET /v1/jobs/7/trials/" + std::to_string(number) + "/observations",
                  Json{{"observations", observations}}.dump());
  }
  server.answer("GET /v1/jobs/7/trials?limit=1000", Json{{"trials", trials}, {"next", nullptr}}.dump());
  ExportOptions exported;
  exported.job = "7";
  exported.output = directory_ + "/exported.csv";
  exported.curves = true;
  ASSERT_TRUE(export_job({api, console_}, exported));
  EXPECT_EQ(test::read_text(exported.output),
            "config,state,seconds_per_unit,parameter:config,parameter:seconds_per_unit,parameter:state,parameter:time_3,"
            "metric:time_1,metric:time_3\n"
            "0,completed,2,1,0,on,0.0,5,4\n1,completed,2,2,2,off,0.5,4,3\n2,completed,2,3,4,off,1.0,3,2\n");

  SimulateOptions options;
  options.table = exported.output;
  options.in_order = true;
  const char* with_a_space = R"({"objective": {"goal": "minimize", "metric": "time"}, "search_space": {
      "config": {"type": "int", "min": 1, "max": 3}, "state": {"type": "categorical", "values": ["on", "off"]},
      "time_3": {"type": "float", "min": 0, "max": 1}, "seconds_per_unit": {"type": "int", "min": 0, "max": 4}}})";
  for (const char* text : {R"({"objective": {"goal": "minimize"}})", with_a_space}) {
    options.job_file = file("job.json", text);
    out_.str("");
    const auto finished = simulate_job(json_console_, options);
    ASSERT_TRUE(finished) << describe(finished.error().errors.front());
    const Json result = Json::parse(out_.str());
    EXPECT_EQ(result["metric"], "time");
    EXPECT_EQ(result["configurations"], 3);
    EXPECT_EQ(result["best"], 2);
    EXPECT_TRUE(result["notes"].empty()) << result["notes"];
  }
}

TEST_F(SimulateCommand, RunsAnExportedJobAgainAndSaysWhatWasNotMeasured) {
  test::CannedServer server;
  auto api = std::move(ApiClient::create(server.url()).value());
  Json job = test::example_job();
  job["state"] = "completed";
  job["max_resource"] = 9;
  server.answer("GET /v1/jobs/7", job.dump());
  Json trials = Json::array();
  for (int number = 0; number < 3; ++number) {
    Json trial = test::example_trial(number, number == 0 ? "completed" : "stopped");
    trial["configuration"] = {{"eta", 0.1 * (number + 1)}};
    trial["resource"] = number == 0 ? 9 : 3;
    trial["segments"] = number == 0 ? 2 : 1;
    trial["training_seconds"] = number == 0 ? 24 : 6;  // 3 units, and 9 from nothing
    trials.push_back(trial);
    Json observations = Json::array();
    for (const int resource : number == 0 ? std::vector<int>{3, 9} : std::vector<int>{3}) {
      observations.push_back(test::example_observation(resource, number == 2 ? Json("nan") : Json(0.5 + 0.01 * resource)));
    }
    server.answer("GET /v1/jobs/7/trials/" + std::to_string(number) + "/observations",
                  Json{{"observations", observations}}.dump());
  }
  server.answer("GET /v1/jobs/7/trials?limit=1000", Json{{"trials", trials}, {"next", nullptr}}.dump());
  server.answer("GET /v1/jobs/7/trials/0/segments",
                R"({"created_at": "2026-03-01T12:00:00Z", "workers": ["w"], "outcomes": ["reached_rung", "completed"],
                    "trial": [0, 0], "epoch": [7000001, 7000002], "attempt": [1, 1], "worker": [0, 0], "rank": [0, 0],
                    "from_resource": [0, 0], "until_resource": [3, 9], "resource": [3, 9], "began": [0, 6], "ended": [6, 24],
                    "outcome": [0, 1], "straight_on": [0, 0], "merged": 0, "workers_left_out": 0})");
  ExportOptions exported;
  exported.job = "7";
  exported.output = directory_ + "/exported.csv";
  exported.curves = true;
  const auto written = export_job({api, console_}, exported);
  ASSERT_TRUE(written) << describe(written.error().errors.front()) << server.requests().back();
  EXPECT_EQ(test::read_text(exported.output),
            "config,state,seconds_per_unit,eta,validation-auc_3,validation-auc_9\n"
            "0,completed,2,0.1,0.53,0.59\n1,stopped,2,0.2,0.53,\n2,stopped,2,0.30000000000000004,nan,\n");

  SimulateOptions options;
  options.table = exported.output;
  options.job_file = file("job.json", R"({"objective": {"goal": "maximize", "metric": "validation-auc"},
                                          "scheduler": {"type": "none", "max_resource": 9}})");
  options.in_order = true;
  const auto finished = simulate(options);
  ASSERT_TRUE(finished) << describe(finished.error().errors.front());
  EXPECT_NE(out_.str().find("\t2.0 trials"), std::string::npos) << out_.str();
  EXPECT_NE(err_.str().find("1 of 3 configurations were measured until 9"), std::string::npos) << err_.str();
  EXPECT_NE(err_.str().find("reported the value recorded before it"), std::string::npos);
}

}  // namespace tuneband::cli

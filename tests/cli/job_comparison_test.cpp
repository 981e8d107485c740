// What `tuneband compare` shows of several jobs.
#include "cli/terminal/job_comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/commands/commands.hpp"
#include "tests/cli/canned_server.hpp"
#include "tests/cli/examples.hpp"

namespace tuneband::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

ComparedJob job_of(const char* name, std::int64_t spent, std::vector<BestStep> steps, const char* document) {
  ComparedJob job;
  job.info.name = name;
  job.info.state = "completed";
  job.info.metric = "auc";
  job.info.resource_name = "rounds";
  job.info.resource_spent = spent;
  if (!steps.empty()) job.info.best = BestInfo{static_cast<int>(steps.back().trial), steps.back().value, 81, {}};
  job.best.steps = std::move(steps);
  job.document = Json::parse(document);
  return job;
}

std::vector<ComparedJob> two_jobs() {
  return {job_of("first", 400, {{90, 0.7, 0}, {100, 0.75, 1}, {399, 0.81, 7}},
                 R"({"name": "first", "limits": {"max_trials": 9}, "sampler": {"type": "tpe"}, "enqueue": [{"x": 1}]})"),
          job_of("second", 200, {{120, 0.78, 2}},
                 R"({"name": "second", "limits": {"max_trials": 9, "max_parallel_trials": 2}, "sampler": {"type": "random"},
                     "enqueue": [{"x": 2}]})")};
}

std::string printed(const std::vector<ComparedJob>& jobs, std::string* note = nullptr) {
  std::ostringstream out;
  std::ostringstream err;
  Console console(Terminal{}, out, err, false);
  print_comparison(console, jobs);
  if (note != nullptr) *note = err.str();
  return out.str();
}

TEST(JobComparison, TheBestIsTakenOnceSoMuchHadBeenTrained) {
  const std::vector<ComparedJob> jobs = two_jobs();
  EXPECT_THAT(costs_to_compare(jobs), ElementsAre(50, 100, 150, 200)) << "of the job that trained the least";
  EXPECT_EQ(value_at(jobs[0].best, 89), std::nullopt);
  EXPECT_EQ(value_at(jobs[0].best, 90), 0.7);
  EXPECT_EQ(value_at(jobs[0].best, 398), 0.75);
  EXPECT_EQ(value_at(jobs[0].best, 399), 0.81);
  EXPECT_THAT(costs_to_compare({job_of("new", 0, {}, "{}")}), ElementsAre());
  EXPECT_THAT(costs_to_compare({job_of("new", 3, {}, "{}")}), ElementsAre(1, 2, 3));
}

TEST(JobComparison, ShowsCostsAndWhatDiffersInTheDocuments) {
  EXPECT_EQ(printed(two_jobs()),
            "job\tstate\tauc\ttrial\ttrials\tstopped\trounds\ttraining\ttime\n"
            "first\tcompleted\t0.81\t7\t0\t0\t400\t0\t0\n"
            "second\tcompleted\t0.78\t2\t0\t0\t200\t0\t0\n"
            "\n"
            "best auc once so many rounds had been trained\n"
            "rounds\tfirst\tsecond\n"
            "50\t-\t-\n"
            "100\t0.75\t-\n"
            "150\t0.75\t0.78\n"
            "200\t0.75\t0.78\n"
            "\n"
            "where their documents differ\n"
            "field\tfirst\tsecond\n"
            "enqueue\t[{\"x\":1}]\t[{\"x\":2}]\n"
            "limits.max_parallel_trials\t-\t2\n"
            "sampler.type\ttpe\trandom\n");
}

TEST(JobComparison, EveryJobHasItsPlaceInATerminalOf80Columns) {
  std::vector<ComparedJob> jobs;
  for (const char* name : {"a-job-with-a-name", "another-one-with-a-name", "the-third-of-these-jobs"}) {
    Json document{{"search_space", {{"min_child_weight", {{"max", 9}}}}}, {"enqueue", std::string(60, name[0])}};
    jobs.push_back(job_of(name, 400, {{90, 0.7, 0}}, document.dump().c_str()));
  }
  jobs[0].document["trainer"]["parameters"]["a_rather_long_name"] = 1;
  std::ostringstream out;
  Console console(Terminal{.seen = true, .interactive = true, .width = 80}, out, out, false);
  print_comparison(console, jobs);
  const std::string text = out.str();
  EXPECT_THAT(text.substr(text.find("where their")), AllOf(HasSubstr("aaa..."), HasSubstr("ttt..."), Not(HasSubstr("widen"))));
}

TEST(JobComparison, TheBestOfThoseThatCanBeRankedStandsOut) {
  const auto marked = [](std::vector<ComparedJob> jobs, bool maximize) {
    for (ComparedJob& job : jobs) job.info.maximize = maximize;
    std::ostringstream out;
    Console console(Terminal{.seen = true, .interactive = true, .color = true}, out, out, false);
    print_comparison(console, jobs);
    return out.str();
  };
  EXPECT_THAT(marked(two_jobs(), true), HasSubstr("m0.81"));
  EXPECT_THAT(marked(two_jobs(), false), Not(HasSubstr("m0.81")));
  std::vector<ComparedJob> others = two_jobs();
  others[1].info.metric = "logloss";
  EXPECT_THAT(marked(others, true), Not(HasSubstr("m0.81")));
  std::string note;
  EXPECT_THAT(printed(others, &note), AllOf(Not(HasSubstr("once so many")), HasSubstr("second\tcompleted\tlogloss\t0.78")));
  EXPECT_THAT(note, HasSubstr("are not ranked"));
}

TEST(JobComparison, DocumentsThatAreTheSameButForTheNameDifferInNothing) {
  EXPECT_TRUE(compare_documents({Json{{"name", "a"}, {"x", 1}}, Json{{"name", "b"}, {"x", 1}}}).differences.empty());
  const auto differences = compare_documents({Json{{"x", nullptr}}, Json::object(), Json{{"x", nullptr}}}).differences;
  ASSERT_EQ(differences.size(), 1U) << "null is not the same as nothing";
  EXPECT_TRUE(differences[0].values[1].is_discarded());
}

TEST(JobComparison, WhatIsMaskedIsNotSaidToBeTheSame) {
  std::vector<ComparedJob> jobs = two_jobs();
  for (ComparedJob& job : jobs)
    job.document = Json::parse(R"({"trainer": {"environment": {"KEY": "********", "OTHER": {"file": "key"}}}})");
  std::string note;
  EXPECT_THAT(printed(jobs, &note), HasSubstr("are the same but for the name, as far as they are shown\n"));
  EXPECT_THAT(note, HasSubstr("not shown, so perhaps not the same: trainer.environment.KEY\n"));
  EXPECT_EQ(comparison_json(jobs).at("masked"), Json::array({"trainer.environment.KEY"}));
  jobs[1].document["trainer"]["environment"].erase("KEY");
  EXPECT_THAT(printed(jobs), AllOf(HasSubstr("trainer.environment.KEY\t********\t-\n"), Not(HasSubstr("as far as"))));
  EXPECT_EQ(comparison_json(jobs).at("masked"), Json::array());
}

std::string columns_of_one_trial() {
  Json columns = Json::parse(R"({"created_at": "2026-03-01T12:00:00Z", "states": ["completed"], "workers": ["w"], "trials": 1,
                                 "exit_classes": [], "enqueued": [], "more_objectives": [], "parameters": {}, "notes": {},
                                 "left_out": 0, "objective": [0.8], "objective_resource": [27], "resource": [27],
                                 "best_so_far": {"seconds": [0], "trial": [0], "value": [0.8], "resource": [27],
                                                 "resource_so_far": [27], "worker_seconds_so_far": [0]}})");
  for (const char* column : {"number", "state", "bracket", "rung", "until_resource", "kept_resource", "created", "started",
                             "arrived", "ended", "training_seconds", "attempts", "segments", "worker"}) {
    columns[column] = {0};
  }
  columns["kept_value"] = columns["resource_so_far"] = columns["worker_seconds_so_far"] = {nullptr};
  columns["exit_class"] = {-1};
  return columns.dump();
}

TEST(JobComparison, AsksTheServerForEachJobAndGivesJson) {
  test::CannedServer server;
  Json second = test::example_job();
  second["name"] = "another";
  second["best"]["test_value"] = 0.77;
  second["spec"]["scheduler"]["eta"] = 9;
  server.answer("GET /v1/jobs/7", test::example_job().dump());
  server.answer("GET /v1/jobs/another", second.dump());
  for (const std::string job : {"7", "another"}) {
    server.answer("GET /v1/jobs/" + job + "/columns?trials_max=20000", columns_of_one_trial());
  }
  ApiClient api = std::move(ApiClient::create(server.url()).value());
  std::ostringstream out;
  Console console(Terminal{}, out, out, true);
  ASSERT_TRUE(compare_jobs({api, console}, {"7", "another"}));
  const Json json = Json::parse(out.str());
  EXPECT_EQ(json["jobs"][1]["name"], "another");
  EXPECT_EQ(json["jobs"][0]["best_so_far"], Json::parse(R"([{"resource": 27.0, "value": 0.8, "trial": 0}])"));
  EXPECT_EQ(json["jobs"][0]["test_value"], nullptr);
  EXPECT_EQ(json["jobs"][1]["test_value"], 0.77);
  EXPECT_EQ(json["comparable"], true);
  EXPECT_EQ(json["differences"]["scheduler.eta"][1], 9);
  EXPECT_FALSE(compare_jobs({api, console}, {"7", "nobody"}));
}

}  // namespace
}  // namespace tuneband::cli

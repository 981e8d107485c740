// The commands against recorded replies, changed where a test needs what few servers say: a full queue, values that are not
// finite, text that means harm.
#include "cli/commands/commands.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/commands/watch.hpp"
#include "cli/terminal/interrupts.hpp"
#include "tests/cli/canned_server.hpp"
#include "tests/cli/examples.hpp"
#include "tests/text_files.hpp"

namespace tuneband::cli {

namespace {

using testing::HasSubstr;
using testing::Not;

class Commands : public testing::Test {
 protected:
  Commands() {
    server_.answer("GET /v1/jobs/7", test::example_job().dump());
    server_.answer("GET /v1/jobs/direct-marketing", test::example_job().dump());
    for (const std::string job : {"/v1/jobs/7", "/v1/jobs/direct-marketing"}) {
      for (const char* part : {"plan", "best", "summary"}) {
        server_.answer("GET " + job + "/" + part, test::recorded_reply(part).dump());
      }
      server_.answer("GET " + job + "/trials?state=failed&limit=1000", test::recorded_reply("trials_failed").dump());
    }
    std::filesystem::create_directories(directory_);
  }
  ~Commands() override { std::filesystem::remove_all(directory_); }

  static Json example_summary(Json job = test::example_job()) {
    Json summary = test::recorded_reply("summary");
    job.erase("spec");
    summary["job"] = std::move(job);
    return summary;
  }

  static Json job_of_two_objectives() {
    Json job = test::example_job();
    job["more_objectives"] = {{{"metric", "ms"}, {"goal", "minimize"}}};
    job["constraints"] = {{{"metric", "size"}, {"min", nullptr}, {"max", 10}}};
    return job;
  }

  // What `describe` writes of a job with this summary.
  std::string described(const Json& summary) {
    const std::string name = "described-" + std::to_string(++described_);
    server_.answer("GET /v1/jobs/" + name + "/summary", summary.dump());
    out_.str("");
    EXPECT_TRUE(describe_job(session(), name));
    return out_.str();
  }

  std::string write_job(const std::string& text) {
    const std::string path = directory_ + "/job.json";
    std::ofstream(path) << text;
    return path;
  }

  Session session() { return {api_, console_}; }

  test::CannedServer server_;
  ApiClient api_ = std::move(ApiClient::create(server_.url()).value());
  std::ostringstream out_;
  std::ostringstream err_;
  Console console_{Terminal{}, out_, err_, false};
  Console json_console_{Terminal{}, out_, err_, true};
  int described_ = 0;
  std::string directory_ = testing::TempDir() + "cli_commands_" + std::to_string(getpid());
};

}  // namespace

TEST_F(Commands, DescribeBeginsWithTheBestTrial) {
  ASSERT_TRUE(describe_job(session(), "direct-marketing"));
  const std::string expected =
      "job\t7\nname\tdirect-marketing\nbest\t0.7628\nmetric\tvalidation-auc\ntrial\t5\nrounds\t27\n"
      "eta\t0.07724933231857989\nmax_depth\t3\nrefit\tnum_boost_round=27 "
      "seed=1587718002\nmodel\t/data/jobs/7/trials/5/model.ubj\n";
  EXPECT_EQ(out_.str().substr(0, expected.size()), expected);
  EXPECT_NE(out_.str().find("saved\tearly stopping saved 156 of 234 rounds (67 %), about 0.25 s of training\n"),
            std::string::npos);
  EXPECT_NE(out_.str().find("failed\tout_of_memory: 2 trials, for example 4\n\tthe memory limit of 1 GB was reached\n"
                            "\tWith the rest as it is, max_depth 5 (trial 2 had it) would fit. "),
            std::string::npos);
  EXPECT_NE(
      out_.str().find("bracket\trung\trounds\tplanned\treached\tpromoted\tstopped\twaiting\tfailed\n0\t0\t3\t9\t8\t3\t5\t0\t1\n"),
      std::string::npos);
}

TEST_F(Commands, ARungForWhichNoNumberIsPlannedHasNone) {
  Json summary = example_summary();
  summary["plan"]["exact"] = false;
  for (Json& rung : summary["plan"]["actual"]) rung["planned"] = nullptr;
  EXPECT_THAT(described(summary), HasSubstr("\tfailed\n0\t0\t3\t-\t8\t3\t5\t0\t1\n"));
}

TEST_F(Commands, TheStarsOfDistributedTrialsAreExplainedInAPipeToo) {
  Json summary = example_summary();
  EXPECT_THAT(described(summary), Not(HasSubstr("nothing is both")));
  summary["replicas"]["totals"][0]["replicas"] = 2;
  EXPECT_THAT(described(summary), HasSubstr("\nreplicas\t* nothing is both better and faster\nreplicas\ttrials\t"));
}

TEST_F(Commands, DescribeNamesTheRulesThatFoundSomethingFailedOrJudgedNothing) {
  const auto rule = [](const char* name, const char* status, const char* details, const Json& some, const Json& example) {
    Json trials;
    for (const char* word : {"in_progress", "no_issues_found", "issues_found", "not_judged", "stopped", "error"})
      trials[word] = some.value(word, 0);
    return Json{{"rule", name},       {"type", "overfit"}, {"action", "note"},   {"status", status},
                {"details", details}, {"trials", trials},  {"example", example}, {"changed_at", nullptr}};
  };
  Json summary = example_summary();
  summary["rules"] = {rule("nan", "issues_found", "in 2 of 9 trials", {{"issues_found", 2}, {"not_judged", 7}}, 4),
                      rule("mine", "error", "in 9 of 9 trials; in trial 0: its process crashed", {{"error", 9}}, 0),
                      rule("deep", "not_judged", "in 9 of 9 trials; in trial 0: nothing that it looks at was saved (trees)",
                           {{"not_judged", 9}}, 0),
                      rule("never", "not_judged", "the job has no trials", {{"not_judged", 0}}, nullptr),
                      rule("partly", "no_issues_found", "so", {{"not_judged", 1}, {"no_issues_found", 8}}, 1),
                      rule("waits", "in_progress", "so", {{"in_progress", 2}, {"not_judged", 7}}, 8),
                      rule("one", "in_progress", "so", {{"in_progress", 2}, {"not_judged", 1}}, 8),
                      rule("goes_on", "in_progress", "so", {{"in_progress", 2}, {"not_judged", 1}, {"stopped", 1}}, 8)};
  const std::string text = described(summary);
  EXPECT_THAT(text, HasSubstr("found\tnan: 2 trials, for example 4\n"
                              "rule failed\tmine: in 9 of 9 trials; in trial 0: its process crashed\n"
                              "not judged\tdeep: in 9 of 9 trials; in trial 0: nothing that it looks at was saved (trees)\n"
                              "not judged\twaits: in no trial yet; 7 are over\n"
                              "not judged\tone: in no trial yet; 1 is over\n"));
  for (const char* quiet : {"never", "partly", "goes_on"}) EXPECT_THAT(text, Not(HasSubstr(quiet)));
}

TEST_F(Commands, TheBestValueIsThatOfTheModelWhichTheTrialKeeps) {
  Json summary = example_summary();
  summary["best"]["trial"]["kept_value"] = 0.8125;
  summary["best"]["trial"]["kept_resource"] = 5;
  EXPECT_THAT(described(example_summary()), Not(HasSubstr("kept\t")));
  EXPECT_THAT(described(summary), HasSubstr("best\t0.8125\nmetric\tvalidation-auc\ntrial\t5\nrounds\t27\nkept\t5\n"));
}

TEST_F(Commands, AValueOfALowerRungIsToldWhereItIsBetterThanTheBestTrials) {
  Json summary = example_summary();
  Json& objective = summary["best"]["trial"]["objective"];
  summary["job"]["best_anywhere"].update({{"value", 0.9}, {"trial", 3}, {"resource", 9}});
  const std::string told = "lower rung\t0.9 at 9 rounds, trial 3: better than any at 27 rounds\n";
  for (const Json& lower : {Json(0.8), Json("nan")}) {
    objective = lower;
    EXPECT_THAT(described(summary), HasSubstr(told));
  }
  objective = 0.95;
  EXPECT_THAT(described(summary), Not(HasSubstr("lower rung")));
}

TEST_F(Commands, AModelOfALowerRungIsToldWithTheLearningRateThatItWasTrainedWith) {
  Json summary = example_summary();
  summary["best"]["trial"]["refit"] = {
      {"rounds", 3}, {"parameters", {{"eta", 0.9779}, {"max_depth", 3}, {"seed", 7}}}, {"exact", true}};
  const std::string refit = "eta\t0.07724933231857989\nmax_depth\t3\nrefit\tnum_boost_round=3 eta=0.9779 seed=7";
  EXPECT_THAT(described(summary), HasSubstr(refit + "\n"));
  summary["best"]["trial"]["refit"]["exact"] = false;
  EXPECT_THAT(described(summary), HasSubstr(refit + ", with other draws\n"));
  summary["best"]["trial"].erase("refit");
  EXPECT_THAT(described(summary), Not(HasSubstr("refit"))) << "of a command";
}

TEST_F(Commands, ABestTrialThatEndedWithItsJobIsToldWithHowFarItCame) {
  Json summary = example_summary();
  summary["best"]["trial"].update({{"state", "cancelled"}, {"resource", 20}, {"kept_value", 0.8125}, {"kept_resource", 5}});
  EXPECT_THAT(described(example_summary()), HasSubstr("trial\t5\nrounds\t27\n"));
  EXPECT_THAT(described(summary), HasSubstr("trial\t5\nrounds\t20\nkept\t5\n"));
}

// On its way to a higher rung when its job ended: the value is that of the lower one.
TEST_F(Commands, ABestTrialThatWasCancelledOnItsWayIsToldWithTheRungOfItsValue) {
  Json summary = example_summary();
  summary["best"]["trial"].update({{"state", "cancelled"}, {"objective_resource", 9}, {"resource", 20}});
  EXPECT_THAT(described(summary), HasSubstr("trial\t5\nrounds\t9\n"));
}

TEST_F(Commands, TheBestIsToldWithItsStandardErrorAndItsValueOnTheTestRows) {
  Json summary = example_summary();
  summary["best"]["test_value"] = 0.7825;
  summary["best"]["trial"]["standard_error"] = 0.0125;
  EXPECT_THAT(described(example_summary()), Not(HasSubstr("test\t")));
  EXPECT_THAT(described(summary), HasSubstr("trial\t5\nrounds\t27\nstandard error\t0.0125\ntest\t0.7825\n"));
}

TEST_F(Commands, InATerminalImportanceIsOfferedWhereAResultCounts) {
  Console terminal(Terminal{.seen = true, .interactive = true}, out_, err_, false);
  const auto offers = [&](int violating) {
    Json summary = example_summary();
    summary["importance"] = {{"results", 20}, {"results_needed", 10}};
    summary["summary"].update({{"trials_measured", 20}, {"trials_not_finite", 5}, {"trials_violating", violating}});
    const std::string name = fmt::format("{}-violate", violating);
    server_.answer("GET /v1/jobs/" + name + "/summary", summary.dump());
    out_.str("");
    EXPECT_TRUE(describe_job({api_, terminal}, name));
    return out_.str().find("says which parameters matter") != std::string::npos;
  };
  EXPECT_TRUE(offers(14));
  EXPECT_FALSE(offers(15));
}

TEST_F(Commands, InATerminalTheStandardErrorHasTwoDigits) {
  Json summary = example_summary();
  summary["best"]["trial"]["standard_error"] = 0.0124567;
  server_.answer("GET /v1/jobs/sure/summary", summary.dump());
  Console terminal(Terminal{.seen = true, .interactive = true, .utf8 = true}, out_, err_, false);
  ASSERT_TRUE(describe_job({api_, terminal}, "sure"));
  EXPECT_THAT(out_.str(), HasSubstr(" ± 0.012  validation-auc"));
}

TEST_F(Commands, DescribeTellsWhatTheModelExpectsOfOneMoreTrial) {
  Json job = test::example_job();
  job["expected_improvement"] = 0.00125;
  EXPECT_THAT(described(example_summary()), Not(HasSubstr("the model expects")));
  EXPECT_THAT(described(example_summary(job)),
              HasSubstr("expected\tthe model expects one more trial to improve validation-auc by 0.00125\n"));
}

TEST_F(Commands, DescribeTellsWhatWasPlannedBesideWhatWasSpent) {
  const auto spent_of = [&](const char* plan) {
    Json summary = example_summary();
    summary["plan"].update(Json::parse(plan));
    const std::string text = described(summary);
    const std::size_t at = text.find("spent\t");
    return text.substr(at, text.find(" of training", at) - at);
  };
  const std::string spent = "spent\t" + std::to_string(test::example_job()["resource_spent"].get<int>()) + " rounds";
  const auto begins_with = [](const std::string& begin) { return testing::StartsWith(begin); };
  EXPECT_THAT(spent_of(R"({"trials": 30, "total_resource": 211, "exact": true})"), begins_with(spent + " of 211 planned, "));
  EXPECT_THAT(spent_of(R"({"trials": 30, "total_resource": 210, "exact": false})"),
              begins_with(spent + " of about 210 planned, "));
  EXPECT_THAT(spent_of(R"({"trials": 30, "total_resource": 210, "front_resource": 90, "exact": false})"),
              begins_with(spent + " of about 210 planned, or up to 300 with the fronts, "));
  EXPECT_THAT(spent_of(R"({"trials": null, "total_resource": 210})"), begins_with(spent + ", "));
}

TEST_F(Commands, DescribeTellsThatStoppingSavedNoTimeWhereToBeginAnewTookAsLong) {
  const Json job = test::example_job();
  Json summary = example_summary(job);
  summary["summary"]["training_seconds_saved"] = -0.2;
  EXPECT_THAT(described(summary), HasSubstr("saved 156 of 234 rounds (67 %), but no time: to begin anew took as long\n"));
}

TEST_F(Commands, DescribeTellsWhatTrainingAnewCostMoreThanStoppingSaved) {
  Json summary = example_summary();
  summary["summary"]["resource_saved"] = -533;
  summary["summary"]["resource_without_stopping"] = 243;
  EXPECT_THAT(described(summary),
              HasSubstr("early stopping saved nothing: 243 rounds without it, to train anew at each rung cost 533 more\n"));
}

TEST_F(Commands, DescribeTellsThatTheBestTrialsCrowdAtABound) {
  Json summary = example_summary();
  summary["crowded_bounds"] = {{{"parameter", "eta"}, {"end", "max"}, {"bound", 0.5}, {"trials", 29}, {"of", 30}}};
  EXPECT_THAT(described(example_summary()), Not(HasSubstr("bound\t")));
  EXPECT_THAT(described(summary), HasSubstr("bound\teta = 0.5, its max: 29 of the best 30 trials lie within 2 % of it\n"
                                            "\tBetter ones may lie beyond: consider a wider range.\n"));
}

TEST_F(Commands, DescribeCountsValuesThatAreNotFiniteAndAdvises) {
  const auto describe_with = [&](const std::string& name, const char* costs, bool best) {
    Json job = test::example_job();
    job["name"] = name;
    job["state"] = "failed";
    Json summary = example_summary(job);
    summary["summary"].update(Json::parse(costs));
    if (!best) summary["best"] = nullptr;
    return described(summary);
  };
  const std::string all =
      describe_with("nan", R"({"trials_measured": 12, "trials_not_finite": 12, "first_not_finite": 3})", false);
  EXPECT_NE(all.find("best\tnothing: no value is a finite number\n"
                     "not finite\tvalidation-auc is NaN or infinite in every trial that has a value: 12\n"
                     "\tAn auc is NaN when the validation data lacks one of the classes.\n"
                     "\t`tuneband logs nan 3` shows how such a trial went.\n"),
            std::string::npos)
      << all;
  const std::string some = describe_with("some", R"({"trials_measured": 12, "trials_not_finite": 2})", true);
  EXPECT_NE(some.find("not finite\tvalidation-auc is NaN or infinite in 2 of 12 trials; they rank last\n"), std::string::npos)
      << some;
}

TEST_F(Commands, DescribeSaysOnceInWordsWithWhatAJobFailed) {
  const auto described_as = [&](const char* state, const std::string& reason) {
    Json job = test::example_job();
    job["state"] = state;
    job["reason"] = reason;
    return described(example_summary(job));
  };
  const std::string message = example_summary()["failures"][0]["message"];
  const std::string line = "\t" + message + "\n";
  const std::string advice = example_summary()["failures"][0]["advice"];
  const std::string failed = described_as("failed", "5 trials in a row failed: " + message);
  EXPECT_THAT(failed, Not(HasSubstr(line)));
  EXPECT_THAT(failed, HasSubstr("\t" + advice + "\n")) << "the state did not say that";
  EXPECT_THAT(described_as("failed", "5 trials in a row failed: something else"), HasSubstr(line));
  EXPECT_THAT(described_as("completed", message), HasSubstr(line));
}

TEST_F(Commands, InATerminalDescribeSaysWhichLogShowsAFailure) {
  const std::string command = "logs direct-marketing " + example_summary()["failures"][0]["example"].dump();
  ASSERT_TRUE(describe_job(session(), "direct-marketing"));
  EXPECT_THAT(out_.str(), Not(HasSubstr(command)));
  Console terminal(Terminal{.seen = true, .interactive = true}, out_, err_, false);
  ASSERT_TRUE(describe_job({api_, terminal}, "direct-marketing"));
  EXPECT_THAT(out_.str(), HasSubstr("`tuneband " + command + "` shows what it printed\n"));
}

TEST_F(Commands, DescribeTellsTheConstraintsAndHowManyTrialsMeetThem) {
  const auto describe_with = [&](const char* state, const char* costs, bool best) {
    Json job = job_of_two_objectives();
    job["state"] = state;
    job["constraints"].push_back({{"metric", "recall"}, {"min", 0.8}, {"max", nullptr}});
    job["constraints"].push_back({{"metric", "depth"}, {"min", 1}, {"max", 2.5}});
    Json summary = example_summary(job);
    summary["summary"].update(Json::parse(costs));
    if (!best) summary["best"] = nullptr;
    return described(summary);
  };
  const std::string some = describe_with("running", R"({"trials_measured": 12, "trials_violating": 5})", true);
  EXPECT_THAT(some, HasSubstr("\nwithin\tsize at most 10, recall at least 0.8 and depth from 1 to 2.5: 7 of 12 trials\n"));
  const char* all = R"({"trials_measured": 12, "trials_not_finite": 3, "trials_violating": 12})";
  EXPECT_THAT(describe_with("failed", all, false), HasSubstr("best\tnothing: no trial meets the constraints\n"));
  EXPECT_THAT(describe_with("running", all, false), HasSubstr("best\tnothing yet: no trial meets the constraints\n"));
  const char* none = R"({"trials_measured": 0, "trials_violating": 0})";
  EXPECT_THAT(describe_with("running", none, false), HasSubstr("best\tnothing yet: no trial has a value\n"));
}

TEST_F(Commands, BestOfAJobThatNoTrialKeepsWithinItsConstraintsSaysSo) {
  server_.answer_anything("GET /v1/jobs/8", job_of_two_objectives().dump());
  server_.answer("GET /v1/jobs/8/best", test::recorded_reply("best_of_none").dump(), 404);
  const auto finished = show_best(session(), "8");
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().errors[0].message, "no trial of direct-marketing has a value that meets the constraints");
}

TEST_F(Commands, DescribeTellsWhatTrialsWaitFor) {
  Json job = test::example_job();
  job["waiting"] = {{"no free worker", 2}, {"rung not full", 1}};
  EXPECT_THAT(described(example_summary(job)), HasSubstr("waiting\t2 trials: no free worker\n\t1 trial: rung not full\n"));
}

TEST_F(Commands, DescribeTellsAJobsPlaceInTheQueueAndThatNothingOfItHasRunYet) {
  const auto describe_at = [&](const Json& place, int created) {
    Json job = test::example_job();
    job["queue_position"] = place;
    job["trials"]["created"] = created;
    return described(example_summary(job));
  };
  const std::string waits = describe_at(3, 0);
  EXPECT_THAT(waits, HasSubstr("state\tqueued\n"));
  EXPECT_THAT(waits, HasSubstr("queue\tplace 3 for the next free worker (time used, by weight)\n"));
  EXPECT_THAT(describe_at(1, 0), HasSubstr("queue\tplace 1 "));
  const std::string runs = describe_at(2, 12);
  EXPECT_THAT(runs, HasSubstr("state\trunning\n"));
  EXPECT_THAT(runs, HasSubstr("queue\tplace 2 "));
  EXPECT_THAT(describe_at(1, 12), Not(HasSubstr("queue\t"))) << "it runs, and nobody is before it";
  EXPECT_THAT(describe_at(nullptr, 12), Not(HasSubstr("queue\t")));
}

TEST_F(Commands, DescribeInJsonIsTheSummaryWithTheDocument) {
  Json job = test::example_job();
  server_.answer("GET /v1/jobs/7", job.dump());
  server_.answer("GET /v1/jobs/7", job.dump());
  ASSERT_TRUE(describe_job({api_, json_console_}, "7"));
  const Json printed = Json::parse(out_.str());
  EXPECT_EQ(printed["failures"][0]["trials"], 2);
  EXPECT_EQ(printed["summary"]["resource_saved"], 156);
  EXPECT_EQ(printed["job"]["name"], "direct-marketing");
  const auto plotted = describe_job({api_, json_console_}, "7", true);
  ASSERT_FALSE(plotted);
  EXPECT_EQ(plotted.error().errors[0].path, "--plot");
  EXPECT_EQ(plotted.error().errors[0].hint, "`tuneband export 7 --json` has the best so far in numbers");
}

// What a terminal would act on, in what a command has printed.
std::string steering_in(const std::string& printed) {
  for (const char* bytes : {"\x1b", "\x07", "\x7f", "\x9b", "\u202e", "\u2066", "\r"}) {
    if (printed.find(bytes) != std::string::npos) return Json(bytes).dump(-1, ' ', true, Json::error_handler_t::replace);
  }
  return "";
}

TEST_F(Commands, NoCommandLetsTextOfOthersSteerATerminal) {
  const std::string evil = "x\x1b]0;owned\x07\u009b31m\u202ey\u2066\x7f\r";
  Json job = test::example_job();
  job["name"] = job["metric"] = job["reason"] = job["scheduler"] = evil;
  Json trial = test::example_trial(11, "completed");
  trial["worker"] = trial["message"] = trial["configuration"]["eta"] = evil;
  const std::string at = "/v1/jobs/evil";
  server_.answer_anything("GET " + at, job.dump());
  server_.answer_anything("GET " + at + "/summary", example_summary(job).dump());
  server_.answer_anything("GET " + at + "/best", Json{{"trial", trial}, {"model", evil}}.dump());
  server_.answer_anything("GET " + at + "/analytics", Json{{"summary", Json::object()}, {"evil", evil}}.dump());
  server_.answer_anything("GET " + at + "/analytics?format=csv", "number\n" + evil + "\n");
  server_.answer_anything("GET " + at + "/trials?limit=1000", Json{{"trials", {trial}}, {"next", nullptr}}.dump());
  server_.answer_anything("GET " + at + "/trials?sort=number&limit=1000", Json{{"trials", {trial}}, {"next", nullptr}}.dump());
  server_.answer_anything("GET " + at + "/trials/11/log", evil + "\x9b\n");
  server_.answer_anything("GET /v1/jobs?limit=1000", Json{{"jobs", {job}}, {"next", nullptr}}.dump());
  server_.answer_anything("GET /v1/workers",
                          Json{{"workers", {{{"id", evil}, {"name", evil}, {"state", evil}, {"host", evil}}}}}.dump());
  server_.answer_anything("DELETE /v1/jobs/7",
                          Json{{"error", {{"code", "conflict"}, {"message", evil}, {"path", evil}, {"hint", evil}}}}.dump(), 409);
  for (const bool interactive : {true, false}) {
    for (const bool json : {true, false}) {
      Console console(Terminal{.seen = true, .interactive = interactive, .utf8 = true}, out_, err_, json);
      const Session seen{api_, console};
      out_.str("");
      err_.str("");
      ASSERT_TRUE(tuneband::cli::list_jobs(seen, {}));
      ASSERT_TRUE(describe_job(seen, "evil"));
      ASSERT_TRUE(show_best(seen, "evil"));
      ASSERT_TRUE(tuneband::cli::list_trials(seen, {.job = "evil", .state = ""}));
      ASSERT_TRUE(tuneband::cli::list_workers(seen));
      ASSERT_TRUE(show_log(seen, {.job = "evil", .trial = 11}));
      ASSERT_TRUE(export_job(seen, {.job = "evil", .output = "", .csv = !json}));
      const auto refused = delete_job(seen, "evil");
      ASSERT_FALSE(refused);
      console.report(refused.error());
      EXPECT_NE(out_.str().find("owned"), std::string::npos);
      EXPECT_NE(err_.str().find("owned"), std::string::npos);
      EXPECT_EQ(steering_in(out_.str()), "") << interactive << json << out_.str();
      EXPECT_EQ(steering_in(err_.str()), "") << interactive << json;
    }
  }
}

TEST_F(Commands, APipeGetsALogAndAnExportByteForByte) {
  const std::string raw = "\x1b[31mred\r\n\xff";
  server_.answer("GET /v1/jobs/7/trials/3/log", raw);
  server_.answer("GET /v1/jobs/7/analytics?format=csv", raw);
  ASSERT_TRUE(show_log(session(), {.job = "7", .trial = 3}));
  ASSERT_TRUE(export_job(session(), {.job = "7", .output = "", .csv = true}));
  EXPECT_EQ(out_.str(), raw + raw);
}

TEST_F(Commands, BestInJsonIsWhatTheServerSaid) {
  ASSERT_TRUE(show_best({api_, json_console_}, "7"));
  const Json printed = Json::parse(out_.str());
  EXPECT_EQ(printed["model"], "/data/jobs/7/trials/5/model.ubj");
  EXPECT_EQ(printed["trial"]["number"], 5);
}

TEST_F(Commands, BestOfAJobWithoutAValueSaysSo) {
  Json job = test::recorded_reply("job_new");
  job["name"] = "fresh";
  server_.answer("GET /v1/jobs/fresh", job.dump());
  server_.answer("GET /v1/jobs/fresh/best", test::recorded_reply("best_of_none").dump(), 404);
  const auto finished = show_best(session(), "fresh");
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().exit_status, kExitBadInput);
  EXPECT_EQ(finished.error().errors[0].message, "no trial of fresh has a value yet");
}

TEST_F(Commands, ListFollowsThePages) {
  Json first = test::recorded_reply("jobs");
  first["next"] = "a b";  // whatever a cursor is like
  server_.answer("GET /v1/jobs?limit=1000", first.dump());
  server_.answer("GET /v1/jobs?limit=1000&after=a%20b", test::recorded_reply("jobs_next").dump());
  ASSERT_TRUE(list_jobs(session(), {}));
  EXPECT_EQ(out_.str().substr(0, out_.str().find('\n')), "id\tname\tstate\ttrials\tbest\tmetric\tscheduler\tsubmitted");
  EXPECT_NE(out_.str().find("\n7\tdirect-marketing\trunning\t10/17\t0.7628\tvalidation-auc\thyperband\t"), std::string::npos);
  EXPECT_NE(out_.str().find("\n1\tearlier-1\t"), std::string::npos);
}

TEST_F(Commands, TrialsHaveAColumnForEachParameter) {
  server_.answer("GET /v1/jobs/7/trials?sort=objective&state=stopped%2Ccompleted&limit=2",
                 test::recorded_reply("trials_best").dump());
  ASSERT_TRUE(list_trials(session(), {"7", "stopped,completed", "objective", 2}));
  EXPECT_EQ(out_.str(),
            "trial\tstate\tbracket\trung\tresource\tobjective\teta\tmax_depth\ttraining\tqueued\tattempts\tworker\n"
            "5\tcompleted\t0\t2\t27\t0.7628\t0.07724933231857989\t3\t1.56\t0.25\t1\tlocal-1\n"
            "2\tstopped\t0\t1\t9\t0.7476\t0.0594869238111321\t5\t0.48\t0.25\t1\tlocal-2\n");
}

TEST_F(Commands, TrialsHaveAColumnForWhatTheyKeepWhereTheyDo) {
  Json trials = test::recorded_reply("trials_best");
  trials["trials"][0]["kept_value"] = 0.77;
  server_.answer("GET /v1/jobs/7/trials?sort=objective&limit=2", trials.dump());
  ASSERT_TRUE(list_trials(session(), {"7", "", "objective", 2}));
  EXPECT_THAT(out_.str(), HasSubstr("\tresource\tobjective\tkept\teta\t"));
  EXPECT_THAT(out_.str(), HasSubstr("\t27\t0.7628\t0.77\t0.07724933231857989\t"));
  EXPECT_THAT(out_.str(), HasSubstr("\t9\t0.7476\t-\t0.0594869238111321\t"));
}

TEST_F(Commands, OfSeveralObjectivesEachHasAColumnByItsNameAndConstraintsHaveOne) {
  server_.answer_anything("GET /v1/jobs/8", job_of_two_objectives().dump());
  Json trials = test::recorded_reply("trials_best");
  Json& some = trials["trials"];
  some[0]["more_objectives"] = {12.5};
  some[0]["violation"] = 0.25;
  some[1]["objective"] = nullptr;
  server_.answer_anything("GET /v1/jobs/8/trials?sort=objective&limit=2", trials.dump());
  ASSERT_TRUE(list_trials(session(), {"8", "", "objective", 2}));
  EXPECT_EQ(
      out_.str(),
      "trial\tstate\tbracket\trung\tresource\tvalidation-auc\tms\tviolation\teta\tmax_depth\ttraining\tqueued\tattempts\tworker\n"
      "5\tcompleted\t0\t2\t27\t0.7628\t12.5\t0.25\t0.07724933231857989\t3\t1.56\t0.25\t1\tlocal-1\n"
      "2\tstopped\t0\t1\t9\t-\t-\t-\t0.0594869238111321\t5\t0.48\t0.25\t1\tlocal-2\n");
}

TEST_F(Commands, TheBestOfSeveralObjectivesIsShownWithAllOfThem) {
  server_.answer_anything("GET /v1/jobs/8", job_of_two_objectives().dump());
  Json best = test::recorded_reply("best");
  best["trial"]["more_objectives"] = {12.5};
  server_.answer_anything("GET /v1/jobs/8/best", best.dump());
  ASSERT_TRUE(show_best(session(), "8"));
  EXPECT_NE(out_.str().find("metric\tvalidation-auc\nobjective.ms\t12.5\ntrial\t5\n"), std::string::npos) << out_.str();
  out_.str("");
  Console terminal(Terminal{.seen = true, .interactive = true}, out_, err_, false);
  ASSERT_TRUE(show_best({api_, terminal}, "8"));
  EXPECT_NE(out_.str().find("validation-auc, trial 5 at 27 rounds\n           12.5  ms\n"), std::string::npos) << out_.str();
}

TEST_F(Commands, SubmitSendsTheDocumentAsItIsAndWhereItLies) {
  const std::string path = write_job(R"({"name": "direct-marketing"})");
  server_.answer("POST /v1/jobs?base_dir=" + percent_encoded(directory_),
                 test::example_created(test::example_job(),
                                       {{{"path", "trainer.data"}, {"message", "has no header"}, {"hint", "set header"}}})
                     .dump(),
                 201);
  ASSERT_TRUE(submit(session(), {path, false}));
  EXPECT_EQ(server_.last_body(), R"({"name": "direct-marketing"})");
  EXPECT_EQ(out_.str(), std::string("direct-marketing is job 7: hyperband, 17 trials planned, at most 27 rounds each\n") +
                            test::kExampleCapacity);
  EXPECT_EQ(err_.str(), "tuneband: warning: trainer.data: has no header (set header)\ntuneband: to look at it: " +
                            dashboard_address(server_.url(), "direct-marketing") + "\n");
}

TEST_F(Commands, SubmitSendsTheDocumentWithWhatIsSetInIt) {
  const std::string path =
      write_job(R"({"name": "direct-marketing", "weight": 2, "limits": {"max_trials": 30, "max_attempts": 1}})");
  server_.answer("POST /v1/jobs?base_dir=" + percent_encoded(directory_), test::example_created(test::example_job()).dump(), 201);
  ASSERT_TRUE(submit(session(), {.job_file = path, .changes = {"name=quick", "limits.max_trials=5", "weight=null"}}));
  EXPECT_EQ(server_.last_body(), R"({"limits":{"max_attempts":1,"max_trials":5},"name":"quick"})");
  for (const char* unreadable : {"weight", "name=\xff", "\xff=1"}) {
    const auto refused = submit(session(), {.job_file = path, .changes = {unreadable}});
    ASSERT_FALSE(refused) << unreadable;
    EXPECT_EQ(refused.error().errors[0].path, "--set");
  }
}

TEST_F(Commands, TheAddressOfAJobsPageIsByItsName) {
  server_.answer("GET /v1/jobs/7", test::example_job().dump());
  ASSERT_TRUE(open_dashboard({api_, json_console_}, "7"));
  EXPECT_EQ(Json::parse(out_.str()), Json({{"url", server_.url() + "/#/jobs/direct-marketing"}}));
  out_.str("");
  ASSERT_TRUE(open_dashboard(session(), "7"));
  EXPECT_EQ(out_.str(), server_.url() + "/#/jobs/direct-marketing\n");
}

TEST_F(Commands, AReportHasTheServersAnswersAndNothingInThemIsMarkup) {
  server_.answer("GET /v1/jobs/7", test::example_job().dump());
  server_.answer("GET /v1/jobs/direct-marketing/notes", R"({"text": "</script><b>"})");
  server_.answer("GET /v1/jobs/direct-marketing/trials?sort=objective&limit=1", R"({"trials": [], "next": null})");
  server_.answer("GET /assets/report.json",
                 R"({"routes": ["/notes", "/none"], "trial_routes": [""], "trials_max": 1, "surface_parameters_max": 2,
                     "page": "<p>@recorded@</p>"})");
  const std::string path = directory_ + "/report.html";
  ASSERT_TRUE(write_report({api_, json_console_}, {"7", path}));
  EXPECT_EQ(Json::parse(out_.str()), Json({{"report", path}}));
  ASSERT_TRUE(write_report(session(), {"7", path}));
  EXPECT_EQ(test::read_text(path), R"(<p>{"job":"direct-marketing","replies":)"
                                   R"({"/v1/jobs/direct-marketing/notes":{"text":"\u003c/script>\u003cb>"}}}</p>)");
  server_.answer_anything("GET /v1/jobs/direct-marketing/none",
                          R"({"error": {"code": "unavailable", "message": "too many reads", "path": "", "hint": ""}})", 503);
  const std::string holed = directory_ + "/holed.html";
  EXPECT_EQ(write_report(session(), {"7", holed}).error().exit_status, kExitUnreachable);
  EXPECT_FALSE(std::filesystem::exists(holed));
}

// Of the best trial and of the one in which a rule found something; a curve has 32 bytes, and there is room for three.
TEST_F(Commands, AReportHasCurvesOfTensorsOfEveryTrialFirstWhatWasFoundWhileThereIsRoom) {
  const std::string at = "/v1/jobs/direct-marketing";
  server_.answer("GET /v1/jobs/7", test::example_job().dump());
  Json trials = test::recorded_reply("trials_best");
  trials["next"] = nullptr;
  trials["trials"].erase(1);
  const std::string best = std::to_string(trials["trials"][0]["number"].get<int>());
  server_.answer("GET " + at + "/trials?sort=objective&limit=1", trials.dump());
  const Json finding = {
      {"trial", 3},        {"rule", "r"},   {"tensor", "z/b"}, {"step", 1},        {"value", 1},
      {"threshold", 1},    {"message", ""}, {"remedy", ""},    {"action", "note"}, {"at", "2026-03-01T12:00:00.000Z"},
      {"webhook", nullptr}};
  const auto tensor = [](const std::string& name) {
    return Json{{"name", name},
                {"collection", "z"},
                {"scalar", true},
                {"dtype", "float64"},
                {"shape", Json::array()},
                {"whole", false},
                {"steps", 1},
                {"first_step", 1},
                {"last_step", 1},
                {"mode", name == "z/b" ? Json("train") : Json()}};
  };
  const Json saved = {{"rank", 0},
                      {"ranks", Json::array({0})},
                      {"dropped", {{"rows", 0}, {"bytes", 0}}},
                      {"steps", {{"first", 1}, {"last", 1}, {"count", 1}}},
                      {"tensors", {tensor("metrics/validation-auc"), tensor("z/a"), tensor("z/b")}}};
  server_.answer("GET " + at + "/findings", Json{{"findings", {finding}}}.dump());
  for (const std::string& trial : {best, std::string("3")}) {
    server_.answer("GET " + at + "/trials/" + trial + "/tensors?rank=0", saved.dump());
    server_.answer("GET " + at + "/trials/" + trial + "/findings",
                   Json{{"findings", trial == "3" ? Json::array({finding}) : Json::array()}}.dump());
    for (const char* name : {"metrics%2Fvalidation-auc&mode=none", "z%2Fa&mode=none", "z%2Fb&mode=train"})
      server_.answer("GET " + at + "/trials/" + trial + "/tensors/series?name=" + name + "&rank=0",
                     R"({"name":"x","rank":0,"steps":[]})");
  }
  server_.answer("GET /assets/report.json", R"({"routes": [], "trial_routes": [], "trials_max": 1, "surface_parameters_max": 0,
                     "tensor_bytes_max": 110, "page": "@recorded@"})");
  const std::string path = directory_ + "/report.html";
  ASSERT_TRUE(write_report(session(), {"7", path}));
  std::ifstream file(path);
  const Json replies = Json::parse(file).at("replies");
  std::vector<std::string> curves;
  for (const auto& [route, reply] : replies.items()) {
    if (route.find("series") != std::string::npos) curves.push_back(route.substr(at.size()));
  }
  EXPECT_THAT(curves,
              testing::UnorderedElementsAre("/trials/" + best + "/tensors/series?name=metrics%2Fvalidation-auc&mode=none&rank=0",
                                            "/trials/3/tensors/series?name=z%2Fb&mode=train&rank=0",
                                            "/trials/" + best + "/tensors/series?name=z%2Fa&mode=none&rank=0"));
}

TEST_F(Commands, AReportHasTheModelOverEachTwoOfTheParametersThatMatterMost) {
  server_.answer("GET /v1/jobs/7", test::example_job().dump());
  Json importance = Json::parse(R"({"resource": 27, "trials": 30, "explained": 0.8, "interactions": [], "dependence": []})");
  for (const char* name : {"eta", "a b", "rest"}) {
    importance["parameters"].push_back({{"parameter", name}, {"share", 0.2}, {"deviation", 0.1}});
  }
  server_.answer("GET /v1/jobs/direct-marketing/importance", Json{{"importance", importance}}.dump());
  server_.answer("GET /v1/jobs/direct-marketing/surface?x=eta&y=a%20b", R"({"surface": null})");
  server_.answer("GET /v1/jobs/direct-marketing/trials?sort=objective&limit=1", R"({"trials": [], "next": null})");
  server_.answer("GET /assets/report.json", R"({"routes": ["/importance"], "trial_routes": [], "trials_max": 1,
                     "surface_parameters_max": 2, "page": "@recorded@"})");
  const std::string path = directory_ + "/report.html";
  ASSERT_TRUE(write_report(session(), {"7", path}));
  std::ifstream file(path);
  const Json replies = Json::parse(file).at("replies");
  EXPECT_EQ(replies.size(), 2U);
  EXPECT_EQ(replies.at("/v1/jobs/direct-marketing/surface?x=eta&y=a%20b").at("surface"), nullptr);
}

TEST_F(Commands, SubmittingTheSameAgainSaysSo) {
  const std::string path = write_job(R"({"name": "direct-marketing"})");
  server_.answer("POST /v1/jobs?base_dir=" + percent_encoded(directory_), test::recorded_reply("created_before").dump());
  ASSERT_TRUE(submit(session(), {path, false}));
  EXPECT_EQ(out_.str(), "direct-marketing is job 7, submitted before: running\n");
}

TEST_F(Commands, WaitingShowsChangesThenTheResultAndTheStatusOfTheJob) {
  Json running = test::example_job();
  running["id"] = 8;
  Json ended = test::recorded_reply("job_failed");
  ended["id"] = 8;
  const std::string path = write_job(R"({"name": "x"})");
  server_.answer("POST /v1/jobs?base_dir=" + percent_encoded(directory_), test::example_created(running).dump(), 201);
  server_.answer("GET /v1/jobs/8", running.dump());
  server_.answer("GET /v1/jobs/8", ended.dump());
  server_.answer("GET /v1/jobs/8/plan", test::recorded_reply("plan").dump());
  server_.answer("GET /v1/jobs/8/summary", test::recorded_reply("summary_failed").dump());
  server_.answer("GET /v1/jobs/8/events", "event: job\ndata: {}\n\n");
  server_.answer("GET /v1/jobs/8/trials?state=running&limit=8", R"({"trials": [], "next": null})");
  server_.answer("GET /v1/jobs/8/trials?state=failed&limit=1000",
                 Json{{"trials", {test::failed_trial(4, "crashed")}}, {"next", nullptr}}.dump());
  const auto finished = submit(session(), {path, true});
  ASSERT_TRUE(finished) << describe(finished.error().errors[0]);
  EXPECT_EQ(*finished, kExitFailed);
  EXPECT_NE(out_.str().find("trial 4 failed (crashed)"), std::string::npos) << out_.str();
  EXPECT_NE(out_.str().find("failed: " + ended["reason"].get<std::string>() + "\n"), std::string::npos) << out_.str();
  EXPECT_EQ(out_.str().find('\x1b'), std::string::npos);
}

TEST_F(Commands, AJobLikeAnotherIsSubmittedUnderTheFirstFreeName) {
  server_.answer("GET /v1/jobs/direct-marketing-2", test::example_job().dump());
  Json created = test::example_job();
  created["id"] = 9;
  created["name"] = "direct-marketing-3";
  server_.answer("POST /v1/jobs?like=7", test::example_created(created).dump(), 201);
  const auto finished = submit(session(), {.like = "direct-marketing", .max_trials = "+50"});
  ASSERT_TRUE(finished) << describe(finished.error().errors[0]);
  EXPECT_EQ(Json::parse(server_.last_body()),
            Json::parse(
                R"({"name": "direct-marketing-3", "limits": {"max_trials": 50}, "warm_start": ["direct-marketing"],
                           "sampler": {"seed": null}})"));
  EXPECT_EQ(out_.str(), std::string("direct-marketing-3 is job 9: hyperband, 17 trials planned, at most 27 rounds each\n") +
                            test::kExampleCapacity);
}

TEST_F(Commands, AJobLikeAnotherHasTheNameThatIsSet) {
  Json created = test::example_job();
  created["id"] = 9;
  server_.answer("POST /v1/jobs?like=7", test::example_created(created).dump(), 201);
  ASSERT_TRUE(submit(session(), {.like = "direct-marketing", .changes = {"name=mine"}}));
  EXPECT_EQ(Json::parse(server_.last_body()).at("name"), "mine");
  const auto twice = submit(session(), {.like = "direct-marketing", .name = "other", .changes = {"name=mine"}});
  ASSERT_FALSE(twice);
  EXPECT_EQ(describe(twice.error().errors[0]), "--name: the name is said twice (leave out --set name=...)");
}

TEST_F(Commands, WatchShowsAJobByItsNameUntilItEnds) {
  Json ended = test::example_job();
  ended["state"] = "completed";
  server_.answer("GET /v1/jobs/direct-marketing", ended.dump());
  server_.answer("GET /v1/jobs/7", ended.dump());
  server_.answer("GET /v1/jobs/7/events", "event: job\ndata: {}\n\n");
  server_.answer("GET /v1/jobs/7/trials?state=running&limit=8", R"({"trials": [], "next": null})");
  const auto finished = watch(session(), "direct-marketing");
  ASSERT_TRUE(finished) << describe(finished.error().errors[0]);
  EXPECT_EQ(*finished, kExitOk);
  EXPECT_NE(out_.str().find("completed"), std::string::npos) << out_.str();
  EXPECT_NE(out_.str().find("\nmodel\t/data/jobs/7/trials/5/model.ubj\n"), std::string::npos)
      << "the result comes last: " << out_.str();
  EXPECT_FALSE(watch(session(), "nobody"));
}

TEST_F(Commands, WatchWaitsForAServerThatIsAwayWhenItStartsAsForOneThatGoesLater) {
  const std::string away = R"({"error": {"code": "unavailable", "message": "the server is going down"}})";
  Json ended = test::example_job();
  ended["state"] = "completed";
  server_.answer_anything("GET /v1/jobs/late", away, 503);
  server_.answer("GET /v1/jobs/late", ended.dump());
  server_.answer_anything("GET /v1/jobs/7", away, 503);
  server_.answer("GET /v1/jobs/7", ended.dump());
  server_.answer("GET /v1/jobs/7/events", "event: job\ndata: {}\n\n");
  server_.answer("GET /v1/jobs/7/trials?state=running&limit=8", R"({"trials": [], "next": null})");
  const auto finished = watch({api_, json_console_}, "late");
  ASSERT_TRUE(finished) << describe(finished.error().errors[0]);
  EXPECT_EQ(*finished, kExitOk);
  EXPECT_EQ(err_.str(),
            "tuneband: the server is going down: waiting for it, for up to 60 s\n"
            "tuneband: the server does not answer: waiting for it\n");
  EXPECT_EQ(Json::parse(out_.str()).at("job").at("state"), "running") << "the summary, and nothing beside it";
}

TEST_F(Commands, AServerThatStaysAwayIsNotWaitedForWithoutEnd) {
  server_.answer_anything("GET /v1/jobs/away", "", 503);
  const auto found = find_job(session(), "away", {.server_gone_max_ms = -1});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().exit_status, kExitUnreachable);
  EXPECT_EQ(err_.str(), "");
}

TEST_F(Commands, EveryFaultOfADocumentIsALine) {
  const std::string path = write_job(R"({"name": "x"})");
  server_.answer("POST /v1/jobs?base_dir=" + percent_encoded(directory_), test::recorded_reply("refused").dump(), 400);
  const auto finished = submit(session(), {path, false});
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().exit_status, kExitBadInput);
  console_.report(finished.error());
  EXPECT_EQ(err_.str(),
            "tuneband: search_space.max_depth.max: expected more than min (2), got 1\n"
            "tuneband: limits.max_trial: unknown field (did you mean `max_trials`?)\n");
}

TEST_F(Commands, FilesThatCannotBeJobsAreSaidSoWithTheirName) {
  const auto missing = submit(session(), {directory_ + "/none.json", false});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().errors[0].path, directory_ + "/none.json");
  EXPECT_EQ(missing.error().errors[0].message, "cannot be read: No such file or directory");
  const auto folder = submit(session(), {directory_, false});
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().errors[0].message, "is a directory");
  const auto broken = submit(session(), {write_job("{"), false});
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().errors[0].message.substr(0, 14), "not valid JSON");
}

namespace {

Json worker_that_lacks(const char* name, const char* state, const Json& job, const char* lacked) {
  return {{"name", name}, {"state", state}, {"lacks", {{{"job", job}, {"what", "data"}, {"message", lacked}}}}};
}

}  // namespace

TEST_F(Commands, WorkersWhoseMachinesLackSomethingAreNamedWithItAndByDescribeWhereTheJobGoesOn) {
  const Json workers{worker_that_lacks("a", "idle", 7, "no a.csv"), worker_that_lacks("b", "idle", 8, "no b.csv"),
                     worker_that_lacks("c", "idle", nullptr, "no mount"), worker_that_lacks("d", "draining", 7, "it ends")};
  server_.answer_anything("GET /v1/workers", Json{{"workers", workers}}.dump());
  ASSERT_TRUE(list_workers(session()));
  EXPECT_THAT(out_.str(), HasSubstr("a is given nothing of job 7: no a.csv\n"));
  EXPECT_THAT(out_.str(), HasSubstr("c is given nothing of any job: no mount\n"));
  Json job = test::example_job();
  EXPECT_THAT(described(example_summary(job)),
              HasSubstr("workers\t2 of 3 workers cannot run it now\n\ta: no a.csv\n\tc: no mount\n"));
  job["state"] = "completed";
  EXPECT_THAT(described(example_summary(job)), Not(HasSubstr("cannot run it"))) << "it has ended";
}

TEST_F(Commands, DescribeNamesTenOfTheWorkersWhoseMachinesLackSomething) {
  Json workers = Json::array();
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"}) {
    workers.push_back(worker_that_lacks(name, "idle", 7, "no a.csv"));
  }
  server_.answer_anything("GET /v1/workers", Json{{"workers", workers}}.dump());
  EXPECT_THAT(described(example_summary(test::example_job())),
              HasSubstr("\tj: no a.csv\n\tand more: `tuneband workers` has all of them\n"));
}

TEST_F(Commands, AWorkerThatIsDrainingIsSaidToBeSoOnce) {
  server_.answer_anything(
      "GET /v1/workers",
      Json{{"workers", {{{"id", "w"}, {"name", "a"}, {"state", "draining"}, {"draining", true}, {"host", "h"}}}}}.dump());
  ASSERT_TRUE(list_workers(session()));
  const std::string said = out_.str();
  const std::size_t first = said.find("draining");
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(said.find("draining", first + 1), std::string::npos) << said;
}

TEST_F(Commands, AServerThatIsNotThereHasAStatusOfItsOwn) {
  auto api = ApiClient::create("http://127.0.0.1:1");
  const auto finished = list_workers({*api, console_});
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().exit_status, kExitUnreachable);
  EXPECT_FALSE(ApiClient::create("ftp://x"));
}

TEST_F(Commands, ExportWritesTheFileWholeOrNotAtAll) {
  server_.answer("GET /v1/jobs/7/analytics?format=csv", "number,eta\r\n0,0.1\r\n");
  const std::string path = directory_ + "/trials.csv";
  ASSERT_TRUE(export_job(session(), {"7", path, true}));
  EXPECT_EQ(test::read_text(path), "number,eta\r\n0,0.1\r\n");

  const std::string none = directory_ + "/none.csv";
  EXPECT_FALSE(export_job(session(), {"nobody", none, true}));
  for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
    EXPECT_FALSE(entry.path().filename().string().starts_with("none.csv")) << entry.path();
  }
}

TEST_F(Commands, LogsAreHandedOnUnchanged) {
  server_.answer("GET /v1/jobs/7/trials/3/log?follow=true", "step 1\r\x1b[2Kstep 2\n");
  Json trial = test::recorded_reply("trial_stopped");
  server_.answer("GET /v1/jobs/7/trials/3", trial.dump());
  ASSERT_TRUE(show_log(session(), {"7", 3, true}));
  EXPECT_EQ(out_.str(), "step 1\r\x1b[2Kstep 2\n");
  server_.answer("GET /v1/jobs/7/trials/3/log?rank=2", "of rank 2\n");
  server_.answer("GET /v1/jobs/7/trials/3/log?follow=true&rank=2", "of rank 2, too\n");
  ASSERT_TRUE(show_log(session(), {.job = "7", .trial = 3, .rank = 2}));
  ASSERT_TRUE(show_log(session(), {.job = "7", .trial = 3, .follow = true, .rank = 2}));
  EXPECT_THAT(out_.str(), testing::EndsWith("of rank 2\nof rank 2, too\n"));
}

TEST_F(Commands, ARankThatATrialDoesNotHaveIsAFault) {
  Json trial = test::recorded_reply("trial_stopped");
  server_.answer("GET /v1/jobs/7/trials/3/log?rank=3", "");
  server_.answer("GET /v1/jobs/7/trials/3", trial.dump());
  const auto alone = show_log(session(), {.job = "7", .trial = 3, .rank = 3});
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().errors.front().message, "the trial has no rank 3");
  EXPECT_EQ(alone.error().errors.front().hint, "it is trained by one worker");
  trial["replicas"] = 3;
  server_.answer("GET /v1/jobs/7/trials/4", trial.dump());
  server_.answer("GET /v1/jobs/7/trials/4/log?rank=3", "");
  server_.answer("GET /v1/jobs/7/trials/4/log?rank=2", "");
  EXPECT_EQ(show_log(session(), {.job = "7", .trial = 4, .rank = 3}).error().errors.front().hint, "its ranks are 0 to 2");
  EXPECT_TRUE(show_log(session(), {.job = "7", .trial = 4, .rank = 2})) << "it may have said nothing";
}

TEST_F(Commands, ALogThatBreaksOffWhileItsTrialGoesOnIsAFault) {
  server_.answer("GET /v1/jobs/7/trials/3/log?follow=true", "step 1\n");
  Json trial = test::recorded_reply("trial_stopped");
  trial["state"] = "running";
  server_.answer("GET /v1/jobs/7/trials/3", trial.dump());
  const auto finished = show_log(session(), {"7", 3, true});
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().exit_status, kExitFailed);
  EXPECT_EQ(finished.error().errors[0].message, "the server broke the log off, and the trial goes on");
}

TEST_F(Commands, HoldAndChangeSendWhatIsAskedForAndSayWhatHolds) {
  server_.answer("PATCH /v1/jobs/7", test::recorded_reply("changed").dump());
  ASSERT_TRUE(hold_job(session(), "7", true));
  EXPECT_EQ(Json::parse(server_.last_body()), Json({{"held", true}}));
  EXPECT_EQ(out_.str(), "direct-marketing (job 7) is held: weight 2, at most 4 trials at once\n");
  ASSERT_TRUE(hold_job(session(), "7", false));
  EXPECT_EQ(Json::parse(server_.last_body()), Json({{"held", false}}));
  ASSERT_TRUE(change_job(session(), {.job = "7", .weight = 2, .max_parallel_trials = 4, .max_runtime_seconds = 60.5}));
  EXPECT_EQ(Json::parse(server_.last_body()),
            Json({{"weight", 2}, {"limits", {{"max_parallel_trials", 4}, {"max_runtime_seconds", 60.5}}}}));
  ASSERT_TRUE(change_job(session(), {.job = "7", .no_more_trials = true}));
  EXPECT_EQ(Json::parse(server_.last_body()), Json({{"starts_no_more", true}}));
}

TEST_F(Commands, StopAndDeleteSayWhatHappened) {
  server_.answer("POST /v1/jobs/7/stop", test::recorded_reply("stopping").dump(), 202);
  server_.answer("DELETE /v1/jobs/7", "", 204);
  ASSERT_TRUE(stop_job(session(), "7"));
  ASSERT_TRUE(delete_job(session(), "7"));
  EXPECT_EQ(out_.str(),
            "direct-marketing (job 7) is stopping\ndirect-marketing (job 7) is deleted, with its trials, logs and models\n");
}

TEST_F(Commands, StopWithATrialStopsItAlone) {
  server_.answer("POST /v1/jobs/7/trials/12/stop", test::recorded_reply("trial_stopped").dump(), 202);
  ASSERT_TRUE(stop_trial(session(), "7", 12));
  EXPECT_EQ(out_.str(), "trial 12 of 7 is stopped\n");
}

TEST_F(Commands, ATrialThatHasEndedIsAFaultOfStop) {
  server_.answer("POST /v1/jobs/7/trials/12/stop", test::recorded_reply("trial_has_ended").dump(), 409);
  const auto finished = stop_trial(session(), "7", 12);
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().errors[0].message, "trial 12 has ended: its state is stopped");
}

TEST_F(Commands, ANameWithOddLettersIsOneSegmentOfThePath) {
  EXPECT_FALSE(show_best(session(), "a/b c?d"));
  EXPECT_EQ(server_.requests().back(), "GET /v1/jobs/a%2Fb%20c%3Fd");
}

TEST_F(Commands, ThePlanNeedsNoServer) {
  const std::string path = write_job(R"({"name": "p", "objective": {"metric": "m", "goal": "maximize"},
    "search_space": {"x": {"type": "float", "min": 0, "max": 1}},
    "trainer": {"type": "command", "argv": ["true"], "resume": "checkpoint"},
    "scheduler": {"type": "hyperband", "min_resource": 1, "max_resource": 9, "eta": 3}})");
  ASSERT_TRUE(show_plan(console_, {path, 2, 0.5}));
  const std::string expected =
      "bracket\t1 unit\t3 units\t9 units\tin all\n0 (s=2)\t9\t3\t1\t21\n1 (s=1)\t\t5\t1\t21\n2 (s=0)\t\t\t3\t27\n";
  EXPECT_EQ(out_.str().substr(0, expected.size()), expected) << out_.str();
  EXPECT_NE(out_.str().find("\ntrials\t17\n"), std::string::npos) << out_.str();
}

TEST_F(Commands, ThePlanSaysWhatItKnowsOfTheRungs) {
  const std::string job = R"({"name": "p", "objective": {"metric": "validation-auc", "goal": "maximize"},
    "search_space": {"eta": {"type": "float", "min": 0.001, "max": 1, "scale": "log"}},
    "trainer": {"type": "xgboost", "data": {"train": "t.csv", "label": "y"}, "parameters": {"objective": "binary:logistic"}%},
    "scheduler": {"type": "successive_halving", "min_resource": 9, "max_resource": 81, "eta": 3}})";
  const auto with = [&](const std::string& more) { return std::string(job).replace(job.find('%'), 1, more); };
  ASSERT_TRUE(show_plan(console_, {write_job(with("")), 2, 0.5}));
  EXPECT_NE(out_.str().find("0 (s=2)\t9\t3\t1\t243\n"), std::string::npos) << out_.str();  // 9 x 9 + 3 x 27 + 81
  EXPECT_NE(out_.str().find("rungs\teach is a training of its own, from nothing\n"), std::string::npos) << out_.str();
  EXPECT_NE(out_.str().find("new trials\tbegin with eta 0.0123 to 0.138, and go on with what their curves call for\n"),
            std::string::npos)
      << out_.str();
  EXPECT_EQ(err_.str(), "");
  ASSERT_TRUE(show_plan(console_, {write_job(with(R"(, "fidelity": "prefix")")), 2, 0.5}));
  EXPECT_NE(err_.str().find("search_space.eta.min: with a learning rate of 0.001 81 rounds"), std::string::npos) << err_.str();
  EXPECT_NE(err_.str().find("trainer.fidelity: with `prefix`"), std::string::npos) << err_.str();
  EXPECT_EQ(out_.str().find("less where trainings"), std::string::npos) << out_.str();
  std::string early = with("");
  ASSERT_TRUE(show_plan(console_, {write_job(early.replace(early.find("\"eta\": 3"), 8, "\"early_end\": true")), 2, 0.5}));
  EXPECT_NE(out_.str().find("less where trainings to the end are ended early"), std::string::npos) << out_.str();
}

TEST_F(Commands, ThePlanAsJsonHasTheNumbersThatItsTextSays) {
  const auto planned = [&](const char* job, std::optional<double> seconds_per_unit) {
    out_.str("");
    EXPECT_TRUE(show_plan(console_, {write_job(job), 2, seconds_per_unit}));
    const std::string text = out_.str();
    out_.str("");
    EXPECT_TRUE(show_plan(json_console_, {write_job(job), 2, seconds_per_unit}));
    return std::pair(text, Json::parse(out_.str()));
  };
  const char* const command = R"({"name": "p", "objective": {"metric": "m", "goal": "maximize"}, "sampler": {"type": "random"},
    "search_space": {"x": {"type": "float", "min": 0, "max": 1}}, "trainer": {"type": "command", "argv": ["true"]},
    "scheduler": {"type": "auto", "max_resource": 81, "rung_audit": true}, "limits": {"max_trials": 200}})";
  const auto [text, json] = planned(command, {});
  const std::int64_t most = json["total_resource"].get<std::int64_t>() + json["audit_resource"].get<std::int64_t>();
  EXPECT_THAT(text, HasSubstr("\tup to about " + std::to_string(most) + " units if the lower rungs turn out to mislead"));
  const Json& in_a_row = json["forecast"];
  EXPECT_THAT(text,
              HasSubstr("\twith 2 workers as long as " + std::to_string(std::lround(in_a_row["wall_seconds"].get<double>())) +
                        " units in a row; without early stopping " +
                        std::to_string(std::lround(in_a_row["wall_seconds_without_stopping"].get<double>())) + " ("));
  EXPECT_EQ(in_a_row["seconds_per_unit"], 1);
  EXPECT_EQ(planned(command, 0.5).second["forecast"]["wall_seconds"], in_a_row["wall_seconds"].get<double>() / 2);
  EXPECT_EQ(json["learning_rate"], Json());
  const auto [of_trees, trees] = planned(R"({"name": "p", "objective": {"metric": "validation-auc", "goal": "maximize"},
    "search_space": {"eta": {"type": "float", "min": 0.001, "max": 1, "scale": "log"}},
    "trainer": {"type": "xgboost", "data": {"train": "t.csv", "label": "y", "folds": {"count": 5, "early": 2}},
                "parameters": {"objective": "binary:logistic"}},
    "scheduler": {"type": "asha_delayed", "max_resource": 81}, "limits": {"max_runtime_seconds": 60}})",
                                         {});
  const Json& rate = trees["learning_rate"];
  EXPECT_THAT(of_trees, HasSubstr(fmt::format("begin with {} {:.3g} to {:.3g}, ", rate["parameter"].get<std::string>(),
                                              rate["min"].get<double>(), rate["max"].get<double>())));
  EXPECT_THAT(of_trees, HasSubstr(fmt::format("takes {:.0f} % of the time", 100 * trees["early_work"].get<double>())));
  EXPECT_EQ(trees["forecast"], Json()) << "nobody knows how many trials there will be";
  EXPECT_THAT(of_trees, Not(HasSubstr("\ntime\t")));
}

TEST_F(Commands, ThePlanSaysWhatIsLeftOutOfItsTableWhatCostsMoreThanAllAndWhenTimeEnds) {
  const std::string head = R"({"name": "p", "objective": {"metric": "loss", "goal": "minimize"},
    "search_space": {"x": {"type": "float", "min": 0, "max": 1}}, "trainer": {"type": "command", "argv": ["true"]}, )";
  ASSERT_TRUE(show_plan(console_, {write_job(head + R"("scheduler": {"type": "hyperband", "max_resource": 9},
    "limits": {"max_trials": 100000, "max_runtime_seconds": 5}})"),
                                   2, 10}));
  EXPECT_THAT(out_.str(), HasSubstr("and 16647 brackets more\n"));
  EXPECT_THAT(out_.str(), HasSubstr("the job ends after 5 s at the latest\n"));
  ASSERT_TRUE(show_plan(console_, {write_job(head + R"("scheduler": {"type": "asha_stopping", "max_resource": 9},
    "limits": {"max_trials": 2}})"),
                                   2,
                                   {}}));
  EXPECT_THAT(out_.str(), HasSubstr("18 if every trial ran to the end: 44 % more\n"));
}

TEST_F(Commands, ThePlanRefusesWhatAServerWouldRefuse) {
  const Json good = Json::parse(R"({"name": "p", "objective": {"metric": "validation-auc", "goal": "maximize"},
    "search_space": {"max_depth": {"type": "int", "min": 2, "max": 9}},
    "trainer": {"type": "xgboost", "data": {"train": "t.csv", "label": "y"}, "eval_metric": "auc"},
    "scheduler": {"type": "hyperband", "max_resource": 27}})");
  ASSERT_TRUE(show_plan(console_, {write_job(good.dump()), 2, {}}));
  const auto refused_at = [&](const std::string& path, const std::string& merged) {
    Json document = good;
    document.merge_patch(Json::parse(merged));
    const auto finished = show_plan(console_, {write_job(document.dump()), 2, {}});
    if (finished || finished.error().exit_status != kExitBadInput) return false;
    const std::vector<Error> faults = finished.error().errors;
    return std::any_of(faults.begin(), faults.end(), [&](const Error& fault) { return fault.path == path; });
  };
  EXPECT_TRUE(refused_at("trainer.type", R"({"trainer": {"type": "xgbost"}})"));
  EXPECT_TRUE(refused_at("trainer.dta", R"({"trainer": {"dta": 1}})"));
  EXPECT_TRUE(refused_at("search_space.max_depht", R"({"search_space": {"max_depht": 3}})"));
  EXPECT_TRUE(refused_at("trainer.eval_metric", R"({"trainer": {"eval_metric": "aucc"}})"));
}

TEST_F(Commands, ThePlanOfABrokenDocumentListsEveryFault) {
  const auto finished = show_plan(console_, {write_job(R"({"name": "p", "sheduler": {}})"), {}, {}});
  ASSERT_FALSE(finished);
  EXPECT_GT(finished.error().errors.size(), 1u);
  EXPECT_EQ(finished.error().exit_status, kExitBadInput);
}

TEST_F(Commands, ImportanceSaysWhereNoTrialHasAFiniteValueThatMeetsTheConstraints) {
  const auto said = [this](int results, int not_finite, int violating) {
    const std::string name = fmt::format("{}-{}-{}", results, not_finite, violating);
    const std::string job = "GET /v1/jobs/" + name;
    server_.answer(job, job_of_two_objectives().dump());
    server_.answer(job + "/importance", R"({"importance": null})");
    Json summary = example_summary(job_of_two_objectives());
    summary["importance"] = {{"results", results}, {"results_needed", 10}};
    summary["summary"].update({{"trials_measured", 30}, {"trials_not_finite", not_finite}, {"trials_violating", violating}});
    server_.answer(job + "/summary", summary.dump());
    out_.str("");
    EXPECT_TRUE(show_importance(session(), name));
    return out_.str();
  };
  EXPECT_THAT(said(30, 0, 30), HasSubstr("none of the 30 trials with a result meets the constraints: nothing can be said yet"));
  EXPECT_THAT(said(30, 30, 0), HasSubstr("none of the 30 trials with a result has a finite value: nothing can be said yet"));
  EXPECT_THAT(said(30, 10, 20), HasSubstr("none of the 30 trials with a result has a finite value and meets the constraints:"));
  EXPECT_THAT(said(30, 0, 29), HasSubstr("fewer than 10 trials have a result at one rung"));
  EXPECT_THAT(said(9, 0, 30), HasSubstr("fewer than 10 trials have a result at one rung"));
}

}  // namespace tuneband::cli

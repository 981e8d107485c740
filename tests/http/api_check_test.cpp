// POST /v1/checks, and what it says of when a job would start and end.
#include <gmock/gmock.h>

#include <fstream>
#include <future>

#include "server/api/capacity.hpp"
#include "tests/http/api_fixture.hpp"

namespace tuneband::test {
namespace {

using server::UnitTime;
using server::WorkersNow;
using testing::HasSubstr;

class ApiCheckTest : public ApiTest {
 protected:
  Json check(const Json& document, const std::string& query = "") {
    const auto reply = post("/v1/checks?base_dir=/" + query, document.dump());
    EXPECT_EQ(reply.status, 200) << reply.body;
    return Json::parse(reply.body, nullptr, false);
  }
};

TEST_F(ApiCheckTest, SaysWhatASubmissionWouldSayAndStoresNothing) {
  const Json said = check(job_document("a"));
  EXPECT_EQ(said["ok"], true) << said;
  EXPECT_TRUE(said["errors"].empty());
  EXPECT_EQ(get_json("/v1/jobs")["jobs"].size(), 0U);
  Json faulty = job_document("a");
  faulty["limits"]["max_trials"] = 0;
  const Json refused = check(faulty);
  EXPECT_EQ(refused["ok"], false);
  EXPECT_EQ(refused["errors"][0]["path"], "limits.max_trials");
  EXPECT_TRUE(refused["capacity"].is_null());
  EXPECT_EQ(check(Json::array())["ok"], false) << "no document at all";
}

TEST_F(ApiCheckTest, TakesTheUsersWordForHowLongAUnitTakes) {
  const Json said = check(job_document("b"), "&seconds_per_unit=2");
  EXPECT_EQ(said["capacity"]["seconds_per_unit"], 2);
  EXPECT_TRUE(said["capacity"]["measured_in"].is_null());
  EXPECT_TRUE(check(job_document("b"))["capacity"]["seconds_per_unit"].is_null());
  EXPECT_EQ(post("/v1/checks?base_dir=/&seconds_per_unit=0", job_document("b").dump()).status, 400);
}

// A worker of another machine, which says what it finds there.
TEST_F(ApiCheckTest, AsksTheMachinesOfWorkersToo) {
  const auto call = [this](const Json& more) {
    Json request{{"name", "far"}, {"host", "elsewhere"}, {"pid", 1}, {"version", TUNEBAND_VERSION}, {"checks_jobs", true}};
    request.update(more);
    return Json::parse(post("/v1/workers/far-1/sync", request.dump()).body);
  };
  call(Json::object());
  std::future<Json> said = std::async(std::launch::async, [this] { return check(job_document("a")); });
  Json asked;
  while (!asked.contains("check")) asked = call(Json::object());  // each call is held until then, or for a moment
  EXPECT_EQ(asked["desired"], "idle");
  EXPECT_EQ(asked["check"]["document"]["name"], "a");
  const Json fault{{"path", "trainer.argv[0]"}, {"message", "no such program"}, {"hint", ""}};
  call({{"check_result", {{"id", asked["check"]["id"]}, {"found", {{"errors", {fault}}, {"warnings", Json::array()}}}}}});
  const Json refused = said.get();
  EXPECT_EQ(refused["ok"], false);
  EXPECT_EQ(refused["errors"][0]["message"], "on elsewhere: no such program")
      << "this machine has no worker of its own: it does not count";
}

JobSpec spec_of(const char* limits = "{}", const char* trainer = R"({"type": "command", "argv": ["x"]})") {
  Json document = Json::parse(R"({"name": "j", "objective": {"metric": "loss", "goal": "minimize"},
      "search_space": {"x": {"type": "float", "min": 0, "max": 1}}, "scheduler": {"type": "none", "max_resource": 10}})");
  document["limits"] = Json::parse(limits);
  document["limits"]["max_trials"] = 8;
  document["trainer"] = Json::parse(trainer);
  Diagnostics diagnostics;
  JobSpec spec = JobSpec::parse(document, diagnostics);
  EXPECT_TRUE(diagnostics.ok());
  return spec;
}

Json capacity(const JobSpec& spec, const WorkersNow& workers, std::optional<UnitTime> unit = std::nullopt) {
  Diagnostics diagnostics;
  return server::capacity_of(spec, workers, unit, diagnostics);
}

std::string doubt(const JobSpec& spec, const WorkersNow& workers, std::optional<UnitTime> unit) {
  Diagnostics diagnostics;
  server::capacity_of(spec, workers, unit, diagnostics);
  return diagnostics.warnings().empty() ? "" : diagnostics.warnings()[0].path + ": " + diagnostics.warnings()[0].message;
}

TEST(Capacity, SaysWhenAJobStarts) {
  const JobSpec narrow = spec_of();
  const JobSpec wide = spec_of("{}", R"({"type": "command", "argv": ["x"], "replicas": 3})");
  EXPECT_EQ(capacity(narrow, {4, 1, 1})["starts"], "at once, on 1 worker that is free");
  EXPECT_EQ(capacity(wide, {4, 3, 1})["starts"], "at once, on 3 workers that are free");
  EXPECT_EQ(capacity(narrow, {4, 0, 2})["starts"],
            "when the next segment of another job ends: 4 workers of 4 are at work for 2 jobs");
  EXPECT_THAT(capacity(wide, {4, 2, 1})["starts"].get<std::string>(), HasSubstr("2 workers of 4 are at work for 1 job"));
  EXPECT_TRUE(capacity(narrow, {4, 0, 2})["starts_in_seconds"].is_null()) << "of no segment it can be told";
  EXPECT_EQ(capacity(narrow, {4, 1, 1})["starts_in_seconds"], 0);
  EXPECT_EQ(capacity(wide, {2, 2, 0})["starts"], "its widest trials when there are 3 workers");
  EXPECT_EQ(capacity(narrow, {})["starts"], "when there is a worker: none is connected");
  EXPECT_THAT(doubt(narrow, {}, std::nullopt), HasSubstr("no worker is connected"));
}

TEST(Capacity, SaysHowLongItTakesUntilWorkersThatAreBusyAreFree) {
  const JobSpec narrow = spec_of();
  const JobSpec wide = spec_of("{}", R"({"type": "command", "argv": ["x"], "replicas": 3})");
  const WorkersNow busy{4, 1, 2, {12.4, 119.6, 7000}};
  EXPECT_EQ(capacity(wide, busy)["starts_in_seconds"], 119.6) << "one is free, and two more are needed";
  EXPECT_EQ(capacity(wide, busy)["starts"],
            "in about 120 s, when 2 segments of other jobs have ended: 3 workers of 4 are at work for 2 jobs");
  EXPECT_EQ(capacity(narrow, {3, 0, 1, {12.4, 119.6, 7000}})["starts"],
            "in about 12 s, when the next segment of another job ends: 3 workers of 3 are at work for 1 job");
  EXPECT_THAT(capacity(wide, {3, 0, 1, {1, 2, 7000}})["starts"].get<std::string>(), HasSubstr("in about 117 min, "));
  EXPECT_THAT(capacity(wide, {3, 0, 1, {1, 2, 7200}})["starts"].get<std::string>(), HasSubstr("in about 2 h, "));
  EXPECT_TRUE(capacity(wide, {3, 0, 1, {1, 2}})["starts_in_seconds"].is_null()) << "of the third it cannot be told";
}

TEST(Capacity, SaysWhenAJobEndsAloneAndBesideOthers) {
  const Json alone = capacity(spec_of(), {4, 4, 0}, UnitTime{0.5, "earlier"});
  EXPECT_EQ(alone["measured_in"], "earlier");
  EXPECT_EQ(alone["wall_seconds"], 10) << "8 trials of 10 units on 4 workers";
  EXPECT_TRUE(alone["wall_seconds_beside_others"].is_null());
  const auto beside = [](const WorkersNow& workers, double weight) {
    JobSpec spec = spec_of();
    spec.weight = weight;
    return capacity(spec, workers, UnitTime{0.5, ""})["wall_seconds_beside_others"];
  };
  EXPECT_EQ(beside({4, 0, 1, {}, 1}, 1), 20) << "half of the workers";
  EXPECT_EQ(beside({4, 0, 1, {}, 3}, 1), 40) << "one of four";
  EXPECT_EQ(beside({4, 0, 2, {}, 0.2}, 0.2), 20) << "as much as both together";
  EXPECT_EQ(beside({3, 0, 1, {}, 0.1}, 0.2), 20) << "two of three";
  EXPECT_EQ(beside({4, 0, 1, {}, 1000}, 1), 40) << "one at least";
  EXPECT_TRUE(capacity(spec_of(), {4, 4, 0})["wall_seconds"].is_null());
}

TEST(Capacity, WarnsOfAJobThatIsEndedBeforeItsEnd) {
  const UnitTime unit{0.5, ""};
  EXPECT_EQ(doubt(spec_of(R"({"max_runtime_seconds": 10})"), {4, 4, 0}, unit), "");
  EXPECT_EQ(doubt(spec_of(R"({"max_runtime_seconds": 9})"), {4, 4, 0}, unit),
            "limits.max_runtime_seconds: the job takes about 10 s with 4 workers, and is ended after 9 s");
}

// What is caught and what passes: tests/workers/tips/capacity.json, as tests/workers/tips_test.cpp has the others.
TEST(Capacity, WhatMakesAJobWaitOrEndTooEarlyIsCaughtAndWhatIsNearlyLikeItPasses) {
  std::ifstream file(TUNEBAND_SOURCE_DIR "/tests/workers/tips/capacity.json");
  const Json tip = Json::parse(file);
  const auto said_of = [](const Json& one, const Json& changes, const Json& workers) {
    const JobSpec spec = spec_of(changes["limits"].dump().c_str(),
                                 changes.value("trainer", Json::parse(R"({"type": "command", "argv": ["x"]})")).dump().c_str());
    const WorkersNow now{workers["all"], workers["free"], workers["jobs"], {}, workers["jobs"]};
    std::optional<UnitTime> unit;
    if (one.contains("seconds_per_unit")) unit = UnitTime{one["seconds_per_unit"], ""};
    Diagnostics diagnostics;
    server::check_replicas(spec, now.all, diagnostics);
    server::capacity_of(spec, now, unit, diagnostics);
    return diagnostics.warnings();
  };
  for (const Json& one : tip["cases"]) {
    SCOPED_TRACE(one["case"].get<std::string>());
    const auto caught = said_of(one, one["caught"], one["workers"]);
    ASSERT_EQ(caught.size(), 1U);
    EXPECT_EQ(caught[0].path, one["warning"]["path"]);
    EXPECT_THAT(caught[0].message, HasSubstr(one["warning"]["message"].get<std::string>()));
    EXPECT_THAT(caught[0].hint, HasSubstr(one["warning"]["hint"].get<std::string>()));
    EXPECT_TRUE(said_of(one, one["passes"], one.value("passes_with", one["workers"])).empty());
  }
}

TEST_F(ApiCheckTest, ASubmissionSaysWhenItStartsAndEnds) {
  const Json created = Json::parse(post("/v1/jobs?preflight=off", job_document("a").dump()).body);
  EXPECT_EQ(created["capacity"]["starts"], "when there is a worker: none is connected");
  EXPECT_TRUE(created["capacity"]["wall_seconds"].is_null());
  work_until_idle("w");
  const Json again = Json::parse(post("/v1/jobs?preflight=off", job_document("b").dump()).body);
  EXPECT_EQ(again["capacity"]["measured_in"], "a");
  EXPECT_GT(again["capacity"]["wall_seconds"], 0) << again;
  EXPECT_EQ(again["warnings"], Json::array());
}

}  // namespace
}  // namespace tuneband::test

// Jobs over HTTP: created, found, listed, planned, stopped, deleted; and everything a document can have wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include "tests/http/api_fixture.hpp"

namespace tuneband::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(ApiTest, ACreatedJobComesWithItsPlanAndWarnings) {
  const RawReply reply = post("/v1/jobs", job_document("first").dump());
  ASSERT_EQ(reply.status, 201) << reply.body;
  const Json created = Json::parse(reply.body);
  EXPECT_EQ(created.at("job").at("name"), "first");
  EXPECT_EQ(created.at("job").at("state"), "running");
  EXPECT_EQ(created.at("plan").at("ladder"), Json({1, 3, 9}));
  EXPECT_EQ(created.at("job").at("trials").at("planned"), created.at("plan").at("trials"));
  ASSERT_EQ(created.at("warnings").size(), 1u) << "the checking program is not there";
  EXPECT_THAT(created.at("warnings")[0].at("message").get<std::string>(), HasSubstr("not checked"));
}

TEST_F(ApiTest, WithoutPreflightNoFileIsLookedAt) {
  const RawReply reply = post("/v1/jobs?preflight=off", job_document("first").dump());
  ASSERT_EQ(reply.status, 201) << reply.body;
  EXPECT_EQ(Json::parse(reply.body).at("warnings"), Json::array());
  EXPECT_EQ(code_of(post("/v1/jobs?preflight=maybe", job_document("second").dump())), "invalid_argument");
}

TEST_F(ApiTest, TheSameDocumentAgainIsTheSameJobAndAnotherIsAConflict) {
  const std::string id = submit(job_document("same"));
  const RawReply again = post("/v1/jobs", job_document("same").dump(4));
  EXPECT_EQ(again.status, 200) << "written with other spaces";
  EXPECT_EQ(Json::parse(again.body).at("job").at("id").dump(), id);
  Json other = job_document("same");
  other["scheduler"]["max_resource"] = 27;
  const RawReply refused = post("/v1/jobs", other.dump());
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(code_of(refused), "conflict");
}

TEST_F(ApiTest, AJobLikeAnotherIsNotHeldToDefaultsThatNobodyWrote) {
  Json first = job_document("first");
  first["objective"] = {{"metric", "validation-auc"}, {"goal", "maximize"}};
  first["search_space"] = {{"eta", {{"type", "float"}, {"min", 0.05}, {"max", 0.5}}}};
  first["trainer"] = {
      {"type", "xgboost"}, {"data", {{"train", "/x.csv"}, {"label", "y"}}}, {"parameters", {{"objective", "binary:logistic"}}}};
  first["scheduler"] = {{"max_resource", 27}};
  first["limits"] = {{"max_trials", 5}};
  ASSERT_EQ(post("/v1/jobs?preflight=off", first.dump()).status, 201);
  EXPECT_EQ(get_json("/v1/jobs/first").at("spec").at("scheduler").at("min_resource"), 3);
  EXPECT_EQ(get_json("/v1/jobs/first/document"), first);
  for (const char* change :
       {R"({"scheduler": {"max_resource": 81}})", R"({"scheduler": {"type": "none"}})", R"({"trainer": {"data": {"folds": 5}}})",
        R"({"trainer": {"parameters": {"booster": "dart"}}})", R"({"search_space": {"eta": 0.1}})"}) {
    Json patch = Json::parse(change);
    patch["name"] = "other";
    Json expected = first;
    expected.merge_patch(patch);
    const RawReply reply = post("/v1/jobs?like=first&preflight=off", patch.dump());
    ASSERT_EQ(reply.status, 201) << change << reply.body;
    EXPECT_EQ(get_json("/v1/jobs/other/document"), expected) << change;
    post("/v1/jobs/other/stop", "");
    EXPECT_EQ(remove("/v1/jobs/other").status, 204);
  }
}

TEST_F(ApiTest, AJobLikeAnotherHasItsDocumentWithWhatTheBodyChanges) {
  Json first = job_document("first");
  first["limits"] = {{"max_trials", 5}, {"max_parallel_trials", 2}};
  submit(first);
  const RawReply reply =
      post("/v1/jobs?like=first", R"({"name": "second", "limits": {"max_trials": 7, "max_parallel_trials": null}})");
  ASSERT_EQ(reply.status, 201) << reply.body;
  Json expected = first;
  expected["name"] = "second";
  expected["limits"] = {{"max_trials", 7}};
  EXPECT_EQ(get_json("/v1/jobs/second").at("spec"), expected);
  EXPECT_EQ(post("/v1/jobs?like=first", "{}").status, 200) << "nothing changed: it is the same job";
  EXPECT_EQ(code_of(post("/v1/jobs?like=first", R"({"limits": {"max_trials": 7}})")), "conflict") << "the name is taken";
  const RawReply wrong = post("/v1/jobs?like=first", R"({"name": "third", "limits": {"max_trials": 0}})");
  EXPECT_EQ(Json::parse(wrong.body).at("error").at("path"), "limits.max_trials");
  EXPECT_EQ(Json::parse(post("/v1/jobs?like=nobody", "{}").body).at("error").at("path"), "like");
  EXPECT_EQ(code_of(post("/v1/jobs?like=first", "[1]")), "invalid_argument");
  EXPECT_EQ(code_of(post("/v1/jobs?like=first", "{")), "invalid_argument");
}

TEST_F(ApiTest, EveryFaultOfADocumentIsNamedWithItsPath) {
  Json document = job_document("bad");
  document["search_space"]["x"]["max"] = -1;
  document["objective"]["goal"] = "upwards";
  document["max_trials"] = 3;
  const RawReply reply = post("/v1/jobs", document.dump());
  EXPECT_EQ(reply.status, 400);
  std::vector<std::string> paths;
  const Json body = Json::parse(reply.body);
  for (const Json& fault : body.at("error").at("details")) paths.push_back(fault.at("path"));
  EXPECT_THAT(paths, testing::IsSupersetOf({std::string("objective.goal"), std::string("max_trials")}));
  EXPECT_THAT(paths, testing::Contains(HasSubstr("search_space.x")));
  EXPECT_EQ(get_json("/v1/jobs").at("jobs").size(), 0u) << "nothing was stored";
}

TEST_F(ApiTest, ABodyThatIsNoJsonIsRefusedWithTheReason) {
  const std::string cases[] = {
      "", "{", "[]", "null", "{\"a\": 1, \"a\": 2}", std::string(100'000, '['), "{\"name\": \"\xff\xfe\"}", "1e999"};
  for (const std::string& body : cases) {
    for (const char* target : {"/v1/jobs", "/v1/plans", "/v1/workers/w/sync"}) {
      const RawReply reply = post(target, body);
      EXPECT_EQ(reply.status, 400) << target << " " << excerpt(body) << reply.body;
      EXPECT_EQ(code_of(reply), "invalid_argument");
    }
  }
}

TEST_F(ApiTest, ADocumentFullOfFaultsIsAnsweredWithSomeOfThem) {
  std::string keys;
  for (int i = 0; i < 560'000; ++i) keys += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":1";
  const auto with = [](const char* field, Json value) {
    Json document = job_document("faulty");
    document[field] = std::move(value);
    return document.dump();
  };
  Json unknown;
  for (std::size_t i = 0; i < kJsonKeysMax; ++i) unknown["k" + std::to_string(i)] = 1;
  Json many_unknown = job_document("faulty");
  many_unknown.update(unknown);
  many_unknown.erase("k0");
  for (const char* field : {"k1", "k2", "k3", "k4"}) many_unknown.erase(field);
  for (const std::string& body :
       {"{" + keys + "}", R"({"name": "x", "search_space": {)" + keys + "}}", many_unknown.dump(), with("limits", unknown),
        with("search_space", unknown), with("objective", unknown), with("enqueue", Json::array_t(10'000, {{"y", 1}})),
        with("enqueue", Json::array_t(10'000, Json(std::string(500, 'x')))), with("trainer", unknown),
        with(std::string(1'000'000, 'f').c_str(), 1), with("name", std::string(1'000'000, '\x01')),
        "{\"weight\":" + std::string(8'000'000, '9') + "}"}) {
    for (const char* target : {"/v1/jobs", "/v1/plans"}) {
      const RawReply reply = post(target, body);
      EXPECT_EQ(reply.status, 400) << body.substr(0, 100);
      EXPECT_LT(reply.body.size(), 100'000u) << body.substr(0, 100);
    }
  }
}

std::size_t allocated() {
  const auto heap = ::mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

TEST_F(ApiTest, OfTheDocumentOfAJobThatHasEndedNothingStaysInMemory) {
  Json document = job_document("large");
  document["enqueue"] = Json::array_t(10'000, {{"x", 0.5}});
  document["scheduler"] = {{"type", "none"}, {"max_resource", 9}};
  document["limits"] = {{"max_trials", 10'000}};
  const auto end_jobs = [&](int from, int until) {
    for (int i = from; i < until; ++i) {
      document["name"] = "large-" + std::to_string(i);
      submit(document);
      ASSERT_EQ(post("/v1/jobs/" + document["name"].get<std::string>() + "/stop").status, 202);
    }
  };
  end_jobs(0, 10);
  const std::size_t before = allocated();
  end_jobs(10, 40);
  EXPECT_LT(allocated(), before + 30 * document.dump().size() / 2);
}

TEST_F(ApiTest, RelativePathsStartFromTheDirectoryThatTheClientNames) {
  Json document = job_document("paths");
  document["trainer"]["working_dir"] = "scripts/../here";
  const RawReply refused = post("/v1/jobs", document.dump());
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("trainer.working_dir"));
  EXPECT_EQ(post("/v1/jobs?base_dir=not/absolute", document.dump()).status, 400);
  const RawReply not_text = post("/v1/jobs?base_dir=/%FF", document.dump());
  EXPECT_EQ(not_text.status, 400) << not_text.body;
  EXPECT_THAT(not_text.body, HasSubstr("\"path\":\"base_dir\""));
  ASSERT_EQ(post("/v1/jobs?base_dir=%2Fsome%20where", document.dump()).status, 201);
  EXPECT_EQ(get_json("/v1/jobs/paths").at("spec").at("trainer").at("working_dir"), "/some where/here");
}

TEST_F(ApiTest, ValuesOfAnEnvironmentAreShownToNobodyAndGivenToWorkers) {
  Json document = job_document("secretive");
  document["trainer"]["environment"] = {{"KEY", "hunter2"}, {"TOKEN", {{"from_environment", "HOME"}}}};
  const RawReply created = post("/v1/jobs", document.dump());
  ASSERT_EQ(created.status, 201) << created.body;
  EXPECT_THAT(created.body, Not(HasSubstr("hunter2")));
  const Json shown = get_json("/v1/jobs/secretive").at("spec").at("trainer").at("environment");
  EXPECT_EQ(shown, (Json{{"KEY", "********"}, {"TOKEN", {{"from_environment", "HOME"}}}}));
  for (const char* path : {"/v1/jobs", "/v1/jobs/secretive", "/v1/jobs/secretive/analytics", "/v1/jobs/secretive/trials"}) {
    EXPECT_THAT(client().get(path).body, Not(HasSubstr("hunter2"))) << path;
  }
  document["trainer"]["environment"]["KEY"] = "********";
  document["name"] = "copied";
  EXPECT_THAT(post("/v1/jobs", document.dump()).body, HasSubstr("is the mask of a value, not the value"));
  EXPECT_EQ(sync("w").at("order").at("trainer").at("environment").at("KEY"), "hunter2");
}

TEST_F(ApiTest, AJobIsFoundByItsNumberAndByItsName) {
  const std::string id = submit(job_document("by-name"));
  const Json by_id = get_json("/v1/jobs/" + id);
  EXPECT_EQ(get_json("/v1/jobs/by-name"), by_id);
  EXPECT_EQ(by_id.at("spec"), job_document("by-name"));
  EXPECT_TRUE(by_id.at("waiting").is_object());
}

TEST_F(ApiTest, WhatIsNotThereIsNotFound) {
  submit(job_document("there"));
  for (const char* target : {"/v1/jobs/999",
                             "/v1/jobs/nobody",
                             "/v1/jobs/%00",
                             "/v1/jobs/..",
                             "/v1/jobs/99999999999999999999",
                             "/v1/jobs/nobody/trials",
                             "/v1/jobs/nobody/plan",
                             "/v1/jobs/nobody/events",
                             "/v1/jobs/nobody/analytics",
                             "/v1/jobs/nobody/best",
                             "/v1/jobs/there/best",
                             "/v1/jobs/there/trials/77",
                             "/v1/jobs/there/trials/-1",
                             "/v1/jobs/01",
                             "/v1/jobs/1e0",
                             "/v1/jobs/-0",
                             "/v1/jobs/there/trials/00",
                             "/v1/jobs/there/trials/0e0",
                             "/v1/jobs/there/trials/-0",
                             "/v1/jobs/there/trials/x",
                             "/v1/jobs/there/trials/99999999999999999999",
                             "/v1/jobs/there/trials/77/log",
                             "/v1/jobs/there/trials/77/model",
                             "/v1/jobs/there/trials/77/log?follow=true",
                             "/v1/jobs/there/trials/77/decisions",
                             "/v1/nothing",
                             "/nothing",
                             "/v1/jobs/",
                             "/v2/jobs"}) {
    const RawReply reply = get(target);
    EXPECT_EQ(reply.status, 404) << target << " " << reply.body;
    EXPECT_EQ(code_of(reply), "not_found") << target;
  }
}

TEST_F(ApiTest, AJobThatIsNotThereIsNamedAsItWasMeant) {
  const auto told = [&](const std::string& target) { return parse_json(get(target).body)->at("error").at("message"); };
  EXPECT_EQ(told("/v1/jobs/a%2Fb%3Fc%23d"), "there is no job \"a/b?c#d\"");
  EXPECT_EQ(told("/v1/jobs/..%2fx/trials"), "there is no job \"../x\"");
  EXPECT_EQ(told("/v1/jobs/a%252Fb%25zz"), "there is no job \"a%2Fb%zz\"");
}

TEST_F(ApiTest, AMethodThatAPathDoesNotHaveIsNamedWithThoseItHas) {
  const RawReply reply = remove("/v1/jobs");
  EXPECT_EQ(reply.status, 405);
  EXPECT_EQ(code_of(reply), "method_not_allowed");
  EXPECT_THAT(reply.header("allow"), testing::AllOf(HasSubstr("GET"), HasSubstr("POST")));
}

TEST_F(ApiTest, QueryParametersThatNobodyAskedForAreRefusedWithASuggestion) {
  const RawReply reply = get("/v1/jobs?limits=3");
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(reply.body, HasSubstr("limit"));
  EXPECT_THAT(reply.body, HasSubstr("did you mean"));
  for (const char* target :
       {"/v1/jobs?limit=3&limit=4", "/v1/jobs?limit=0", "/v1/jobs?limit=1001", "/v1/jobs?limit=x", "/v1/jobs?limit=1.5",
        "/v1/jobs?limit=1e1", "/v1/jobs?limit=03", "/v1/jobs?limit=%2B3", "/v1/jobs?limit=3.0", "/v1/jobs?limit=nan",
        "/v1/jobs?state=sleeping", "/v1/jobs?after=xyz", "/healthz?x=1"}) {
    EXPECT_EQ(get(target).status, 400) << target;
  }
}

TEST_F(ApiTest, JobsAreListedNewestFirstPageByPage) {
  for (const char* name : {"a", "b", "c", "d", "e"}) submit(job_document(name));
  std::vector<std::string> names;
  std::string after;
  do {
    const Json page = get_json("/v1/jobs?limit=2" + (after.empty() ? "" : "&after=" + after));
    for (const Json& job : page.at("jobs")) names.push_back(job.at("name"));
    after = page.at("next").is_null() ? "" : page.at("next").get<std::string>();
  } while (!after.empty());
  EXPECT_THAT(names, testing::ElementsAre("e", "d", "c", "b", "a"));
  EXPECT_EQ(get_json("/v1/jobs?state=running").at("jobs").size(), 5u);
  EXPECT_EQ(get_json("/v1/jobs?state=completed").at("jobs").size(), 0u);
}

TEST_F(ApiTest, AJobGoesOnFromOneWhoseEarlierJobIsGoneOrHasLeftItsNameToAnother) {
  const auto begun_with = [this](const std::string& name, const Json& names) {
    Json document = job_document(name);
    if (!names.empty()) document["warm_start"] = names;
    submit(document);
    work_until_idle("worker-1");
    return get_json("/v1/jobs/" + name).at("spec").value("warm_start", Json());
  };
  begun_with("first", Json::array());
  const Json second = begun_with("second", {"first"});
  EXPECT_EQ(remove("/v1/jobs/first").status, 204);
  const auto goes_on = [&](const std::string& name) {
    const std::string patch = Json{{"name", name}, {"warm_start", {"first", "second"}}}.dump();
    const RawReply reply = post("/v1/jobs?like=second", patch);
    EXPECT_EQ(reply.status, 201) << reply.body;
    const Json observations = get_json("/v1/jobs/" + name).at("spec").at("warm_start").at("observations");
    EXPECT_GT(observations.size(), second.at("observations").size());
    for (std::size_t i = 0; i < second.at("observations").size(); ++i) EXPECT_EQ(observations[i], second.at("observations")[i]);
  };
  goes_on("third");
  begun_with("first", Json::array());
  goes_on("fourth");
  const RawReply twice = post("/v1/jobs?like=second", R"({"name": "fifth", "warm_start": ["first", "first"]})");
  EXPECT_NE(twice.body.find("named twice"), std::string::npos) << twice.body;
}

TEST_F(ApiTest, APlanNeedsNoJobAndStoresNone) {
  const RawReply reply = post("/v1/plans?workers=4&seconds_per_unit=0.5", job_document("planned").dump());
  ASSERT_EQ(reply.status, 200) << reply.body;
  const Json plan = Json::parse(reply.body);
  EXPECT_EQ(plan.at("ladder"), Json({1, 3, 9}));
  EXPECT_GT(plan.at("forecast").at("wall_seconds").get<double>(), 0);
  EXPECT_FALSE(Json::parse(post("/v1/plans", job_document("planned").dump()).body).contains("forecast"));
  EXPECT_EQ(get_json("/v1/jobs").at("jobs").size(), 0u);
  EXPECT_EQ(post("/v1/jobs", job_document("first").dump()).status, 201);
  const RawReply like = post("/v1/plans?like=first", R"({"name": "second", "limits": {"max_trials": 7}})");
  ASSERT_EQ(like.status, 200);
  EXPECT_EQ(Json::parse(like.body).at("trials"), 7);
  EXPECT_EQ(post("/v1/plans?workers=0", job_document("planned").dump()).status, 400);
  EXPECT_EQ(post("/v1/plans?workers=1&seconds_per_unit=inf", job_document("planned").dump()).status, 400);
  EXPECT_EQ(post("/v1/plans?workers=1&seconds_per_unit=1e8", job_document("planned").dump()).status, 400);
}

// ExportThreadsTest: such a read holds up nobody.
TEST_F(ApiTest, AForecastIsALongRead) {
  Json large = job_document("large");
  large["scheduler"] = {{"type", "asha_promotion"}, {"max_resource", 81}};
  large["limits"] = {{"max_trials", 20'000}};
  const RawReply reply = post("/v1/plans?workers=10000", large.dump());
  ASSERT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(reply.header("transfer-encoding"), "chunked") << "as exports are, and small reads are not";
  EXPECT_EQ(post("/v1/plans", large.dump()).header("transfer-encoding"), "");
  EXPECT_GT(Json::parse(reply.body).at("forecast").at("wall_seconds").get<double>(), 0);
}

class ApiChangesTest : public ApiTest {
 protected:
  RawReply patch(const std::string& target, const Json& changes) { return send("PATCH", target, changes.dump()); }
};

TEST_F(ApiChangesTest, ARunningJobIsHeldReleasedAndChangedAndItsDocumentStays) {
  const std::string id = submit(job_document("long"));
  const std::string job = "/v1/jobs/" + id;
  const Json before = get_json(job);
  EXPECT_EQ(before.at("held"), false);
  EXPECT_EQ(before.at("weight"), 1);
  EXPECT_EQ(before.at("max_parallel_trials"), 1000);
  EXPECT_EQ(before.at("max_runtime_seconds"), nullptr);
  const RawReply held = patch(job, {{"held", true}, {"limits", {{"max_parallel_trials", 3}, {"max_runtime_seconds", 1000.5}}}});
  ASSERT_EQ(held.status, 200) << held.body;
  EXPECT_EQ(Json::parse(held.body).at("held"), true);
  sync("w", nullptr);
  const Json now = get_json(job);
  EXPECT_EQ(now.at("trials").at("created"), 0) << "a worker is free, and the job is held";
  EXPECT_EQ(now.at("waiting"), Json({{"held", 1}}));
  EXPECT_EQ(now.at("max_parallel_trials"), 3);
  EXPECT_EQ(now.at("max_runtime_seconds"), 1000.5);
  EXPECT_EQ(now.at("spec"), before.at("spec"));
  EXPECT_EQ(get_json("/v1/jobs?view=cards").at("jobs").at(0).at("waits_for"), "it is held");
  EXPECT_EQ(post("/v1/jobs", job_document("long").dump()).status, 200) << "the same document is the same job";
  EXPECT_EQ(patch(job, {{"held", false}, {"weight", 2.5}}).status, 200);
  EXPECT_EQ(get_json(job).at("trials").at("running"), 1);
}

TEST_F(ApiChangesTest, AChangeThatCannotBeIsRefusedWhole) {
  const std::string job = "/v1/jobs/" + submit(job_document("as-it-is"));
  const RawReply refused = patch(job, {{"held", true}, {"weight", -1}, {"limits", {{"max_trials", 5}}}});
  EXPECT_EQ(refused.status, 400);
  const Json details = Json::parse(refused.body).at("error").at("details");
  ASSERT_EQ(details.size(), 2) << refused.body;
  EXPECT_EQ(details[0].at("path"), "weight");
  EXPECT_EQ(details[1].at("path"), "limits.max_trials");
  EXPECT_EQ(patch(job, Json::object()).status, 400);
  const RawReply many = patch(job, {{"held", std::vector<int>(100)}});
  EXPECT_NE(many.body.find("more than 64 values"), std::string::npos) << many.body;
  EXPECT_EQ(get_json(job).at("held"), false);
  EXPECT_EQ(patch("/v1/jobs/nobody", {{"held", true}}).status, 404);
  ASSERT_EQ(post(job + "/stop").status, 202);
  EXPECT_EQ(patch(job, {{"held", true}}).status, 409);
}

TEST_F(ApiTest, ARunningJobIsStoppedAndOnlyThenDeleted) {
  const std::string id = submit(job_document("short"));
  EXPECT_EQ(remove("/v1/jobs/" + id).status, 409);
  const RawReply stopped = post("/v1/jobs/short/stop");
  EXPECT_EQ(stopped.status, 202);
  EXPECT_EQ(Json::parse(stopped.body).at("state"), "stopped") << "nothing was running";
  EXPECT_EQ(post("/v1/jobs/short/stop").status, 202) << "again is harmless";
  const RawReply deleted = remove("/v1/jobs/short");
  EXPECT_EQ(deleted.status, 204);
  EXPECT_EQ(deleted.body, "");
  EXPECT_EQ(get("/v1/jobs/short").status, 404);
  EXPECT_EQ(remove("/v1/jobs/short").status, 404);
}

}  // namespace
}  // namespace tuneband::test

// What a job's trials say about its space, and what a later job learns from them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/http/api_fixture.hpp"

namespace tuneband::test {
namespace {

using testing::HasSubstr;

class ApiSearchTest : public ApiTest {
 protected:
  // Two parameters, of which only x matters.
  static Json learning_job(const std::string& name, int trials) {
    Json document = job_document(name);
    document["search_space"] = {{"x", {{"type", "float"}, {"min", 0}, {"max", 1}}},
                                {"idle", {{"type", "float"}, {"min", 0}, {"max", 1}}}};
    document["sampler"] = {{"type", "random"}, {"seed", 3}};
    document["scheduler"] = {{"type", "none"}, {"max_resource", 9}};
    document["limits"] = {{"max_trials", trials}};
    return document;
  }
  void run(const Json& document) {
    submit(document);
    work_until_idle("w");
  }
};

TEST_F(ApiSearchTest, TheParameterThatMattersIsTheMostImportant) {
  run(learning_job("earlier", 40));
  const Json importance = get_json("/v1/jobs/earlier/importance").at("importance");
  EXPECT_EQ(importance.at("resource"), 9);
  EXPECT_EQ(importance.at("parameters").at(0).at("parameter"), "x");
  EXPECT_GT(importance.at("parameters").at(0).at("share").get<double>(), 0.7);
  EXPECT_EQ(importance.at("dependence").at(0).at("values").size(), importance.at("dependence").at(0).at("mean").size());
}

TEST_F(ApiSearchTest, ASurfaceIsOfTwoParametersThatAreTuned) {
  run(learning_job("earlier", 30));
  const Json surface = get_json("/v1/jobs/earlier/surface?x=x&y=idle").at("surface");
  EXPECT_EQ(surface.at("mean").size(), surface.at("x_values").size() * surface.at("y_values").size());
  for (const char* query : {"", "?x=x", "?x=x&y=x", "?x=x&y=z", "?x=&y=idle"})
    EXPECT_EQ(get("/v1/jobs/earlier/surface" + std::string(query)).status, 400) << query;
  EXPECT_THAT(get("/v1/jobs/earlier/surface?x=x&y=idel").body, HasSubstr("did you mean `idle`?"));
  EXPECT_EQ(get("/v1/jobs/nobody/surface?x=x&y=idle").status, 404);
}

TEST_F(ApiSearchTest, NothingIsImportantWhileThereAreTooFewResults) {
  run(learning_job("short", 2));
  EXPECT_EQ(get_json("/v1/jobs/short/importance").at("importance"), nullptr);
  EXPECT_EQ(get_json("/v1/jobs/short/surface?x=x&y=idle").at("surface"), nullptr);
}

TEST_F(ApiSearchTest, ALaterJobStartsFromWhatAnEarlierOneSawAndOutlivesIt) {
  run(learning_job("earlier", 30));
  Json document = learning_job("later", 5);
  document["sampler"]["type"] = "gp";
  document["warm_start"] = {"earlier"};
  run(document);
  const Json spec = get_json("/v1/jobs/later").at("spec");
  EXPECT_EQ(spec.at("warm_start").at("jobs"), Json({"earlier"}));
  EXPECT_EQ(spec.at("warm_start").at("observations").size(), 30u);
  EXPECT_EQ(remove("/v1/jobs/earlier").status, 204);
  EXPECT_EQ(get_json("/v1/jobs/later").at("state"), "completed");
}

TEST_F(ApiSearchTest, TheSameDocumentAgainIsTheSameJobAlsoWhenTheEarlierJobIsGone) {
  run(learning_job("earlier", 30));
  Json document = learning_job("later", 5);
  document["sampler"]["type"] = "gp";
  document["warm_start"] = {"earlier"};
  run(document);
  EXPECT_EQ(post("/v1/jobs", document.dump()).status, 200);
  EXPECT_EQ(remove("/v1/jobs/earlier").status, 204);
  const RawReply again = post("/v1/jobs", document.dump());
  EXPECT_EQ(again.status, 200) << again.body;
  EXPECT_EQ(Json::parse(again.body).at("job").at("id"), get_json("/v1/jobs/later").at("id"));
  run(learning_job("earlier", 12));  // another one of that name does not change what the job began with
  EXPECT_EQ(post("/v1/jobs", document.dump()).status, 200);
  document["limits"]["max_trials"] = 6;
  EXPECT_EQ(post("/v1/jobs", document.dump()).status, 409);
  EXPECT_EQ(remove("/v1/jobs/later").status, 204);
  EXPECT_EQ(remove("/v1/jobs/earlier").status, 204);
  EXPECT_THAT(post("/v1/jobs", document.dump()).body, HasSubstr("there is no job `earlier`"));
}

TEST_F(ApiSearchTest, AJobWhoseWarmStartNamesAJobByItsIdIsReadBack) {
  run(learning_job("earlier", 12));
  Json document = learning_job("later", 5);
  document["sampler"]["type"] = "gp";
  document["warm_start"] = Json::array({get_json("/v1/jobs/earlier").at("id")});
  run(document);
  const Json job = get_json("/v1/jobs/later");
  EXPECT_EQ(job.at("state"), "completed");
  EXPECT_EQ(job.at("spec").at("warm_start").at("jobs").size(), 1U);
  EXPECT_EQ(get("/v1/jobs/later/plan").status, 200);
  EXPECT_EQ(post("/v1/jobs", document.dump()).status, 200);
}

TEST_F(ApiSearchTest, AJobThatIsNamedTwiceForAWarmStartIsRefused) {
  run(learning_job("earlier", 12));
  Json document = learning_job("later", 5);
  document["sampler"]["type"] = "gp";
  for (const Json& second : {Json("earlier"), get_json("/v1/jobs/earlier").at("id")}) {
    document["warm_start"] = Json::array({"earlier", second});
    const RawReply reply = post("/v1/jobs", document.dump());
    EXPECT_EQ(reply.status, 400);
    const Json error = Json::parse(reply.body).at("error");
    EXPECT_EQ(error.at("path"), "warm_start[1]");
    EXPECT_EQ(error.at("message"), "job `" + (second.is_string() ? second.get<std::string>() : second.dump()) +
                                       "` is named twice: its results would count twice");
  }
}

TEST_F(ApiSearchTest, AWarmStartFromAJobThatIsNotThereOrHasNotEndedIsRefused) {
  submit(learning_job("under-way", 5));
  Json document = learning_job("later", 5);
  document["sampler"]["type"] = "gp";
  document["warm_start"] = {"nobody"};
  const RawReply unknown = post("/v1/jobs", document.dump());
  EXPECT_EQ(unknown.status, 400);
  EXPECT_THAT(unknown.body, HasSubstr("there is no job `nobody`"));
  document["warm_start"] = {"under-way"};
  EXPECT_THAT(post("/v1/jobs", document.dump()).body, HasSubstr("has not ended"));
}

TEST_F(ApiSearchTest, AWarmStartOfWhichNothingLiesInTheSpaceIsWarnedOfAndRunsAsWithoutIt) {
  run(learning_job("earlier", 20));
  for (const char* sampler : {"gp", "random_forest", "tpe", "bohb", "auto"}) {
    Json document = learning_job(std::string("later-") + sampler, 12);
    document["sampler"]["type"] = sampler;
    document["warm_start"] = {"earlier"};
    document["search_space"]["x"] = {{"type", "float"}, {"min", 2}, {"max", 3}};
    EXPECT_THAT(post("/v1/jobs", document.dump()).body, HasSubstr("has no result within this search space"));
    work_until_idle("w");
    EXPECT_EQ(get_json(std::string("/v1/jobs/later-") + sampler).at("state"), "completed");
  }
}

TEST_F(ApiSearchTest, AJobEndsWhenItsModelExpectsNoMore) {
  Json document = learning_job("converges", 500);
  document["sampler"]["type"] = "gp";
  document["limits"]["convergence"] = {{"tolerance", 0.5}, {"suggestions", 3}};
  run(document);
  const Json job = get_json("/v1/jobs/converges");
  EXPECT_EQ(job.at("state"), "completed");
  EXPECT_THAT(job.at("reason").get<std::string>(), testing::StartsWith("converged: "));
  EXPECT_LT(job.at("expected_improvement").get<double>(), 0.5);
  EXPECT_LT(job.at("trials").at("created").get<int>(), 100);
}

TEST_F(ApiSearchTest, ConvergenceNeedsASamplerWithAModel) {
  Json document = learning_job("blind", 5);
  document["limits"]["convergence"] = {{"tolerance", 0.5}};
  EXPECT_THAT(post("/v1/jobs", document.dump()).body, HasSubstr("limits.convergence"));
}

}  // namespace
}  // namespace tuneband::test

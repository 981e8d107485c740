#include "server/api/job_document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json.hpp"

namespace tuneband::server {
namespace {

using testing::HasSubstr;

Json xgboost_document() {
  return Json::parse(R"({
    "name": "direct-marketing", "objective": {"metric": "validation-auc", "goal": "maximize"},
    "search_space": {"eta": {"type": "float", "min": 0.01, "max": 1}, "max_depth": {"type": "int", "min": 1, "max": 6},
                     "tree_method": {"type": "categorical", "values": ["hist", "approx"]}},
    "scheduler": {"type": "hyperband", "max_resource": 27},
    "trainer": {"type": "xgboost", "parameters": {"objective": "binary:logistic"}, "eval_metric": ["auc"],
                "data": {"train": "train.csv", "label": "y", "validation": "/elsewhere/valid.csv"}}})");
}

TEST(JobDocumentTest, MakesPathsAbsoluteAndSortsKeys) {
  Diagnostics found;
  const JobDocument document = parse_job_document(xgboost_document().dump(), "/data/a/../b", found);
  ASSERT_TRUE(found.ok()) << describe(found.errors().front());
  const Json canonical = Json::parse(document.canonical);
  EXPECT_EQ(canonical.at("trainer").at("data").at("train"), "/data/b/train.csv");
  EXPECT_EQ(canonical.at("trainer").at("data").at("validation"), "/elsewhere/valid.csv");
  EXPECT_EQ(document.spec.trainer, canonical.at("trainer")) << "workers get the absolute paths";
  EXPECT_EQ(document.canonical, canonical.dump());
}

TEST(JobDocumentTest, TheCanonicalTextReadsAsItself) {
  Diagnostics found;
  const JobDocument first = parse_job_document(xgboost_document().dump(2), "/data", found);
  const JobDocument again = parse_job_document(first.canonical, "", found);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(again.canonical, first.canonical);
  const auto reread = reread_job_document(first.canonical);
  ASSERT_TRUE(reread);
  EXPECT_EQ(reread->data_key, first.spec.data_key) << "warm workers are known after a restart";
  EXPECT_EQ(reread->name, "direct-marketing");
}

TEST(JobDocumentTest, JobsOnTheSameDataShareTheirKey) {
  Diagnostics found;
  Json other = xgboost_document();
  other["name"] = "another";
  other["search_space"]["eta"]["max"] = 0.5;
  const std::string key = parse_job_document(xgboost_document().dump(), "/data", found).spec.data_key;
  EXPECT_FALSE(key.empty());
  EXPECT_EQ(parse_job_document(other.dump(), "/data", found).spec.data_key, key);
  EXPECT_NE(parse_job_document(other.dump(), "/other", found).spec.data_key, key);
}

TEST(JobDocumentTest, TheTrainerIsCheckedAgainstTheSearchSpace) {
  Json document = xgboost_document();
  document["search_space"]["maxdepth"] = document["search_space"]["max_depth"];
  document["search_space"].erase("max_depth");
  Diagnostics found;
  parse_job_document(document.dump(), "/data", found);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.errors().front().path, "search_space.maxdepth");
  EXPECT_THAT(found.errors().front().hint, testing::HasSubstr("max_depth"));
}

TEST(JobDocumentTest, OfMoreValuesThanAJobHasNothingIsBuilt) {
  std::string text = "[1";
  for (std::size_t i = 0; i < kSubmittedValuesMax; ++i) text += ",1";
  Diagnostics found;
  parse_job_document(text + "]", "/data", found);
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.errors().front().message, testing::HasSubstr("more than 1000000 values"));
}

TEST(JobDocumentTest, APathThatOnlyAShellOrAnotherProgramUnderstandsIsRefusedInItsPlace) {
  const auto fault_with = [](const char* field, const Json& value) {
    Json document = xgboost_document();
    document["trainer"]["data"][field] = value;
    Diagnostics found;
    parse_job_document(document.dump(), "/data", found);
    return found.ok() ? "" : describe(found.errors().front());
  };
  EXPECT_THAT(fault_with("train", "s3://bucket/train.csv"),
              HasSubstr("trainer.data.train: expected a path on the server's file"));
  EXPECT_THAT(fault_with("train", Json({"a.csv", "~/b.csv"})), HasSubstr("trainer.data.train[1]: expected a path without `~`"));
  EXPECT_THAT(fault_with("validation", "~/valid.csv"), HasSubstr("trainer.data.validation: expected a path without `~`"));
}

TEST(JobDocumentTest, AnEnvironmentHasTextsAndReferences) {
  const auto fault_with = [](const Json& environment) {
    Json document = Json::parse(R"({"name": "j", "objective": {"metric": "x", "goal": "minimize"}, "search_space": {"x": 1},
                                    "scheduler": {"type": "none", "max_resource": 1}, "limits": {"max_trials": 1}})");
    document["trainer"] = {{"type", "command"}, {"argv", {"true"}}, {"environment", environment}};
    Diagnostics found;
    const JobDocument read = parse_job_document(document.dump(), "/data", found);
    return found.ok() ? read.spec.trainer.at("environment").dump() : describe(found.errors().front());
  };
  EXPECT_EQ(fault_with({{"A", "a"}, {"B", {{"from_environment", "C"}}}, {"D", {{"file", "key"}}}}),
            R"({"A":"a","B":{"from_environment":"C"},"D":{"file":"/data/key"}})");
  EXPECT_THAT(fault_with({{"A", "********"}}), HasSubstr("trainer.environment.A: is the mask of a value"));
  EXPECT_THAT(fault_with({{"A", Json::object()}}), HasSubstr("trainer.environment.A: expected a text, {"));
  EXPECT_THAT(fault_with({{"A", {{"file", "/k"}, {"from_environment", "B"}}}}),
              HasSubstr("trainer.environment.A: expected a text, {"));
  EXPECT_THAT(fault_with({{"A", {{"from_server", "B"}}}}), HasSubstr("trainer.environment.A"));
  EXPECT_THAT(fault_with({{"A", {"secret"}}}), testing::Not(HasSubstr("secret"))) << "a value is not quoted either";
}

TEST(JobDocumentTest, RelativePathsNeedADirectory) {
  Diagnostics found;
  parse_job_document(xgboost_document().dump(), "", found);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.errors().front().path, "trainer.data.train");
}

TEST(JobDocumentTest, WhatIsNoDocumentIsNotReread) {
  for (const char* text : {"", "{}", "[]", "{\"name\": \"x\"}", "nonsense"}) EXPECT_FALSE(reread_job_document(text)) << text;
  Json document = xgboost_document();
  document["candidates"] = Json::array();
  EXPECT_EQ(reread_job_document(document.dump()).error().path, "candidates") << "it is told why";
}

}  // namespace
}  // namespace tuneband::server

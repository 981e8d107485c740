#include "jobs/parsed_job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json.hpp"

namespace tuneband {
namespace {

using testing::HasSubstr;

Json xgboost_document() {
  return Json::parse(R"({
    "name": "direct-marketing", "objective": {"metric": "validation-auc", "goal": "maximize"},
    "search_space": {"eta": {"type": "float", "min": 0.01, "max": 1}, "max_depth": {"type": "int", "min": 1, "max": 6},
                     "tree_method": {"type": "categorical", "values": ["hist", "approx"]}},
    "scheduler": {"type": "hyperband", "max_resource": 27},
    "trainer": {"type": "xgboost", "parameters": {"objective": "binary:logistic"}, "eval_metric": ["auc"],
                "data": {"train": "train.csv", "label": "y", "validation": "/elsewhere/valid.csv", "test": "test.csv"}}})");
}

TEST(ParsedJob, MakesPathsAbsoluteAndSortsKeys) {
  Diagnostics found;
  const ParsedJob document = parse_job(xgboost_document().dump(), "/data/a/../b", found);
  ASSERT_TRUE(found.ok()) << describe(found.errors().front());
  const Json canonical = Json::parse(document.canonical);
  EXPECT_EQ(canonical.at("trainer").at("data").at("train"), "/data/b/train.csv");
  EXPECT_EQ(canonical.at("trainer").at("data").at("validation"), "/elsewhere/valid.csv");
  EXPECT_EQ(canonical.at("trainer").at("data").at("test"), "/data/b/test.csv");
  EXPECT_EQ(document.spec.trainer, canonical.at("trainer")) << "workers get the absolute paths";
  EXPECT_EQ(document.canonical, canonical.dump());
}

TEST(ParsedJob, AnIntegerMayBeWrittenAsAFloatThatIsWhole) {
  const auto read = [](const char* changes) {
    Json document = xgboost_document();
    document.merge_patch(Json::parse(changes));
    Diagnostics found;
    ParsedJob job = parse_job(document.dump(), "/data", found);
    EXPECT_TRUE(found.ok()) << describe(found.errors().front());
    return job;
  };
  const ParsedJob whole = read(R"({"scheduler": {"type": "auto", "max_resource": 81}, "limits": {"max_trials": 9},
                                   "search_space": {"max_depth": {"min": 2}}, "enqueue": [{"max_depth": 3}],
                                   "trainer": {"replicas": [1, 2]}})");
  const ParsedJob floats = read(R"({"scheduler": {"type": "auto", "max_resource": 81.0}, "limits": {"max_trials": 9.0},
                                    "search_space": {"max_depth": {"min": 2.0}}, "enqueue": [{"max_depth": 3.0}],
                                    "trainer": {"replicas": [1.0, 2.0]}})");
  EXPECT_EQ(floats.spec.scheduler.max_resource, 81);
  EXPECT_EQ(floats.spec.scheduler.min_resource, whole.spec.scheduler.min_resource) << "a default that follows from it";
  EXPECT_EQ(floats.spec.limits.max_trials, 9);
  EXPECT_EQ(floats.spec.enqueue, whole.spec.enqueue);
  EXPECT_EQ(floats.spec.replicas, whole.spec.replicas);
  EXPECT_EQ(floats.plan.total_resource, whole.plan.total_resource);
  EXPECT_EQ(read(R"({"scheduler": {"rungs": [3.0, 9.0, 27.0], "type": "successive_halving"}})").spec.scheduler.rungs,
            (std::vector<std::int64_t>{3, 9, 27}));
}

TEST(ParsedJob, WhatNoRoundMeasuresCannotBeAConstraintOrAFurtherObjective) {
  const auto faults = [](const Json& changes) {
    Json document = xgboost_document();
    document.merge_patch(changes);
    Diagnostics found;
    parse_job(document.dump(), "/data", found);
    std::vector<std::string> texts;
    for (const Error& error : found.errors()) texts.push_back(error.path + ": " + error.message);
    return texts;
  };
  const auto bounded = [](const char* metric) {
    return Json{{"objective", {{"constraints", {{{"metric", metric}, {"max", 0.3}}}}}}};
  };
  using testing::ElementsAre;
  const std::string of_constraint = "objective.constraints[0].metric: ";
  EXPECT_THAT(faults(bounded("validation-erorr")), ElementsAre(of_constraint + "XGBoost has no metric `erorr`"));
  EXPECT_THAT(faults(bounded("train-auc")), ElementsAre(of_constraint + "`train-auc` is measured only with trainer.eval_train"));
  EXPECT_THAT(faults(bounded("validation-error")), ElementsAre(of_constraint + "`error` is not among trainer.eval_metric (auc)"));
  Json measured = bounded("validation-error");
  measured["trainer"]["eval_metric"] = {"auc", "error"};
  EXPECT_THAT(faults(measured), testing::IsEmpty());
  const auto measuring = [](const char* metric) { return Json{{"trainer", {{"eval_metric", {"auc", metric}}}}}; };
  EXPECT_THAT(faults(measuring("error@0.3")), testing::IsEmpty());
  for (const auto& [given, reported] : {std::pair("error@0.50", "error"), std::pair("error@.3", "error@0.3")}) {
    const std::string fault = "XGBoost reports `" + std::string(given) + "` as `" + reported + "`";
    EXPECT_THAT(faults(measuring(given)), ElementsAre("trainer.eval_metric[1]: " + fault));
    Json asked = bounded(("validation-" + std::string(given)).c_str());
    EXPECT_THAT(faults(asked), ElementsAre(of_constraint + fault));
  }
  Json by_default = bounded("validation-error");
  by_default["trainer"]["eval_metric"] = nullptr;
  EXPECT_THAT(faults(by_default),
              ElementsAre(testing::StartsWith(of_constraint + "`error` is not among trainer.eval_metric (auc: the")));
  const Json objectives = Json::parse(R"([{"metric": "validation-auc", "goal": "maximize"},
                                          {"metric": "validation-auk", "goal": "maximize"}])");
  EXPECT_THAT(faults({{"objective", nullptr}, {"objectives", objectives}}),
              ElementsAre("objectives[1].metric: XGBoost has no metric `auk`"));
  Json document = xgboost_document();
  document["objective"] = {{"metric", "loss"}, {"goal", "minimize"}, {"constraints", {{{"metric", "siez"}, {"max", 1}}}}};
  document["trainer"] = {{"type", "command"},
                         {"argv", {"train"}},
                         {"metrics", {{{"name", "loss"}, {"regex", "loss (.*)"}}, {{"name", "size"}, {"regex", "size (.*)"}}}}};
  Diagnostics found;
  parse_job(document.dump(), "/data", found);
  ASSERT_EQ(found.errors().size(), 1U);
  EXPECT_EQ(found.errors().front().path, "objective.constraints[0].metric");
}

TEST(ParsedJob, TheCanonicalTextReadsAsItself) {
  Diagnostics found;
  const ParsedJob first = parse_job(xgboost_document().dump(2), "/data", found);
  const ParsedJob again = parse_job(first.canonical, "", found);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(again.canonical, first.canonical);
  const auto stored = parse_stored_job(first.canonical);
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->trainer_fault, std::nullopt);
  EXPECT_EQ(stored->spec.data_key, first.spec.data_key) << "warm workers are known after a restart";
  EXPECT_EQ(stored->spec.name, "direct-marketing");
  EXPECT_EQ(stored->resource_name, first.resource_name);
  EXPECT_EQ(to_json(stored->plan), to_json(first.plan));
}

TEST(ParsedJob, JobsOnTheSameDataShareTheirKey) {
  Diagnostics found;
  Json other = xgboost_document();
  other["name"] = "another";
  other["search_space"]["eta"]["max"] = 0.5;
  const std::string key = parse_job(xgboost_document().dump(), "/data", found).spec.data_key;
  EXPECT_FALSE(key.empty());
  EXPECT_EQ(parse_job(other.dump(), "/data", found).spec.data_key, key);
  EXPECT_NE(parse_job(other.dump(), "/other", found).spec.data_key, key);
}

TEST(ParsedJob, TheTrainerIsCheckedAgainstTheSearchSpace) {
  Json document = xgboost_document();
  document["search_space"]["maxdepth"] = document["search_space"]["max_depth"];
  document["search_space"].erase("max_depth");
  Diagnostics found;
  parse_job(document.dump(), "/data", found);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.errors().front().path, "search_space.maxdepth");
  EXPECT_THAT(found.errors().front().hint, testing::HasSubstr("max_depth"));
}

TEST(ParsedJob, OfMoreValuesThanAJobHasNothingIsBuilt) {
  std::string text = "[1";
  for (std::size_t i = 0; i < kSubmittedValuesMax; ++i) text += ",1";
  Diagnostics found;
  parse_job(text + "]", "/data", found);
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.errors().front().message, testing::HasSubstr("more than 1000000 values"));
}

TEST(ParsedJob, APathThatOnlyAShellOrAnotherProgramUnderstandsIsRefusedInItsPlace) {
  const auto fault_with = [](const char* field, const Json& value) {
    Json document = xgboost_document();
    document["trainer"]["data"][field] = value;
    Diagnostics found;
    parse_job(document.dump(), "/data", found);
    return found.ok() ? "" : describe(found.errors().front());
  };
  EXPECT_THAT(fault_with("train", "s3://bucket/train.csv"),
              HasSubstr("trainer.data.train: expected a path on the server's file"));
  EXPECT_THAT(fault_with("train", Json({"a.csv", "~/b.csv"})), HasSubstr("trainer.data.train[1]: expected a path without `~`"));
  EXPECT_THAT(fault_with("train", Json({"~/a.csv", "b.csv"})), HasSubstr("trainer.data.train[0]: expected a path without `~`"));
  EXPECT_THAT(fault_with("validation", "~/valid.csv"), HasSubstr("trainer.data.validation: expected a path without `~`"));
}

TEST(ParsedJob, AnEnvironmentHasTextsAndReferences) {
  const auto fault_with = [](const Json& environment) {
    Json document = Json::parse(R"({"name": "j", "objective": {"metric": "x", "goal": "minimize"}, "search_space": {"x": 1},
                                    "scheduler": {"type": "none", "max_resource": 1}, "limits": {"max_trials": 1}})");
    document["trainer"] = {{"type", "command"}, {"argv", {"true"}}, {"environment", environment}};
    Diagnostics found;
    const ParsedJob read = parse_job(document.dump(), "/data", found);
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

TEST(ParsedJob, RelativePathsNeedADirectory) {
  Diagnostics found;
  parse_job(xgboost_document().dump(), "", found);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.errors().front().path, "trainer.data.train");
}

TEST(ParsedJob, TheDirectoryThatPathsStartFromIsAbsoluteAndUtf8) {
  for (const char* directory : {"data", "./data", "/data\xff"}) {
    Diagnostics found;
    parse_job(xgboost_document().dump(), directory, found);
    ASSERT_FALSE(found.ok()) << directory;
    EXPECT_EQ(found.errors().front().path, "base_dir");
    EXPECT_EQ(found.errors().size(), 1U);
  }
}

TEST(ParsedJob, TheWorkingDirectoryOfACommandIsMadeAbsolute) {
  Json document = Json::parse(R"({"name": "j", "objective": {"metric": "x", "goal": "minimize"}, "search_space": {"x": 1},
                                  "scheduler": {"type": "none", "max_resource": 1}, "limits": {"max_trials": 1},
                                  "trainer": {"type": "command", "argv": ["true"], "working_dir": "code"}})");
  Diagnostics found;
  EXPECT_EQ(parse_job(document.dump(), "/data", found).spec.trainer.at("working_dir"), "/data/code");
  EXPECT_TRUE(found.ok());
}

TEST(ParsedJob, AStoredTrainerThatThisVersionDoesNotKnowLeavesTheRestReadable) {
  Json document = xgboost_document();
  document["trainer"]["of_a_later_version"] = 1;
  const auto stored = parse_stored_job(document.dump());
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->resource_name, "rounds");
  EXPECT_EQ(stored->plan.ladder.back(), 27);
  ASSERT_TRUE(stored->trainer_fault);
  EXPECT_EQ(stored->trainer_fault->path, "trainer.of_a_later_version");
  EXPECT_EQ(stored->spec.data_key, "");
}

TEST(ParsedJob, FaultsOfTheJobAndOfItsTrainerAreToldAtOnce) {
  const auto paths_with = [](const Json& trainer, const Json& search_space) {
    Json document = xgboost_document();
    document["scheduler"]["max_resurce"] = 3;
    document["trainer"].merge_patch(trainer);
    document["search_space"].merge_patch(search_space);
    Diagnostics found;
    parse_job(document.dump(), "/data", found);
    std::vector<std::string> paths;
    for (const Error& fault : found.errors()) paths.push_back(fault.path);
    return paths;
  };
  using testing::ElementsAre;
  EXPECT_THAT(paths_with({{"dta", 1}}, Json::object()), ElementsAre("scheduler.max_resurce", "trainer.dta"));
  EXPECT_THAT(paths_with({{"eval_metric", "aucc"}}, {{"max_depht", 3}}),
              ElementsAre("scheduler.max_resurce", "search_space.max_depht", "trainer.eval_metric", "objective.metric"));
  EXPECT_THAT(paths_with(Json::object(), {{"eta", {{"min", 2}}}, {"max_depht", 3}}),
              ElementsAre("search_space.eta.max", "scheduler.max_resurce"))
      << "what follows from a fault is not held against XGBoost's tables";
}

TEST(ParsedJob, OfTooManyRoundsTheLadderThatFollowsIsNoFault) {
  Json document = xgboost_document();
  document["scheduler"] = {{"max_resource", 1'000'000'000'000}};
  Diagnostics found;
  parse_job(document.dump(), "/data", found);
  ASSERT_EQ(found.errors().size(), 1U) << describe(found.errors().back());
  EXPECT_EQ(found.errors().front().path, "scheduler.max_resource");
}

TEST(ParsedJob, WhatReadersKeepIsWithoutTheListsOfConfigurations) {
  Json document = xgboost_document();
  document["enqueue"] = {{{"eta", 0.1}, {"max_depth", 2}, {"tree_method", "hist"}}};
  document["limits"]["max_trials"] = 5;
  Diagnostics found;
  ParsedJob job = parse_job(document.dump(), "/data", found);
  ASSERT_TRUE(found.ok()) << describe(found.errors().front());
  ASSERT_EQ(job.spec.enqueue.size(), 1);
  const auto kept = job_for_readers(std::move(job));
  EXPECT_TRUE(kept->spec.enqueue.empty());
  EXPECT_EQ(kept->canonical, "");
  EXPECT_EQ(kept->plan.trials, 5);
}

TEST(ParsedJob, EtaAdaptationIsNotForAListOfWhatMayRun) {
  Json document = xgboost_document();
  document["candidates"] = {{{"eta", 0.1}, {"max_depth", 2}, {"tree_method", "hist"}}};
  Diagnostics found;
  EXPECT_EQ(Json::parse(parse_job(document.dump(), "/data", found).canonical)["trainer"]["adapt_eta"], false);
  document["trainer"]["adapt_eta"] = true;
  parse_job(document.dump(), "/data", found);
  ASSERT_EQ(found.errors().size(), 1U);
  EXPECT_EQ(found.errors().front().path, "trainer.adapt_eta");
}

TEST(ParsedJob, WhatIsNoDocumentIsNotRead) {
  for (const char* text : {"", "{}", "[]", "{\"name\": \"x\"}", "nonsense"}) EXPECT_FALSE(parse_stored_job(text)) << text;
  Json document = xgboost_document();
  document["candidates"] = Json::array();
  EXPECT_EQ(parse_stored_job(document.dump()).error().path, "candidates") << "it is told why";
}

}  // namespace
}  // namespace tuneband

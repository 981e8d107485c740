#include "analytics/refit.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/json.hpp"
#include "search_spaces/shrinkage.hpp"

namespace tuneband::test {
namespace {

ParsedJob job_of(const Json& trainer) {
  Json document = Json::parse(R"({
      "name": "refit", "objective": {"metric": "validation-auc", "goal": "maximize"}, "sampler": {"seed": 7},
      "search_space": {"learning_rate": {"type": "float", "min": 0.01, "max": 0.5},
                       "max_depth": {"type": "int", "min": 2, "max": 9}},
      "trainer": {"type": "xgboost", "data": {"train": "/data.csv", "label": "y"}, "parameters": {"objective": "binary:logistic"},
                  "eval_metric": ["auc"]},
      "scheduler": {"type": "auto", "max_resource": 81}, "limits": {"max_trials": 9}})");
  document["trainer"].update(trainer);
  Diagnostics diagnostics;
  ParsedJob job = parse_job_document(document, "", diagnostics);
  EXPECT_TRUE(diagnostics.ok());
  return job;
}

const RawJson kConfiguration{R"({"learning_rate": 0.2, "max_depth": 5})"};

TrialRow at_the_top() {
  TrialRow trial;
  trial.id = {JobId{1}, 4};
  trial.until_resource = trial.objective_resource = 81;
  trial.objective = 0.8;
  return trial;
}

Json parameters_of(const views::Refit& refit) { return Json::parse(refit.parameters.text); }

TEST(Refit, OfATrainingAtMaxResourceHasTheConfigurationAsItIs) {
  const ParsedJob job = job_of(Json::object());
  TrialRow trial = at_the_top();
  trial.kept_value = 0.8;
  trial.kept_resource = 60;
  trial.kept_until_resource = 81;
  const auto refit = refit_of(job, trial, kConfiguration);
  ASSERT_TRUE(refit);
  EXPECT_EQ(refit->rounds, 60);
  Json expected = Json::parse(R"({"eta": 0.2, "max_depth": 5, "objective": "binary:logistic", "tree_method": "hist",
                                  "seed_per_iteration": 1})");
  expected["seed"] = seed_of_trial(job.spec, 4) & 0x7fffffff;
  EXPECT_EQ(parameters_of(*refit), expected);
}

TEST(Refit, OfAModelOfALowerRungHasTheLearningRateOfThatRungBeforeItWasAdapted) {
  const ParsedJob job = job_of(Json::object());
  const double shrinkage_max = std::get<XgboostSpec>(job.trainer).shrinkage_max;
  TrialRow trial = at_the_top();
  trial.kept_value = 0.85;
  trial.kept_resource = 8;
  trial.kept_until_resource = 9;
  EXPECT_EQ(parameters_of(*refit_of(job, trial, kConfiguration))["eta"], shrunk_eta(0.2, 9, 81, shrinkage_max));
  trial.kept_eta = 0.05;
  const auto refit = refit_of(job, trial, kConfiguration);
  EXPECT_EQ(refit->rounds, 8);
  EXPECT_EQ(parameters_of(*refit)["eta"], shrunk_eta(0.05, 9, 81, shrinkage_max));
  EXPECT_NEAR(parameters_of(*refit)["eta"].get<double>(), 1 - std::pow(0.95, 9), 1e-12);
}

TEST(Refit, OfATrialThatKeepsTheLastRoundIsOfItsRung) {
  TrialRow trial = at_the_top();
  trial.objective_resource = 27;
  const auto prefix = refit_of(job_of({{"keep", "last"}, {"fidelity", "prefix"}}), trial, kConfiguration);
  EXPECT_EQ(prefix->rounds, 27);
  EXPECT_EQ(parameters_of(*prefix)["eta"], 0.2) << "the first rounds of the training until max_resource";
  const ParsedJob job = job_of({{"keep", "last"}});
  EXPECT_EQ(parameters_of(*refit_of(job, trial, kConfiguration))["eta"],
            shrunk_eta(0.2, 27, 81, std::get<XgboostSpec>(job.trainer).shrinkage_max));
}

TEST(Refit, NumbersAreNumbersHoweverTheJobWritesThem) {
  const auto refit = refit_of(job_of({{"parameters", {{"gamma", ".5"}, {"alpha", 2}}}}), at_the_top(), kConfiguration);
  ASSERT_TRUE(refit);
  EXPECT_EQ(parameters_of(*refit)["gamma"], 0.5);
  EXPECT_EQ(parameters_of(*refit)["alpha"].dump(), "2");
}

TEST(Refit, IsNotToldWhereItIsNotKnown) {
  TrialRow trial = at_the_top();
  trial.kept_value = 0.8;
  trial.kept_resource = 60;
  EXPECT_FALSE(refit_of(job_of(Json::object()), trial, kConfiguration)) << "of a rung that an earlier version did not note";
  EXPECT_EQ(refit_of(job_of({{"fidelity", "prefix"}}), trial, kConfiguration)->rounds, 60) << "all rungs are one training";
  trial = at_the_top();
  trial.objective.reset();
  EXPECT_FALSE(refit_of(job_of(Json::object()), trial, kConfiguration)) << "without a value";
}

TEST(Refit, ConstraintsByNamesAreThoseThatPythonTakes) {
  const ParsedJob job =
      job_of(Json::parse(R"({"parameters": {"monotone_constraints": {"age": 1}, "interaction_constraints": [["age", "job"]]}})"));
  const Json parameters = parameters_of(*refit_of(job, at_the_top(), kConfiguration));
  EXPECT_EQ(parameters["monotone_constraints"], (Json{{"age", 1}}));
  EXPECT_EQ(parameters["interaction_constraints"].dump(), R"([["age","job"]])");
  EXPECT_FALSE(refit_of(job, at_the_top(), kConfiguration)->exact) << "a column of texts has other names in the model";
  const ParsedJob by_place = job_of({{"parameters", {{"interaction_constraints", "[[0, 1]]"}}}});
  EXPECT_EQ(parameters_of(*refit_of(by_place, at_the_top(), kConfiguration))["interaction_constraints"], "[[0, 1]]");
  EXPECT_TRUE(refit_of(by_place, at_the_top(), kConfiguration)->exact);
}

TEST(Refit, OfARankingIsNotExactSinceItsPairsAreDrawnByEachThread) {
  EXPECT_FALSE(refit_of(job_of({{"parameters", {{"objective", "rank:ndcg"}}},
                                {"data", {{"train", "/data.csv"}, {"label", "y"}, {"group", "q"}}},
                                {"eval_metric", "auc"}}),
                        at_the_top(), kConfiguration)
                   ->exact);
}

}  // namespace
}  // namespace tuneband::test

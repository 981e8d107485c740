// Each field of a job document at its documented ends: the last value that is taken, the first that is refused.
#include <gmock/gmock.h>

#include <algorithm>

#include "scheduler/job_spec.hpp"
#include "scheduler/plan.hpp"

namespace tuneband {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

Json small_job() {
  return Json::parse(R"({"name": "a", "objective": {"metric": "m", "goal": "minimize"},
                         "search_space": {"x": {"type": "float", "min": 0, "max": 1}},
                         "trainer": {"type": "command", "argv": ["t"]},
                         "scheduler": {"type": "asha_promotion", "max_resource": 81}, "limits": {"max_trials": 20000}})");
}

struct ReadJob {
  JobSpec spec;
  std::vector<std::string> errors;
};

ReadJob read_job(const Json& document) {
  Diagnostics diagnostics;
  ReadJob read{JobSpec::parse(document, diagnostics), {}};
  for (const Error& error : diagnostics.errors()) read.errors.push_back(describe(error));
  return read;
}

ReadJob job_with(const std::string& pointer, const Json& value) {
  Json document = small_job();
  document[Json::json_pointer(pointer)] = value;
  return read_job(document);
}

void expect_ends(const std::string& pointer, const std::vector<Json>& taken, const std::vector<Json>& refused,
                 const std::string& fault_at = "") {
  std::string path = pointer.substr(1);
  std::replace(path.begin(), path.end(), '/', '.');
  for (const Json& value : taken) EXPECT_THAT(job_with(pointer, value).errors, IsEmpty()) << path << value.dump().substr(0, 40);
  for (const Json& value : refused) {
    EXPECT_THAT(job_with(pointer, value).errors, ElementsAre(StartsWith(path + fault_at + ":"))) << value.dump().substr(0, 40);
  }
}

Json constraints(int count) {
  Json list = Json::array();
  for (int i = 0; i < count; ++i) list.push_back({{"metric", "c" + std::to_string(i)}, {"max", 1}});
  return list;
}

TEST(JobBounds, OfNumbersAreHeld) {
  const double ten_years = 10 * 366 * 86'400.0;
  expect_ends("/scheduler/max_resource", {1, 1'000'000'000}, {0, 1'000'000'001});
  expect_ends("/scheduler/min_resource", {1, 81}, {0, 82});
  expect_ends("/scheduler/eta", {2, 100}, {1, 101});
  expect_ends("/limits/max_trials", {1, 1'000'000}, {0, 1'000'001});
  expect_ends("/limits/max_parallel_trials", {1, 10'000}, {0, 10'001});
  expect_ends("/limits/max_runtime_seconds", {0.001, ten_years}, {0, ten_years + 1});
  expect_ends("/limits/max_trials_without_improvement", {1, 1'000'000}, {0, 1'000'001});
  expect_ends("/limits/max_attempts", {1, 100}, {0, 101});
  expect_ends("/limits/max_failures_in_a_row", {1, 1'000'000}, {0, 1'000'001});
  expect_ends("/limits/convergence", {{{"tolerance", 1e-9}, {"suggestions", 1}}, {{"tolerance", 1}, {"suggestions", 1'000'000}}},
              {});
  expect_ends("/limits/convergence", {}, {{{"tolerance", 0}}, Json::object()}, ".tolerance");
  expect_ends("/limits/convergence", {}, {{{"tolerance", 1}, {"suggestions", 0}}, {{"tolerance", 1}, {"suggestions", 1'000'001}}},
              ".suggestions");
  expect_ends("/limits/convergence", {}, {{{"tolerance", 1}, {"x", 1}}}, ".x");
  expect_ends("/weight", {0.001, 1000}, {0.0009, 1000.1});
  expect_ends("/trainer/replicas", {1, 1000}, {0, 1001, 1.5, "1"});
}

TEST(JobBounds, OfTextsAndListsAreHeld) {
  expect_ends("/name", {"a", "_", std::string(64, 'a'), "9-", "0a", "Z", "z0", "A.z"},
              {"", std::string(65, 'a'), "9", ".a", "-a", "a b", "a/"});
  expect_ends("/objective/metric", {"m", std::string(200, 'm')}, {"", std::string(201, 'm')});
  expect_ends("/objective/constraints", {constraints(1), constraints(20)}, {constraints(21), Json::array()});
  expect_ends("/objective/constraints", {Json(1, {{"metric", std::string(200, 'm')}, {"min", 1}, {"max", 1}})}, {});
  expect_ends("/objective/constraints", {}, {Json(1, {{"metric", std::string(201, 'm')}, {"max", 1}})}, "[0].metric");
  expect_ends("/objective/constraints", {}, {Json(1, {{"metric", "c"}, {"min", 1.5}, {"max", 1}})}, "[0].min");
  expect_ends("/enqueue", {Json(10'000, {{"x", 0.5}})}, {Json(10'001, {{"x", 0.5}})});
  expect_ends("/candidates", {Json(10'000, {{"x", 0.5}})}, {Json(10'001, {{"x", 0.5}}), Json::array()});
  expect_ends("/warm_start", {Json(20, "b"), Json(1, 7U), Json(1, "7")}, {Json(21, "b"), Json::array(), 3});
  expect_ends("/warm_start", {}, {Json(1, ""), Json(1, -1), Json(1, std::string(65, '7')), Json(1, "a b")}, "[0]");
  expect_ends("/scheduler/rungs", {{1, 81}, Json::array({81})}, {});
  expect_ends("/scheduler/rungs", {}, {{0, 81}}, "[0]");
  expect_ends("/scheduler/rungs", {}, {{3, 3, 81}, {3, 82}, {3, 80}}, "[1]");
}

TEST(JobBounds, OfManyRungsThirtyAreTaken) {
  Json document = small_job();
  document["scheduler"]["max_resource"] = 31;
  for (int level = 2; level <= 31; ++level) document["scheduler"]["rungs"].push_back(level);
  EXPECT_THAT(read_job(document).errors, IsEmpty());
  document["scheduler"]["rungs"].insert(document["scheduler"]["rungs"].begin(), 1);
  EXPECT_THAT(read_job(document).errors, ElementsAre(StartsWith("scheduler.rungs: expected a list of 1 to 30")));
}

TEST(JobBounds, NumbersOfReplicasAreUpToTwentyDifferentOnes) {
  Json replicas = Json::array();
  for (int count = 20; count >= 1; --count) replicas.push_back(count);
  const ReadJob read = job_with("/trainer/replicas", replicas);
  EXPECT_THAT(read.errors, IsEmpty());
  EXPECT_EQ(read.spec.replicas.size(), 20U);
  EXPECT_EQ(read.spec.replicas.front(), 1);
  ASSERT_NE(read.spec.search_space.find("replicas"), nullptr);
  EXPECT_EQ(read.spec.replicas_of({{"replicas", std::int64_t{7}}}), 7);
  replicas.push_back(21);
  EXPECT_THAT(job_with("/trainer/replicas", replicas).errors, ElementsAre(StartsWith("trainer.replicas: expected 1 to 20")));
  EXPECT_THAT(job_with("/trainer/replicas", Json::array()).errors, ElementsAre(StartsWith("trainer.replicas: expected 1 to 20")));
  EXPECT_THAT(job_with("/trainer/replicas", {2, 3, 2}).errors, ElementsAre(StartsWith("trainer.replicas[2]: 2 stands twice")));
  EXPECT_THAT(job_with("/trainer/replicas", {2, 1001}).errors,
              ElementsAre(StartsWith("trainer.replicas[1]: expected an integer")));
  Json taken = small_job();
  taken["trainer"]["replicas"] = {1, 2};
  taken["search_space"]["replicas"] = 1;
  EXPECT_THAT(read_job(taken).errors, ElementsAre(StartsWith("search_space.replicas: is taken")));
}

TEST(JobBounds, TheRankThatReportsIsOneThatEveryTrialHas) {
  const auto with_rank = [](const Json& replicas, const Json& rank) {
    Json document = small_job();
    document["trainer"].update({{"replicas", replicas}, {"metric_rank", rank}});
    return read_job(document);
  };
  EXPECT_THAT(with_rank(3, 2).errors, IsEmpty());
  EXPECT_EQ(with_rank(3, 2).spec.metric_rank, 2);
  EXPECT_THAT(with_rank(3, 0).errors, IsEmpty());
  for (const Json& wrong : {Json(3), Json(-1), Json(1.5)}) {
    EXPECT_THAT(with_rank(3, wrong).errors, ElementsAre(StartsWith("trainer.metric_rank: expected a rank from 0 to 2"))) << wrong;
  }
  EXPECT_THAT(with_rank({4, 2}, 2).errors, ElementsAre(StartsWith("trainer.metric_rank: expected a rank from 0 to 1")));
}

TEST(JobBounds, OfSeveralObjectivesTwoToFourAreTakenAndTwoThousandTrials) {
  const auto objectives = [](int count, const Json& limits) {
    Json document = small_job();
    document.erase("objective");
    document["limits"] = limits;
    document["objectives"] = Json::array();
    for (int i = 0; i < count; ++i) document["objectives"].push_back({{"metric", "m" + std::to_string(i)}, {"goal", "minimize"}});
    return read_job(document).errors;
  };
  const Json few{{"max_trials", 2000}};
  for (const int count : {2, 4}) EXPECT_THAT(objectives(count, few), IsEmpty()) << count;
  for (const int count : {1, 5})
    EXPECT_THAT(objectives(count, few), ElementsAre(StartsWith("objectives: expected a list of 2 to 4")));
  EXPECT_THAT(objectives(2, {{"max_trials", 2001}}), ElementsAre(StartsWith("limits.max_trials: with several objectives")));
  EXPECT_THAT(objectives(2, {{"max_runtime_seconds", 60}}),
              ElementsAre(StartsWith("limits.max_trials: with several objectives")));
  EXPECT_THAT(objectives(2, {{"max_trials", 20}, {"convergence", {{"tolerance", 1}}}}),
              ElementsAre(StartsWith("limits.convergence: needs a single objective")));
}

TEST(JobBounds, WhatComparesSingleValuesIsRefusedOrLeftOutWithSeveralObjectives) {
  const auto with = [](const Json& scheduler) {
    Json document = small_job();
    document.erase("objective");
    document["objectives"] = {{{"metric", "a"}, {"goal", "minimize"}}, {{"metric", "b"}, {"goal", "minimize"}}};
    document["limits"]["max_trials"] = 20;
    document["scheduler"].update(scheduler);
    return read_job(document);
  };
  const ReadJob automatic = with({{"type", "auto"}});
  EXPECT_THAT(automatic.errors, IsEmpty());
  EXPECT_FALSE(automatic.spec.scheduler.rung_audit);
  EXPECT_EQ(automatic.spec.scheduler.promotion, Promotion::value);
  EXPECT_THAT(with({{"type", "asha_delayed"}}).errors, IsEmpty());
  EXPECT_THAT(with({{"type", "asha_delayed"}, {"promotion", "prediction"}}).errors,
              ElementsAre(StartsWith("scheduler.promotion:")));
  EXPECT_THAT(with({{"type", "asha_delayed"}, {"rung_audit", true}}).errors, ElementsAre(StartsWith("scheduler.rung_audit:")));
}

TEST(JobBounds, FirstResourceIsBelowTheLadderOfDelayedPromotionWithoutAnAudit) {
  const auto with = [](Json scheduler) {
    Json document = small_job();
    scheduler.update({{"max_resource", 27}});
    document["scheduler"] = std::move(scheduler);
    return read_job(document);
  };
  const ReadJob read = with({{"type", "auto"}, {"min_resource", 9}, {"first_resource", 3}});
  EXPECT_THAT(read.errors, IsEmpty());
  EXPECT_EQ(read.spec.scheduler.first_resource, 3);
  EXPECT_FALSE(read.spec.scheduler.rung_audit);
  EXPECT_EQ(ladder(read.spec.scheduler), (std::vector<std::int64_t>{3, 9, 27}));
  EXPECT_THAT(with({{"type", "asha_delayed"}, {"rungs", {9, 27}}, {"first_resource", 8}}).errors, IsEmpty());
  EXPECT_THAT(with({{"type", "auto"}, {"min_resource", 9}, {"first_resource", 9}}).errors,
              ElementsAre("scheduler.first_resource: expected less than the first rung (9), got 9"));
  EXPECT_THAT(with({{"type", "auto"}, {"first_resource", 1}}).errors,
              ElementsAre("scheduler.first_resource: expected less than the first rung (1), got 1"));
  EXPECT_EQ(with({{"type", "auto"}, {"min_resource", 9}, {"first_resource", 0}}).spec.scheduler.first_resource, 0);
  EXPECT_THAT(with({{"type", "auto"}, {"min_resource", 9}, {"first_resource", -1}}).errors,
              ElementsAre(StartsWith("scheduler.first_resource: expected an integer between 0 and")));
  EXPECT_THAT(with({{"type", "auto"}, {"min_resource", 9}, {"first_resource", 3}, {"promotion", "prediction"}}).errors,
              ElementsAre(StartsWith("scheduler.first_resource: excludes `promotion: prediction`")));
  EXPECT_THAT(with({{"type", "auto"}, {"min_resource", 9}, {"first_resource", 3}, {"rung_audit", true}}).errors,
              ElementsAre(StartsWith("scheduler.first_resource: excludes `rung_audit`")));
  EXPECT_THAT(with({{"type", "hyperband"}, {"min_resource", 9}, {"first_resource", 3}}).errors,
              ElementsAre(StartsWith("scheduler.first_resource: is only for the scheduler types `asha_delayed` and `auto`")));
  EXPECT_THAT(with({{"type", "hyperband"}, {"min_resource", 9}, {"first_resource", 0}}).errors, IsEmpty());
}

TEST(JobBounds, TheBestRoundsAreKeptByOneValueWithoutConstraintsAlone) {
  Json document = small_job();
  for (const char* keep : {"best", "best_full"}) {
    document["trainer"] = {{"type", "xgboost"}, {"keep", keep}};
    document["objective"].erase("constraints");
    EXPECT_THAT(read_job(document).errors, IsEmpty());
    document["objective"]["constraints"] = constraints(1);
    EXPECT_THAT(read_job(document).errors, ElementsAre(StartsWith("trainer.keep: a best round is by one value"))) << keep;
  }
}

TEST(JobBounds, TrainingsEndEarlyByOneValueWithoutConstraintsAlone) {
  Json document = small_job();
  document["limits"]["max_trials"] = 20;
  EXPECT_FALSE(read_job(document).spec.scheduler.early_end);
  document["scheduler"]["early_end"] = true;
  EXPECT_THAT(read_job(document).errors, IsEmpty());
  EXPECT_TRUE(read_job(document).spec.scheduler.early_end);
  Json constrained = document;
  constrained["objective"]["constraints"] = constraints(1);
  EXPECT_THAT(read_job(constrained).errors, ElementsAre(StartsWith("scheduler.early_end: is by one value")));
  document["objectives"] = Json::array({document["objective"], {{"metric", "other"}, {"goal", "minimize"}}});
  document.erase("objective");
  EXPECT_THAT(read_job(document).errors, ElementsAre(StartsWith("scheduler.early_end: is by one value")));
}

TEST(JobBounds, AsManyMayBeEnqueuedAsTheJobStarts) {
  Json document = small_job();
  document["limits"]["max_trials"] = 2;
  document["enqueue"] = Json(2, {{"x", 0.5}});
  EXPECT_THAT(read_job(document).errors, IsEmpty());
  document["enqueue"].push_back({{"x", 0.5}});
  EXPECT_THAT(read_job(document).errors, ElementsAre(StartsWith("enqueue: 3 configurations are enqueued")));
}

TEST(JobBounds, ConvergenceNeedsAModelThatExpectsSomething) {
  Json document = small_job();
  document["limits"]["convergence"] = {{"tolerance", 0.1}};
  for (const char* type : {"gp", "auto"}) {
    document["sampler"] = {{"type", type}};
    EXPECT_THAT(read_job(document).errors, IsEmpty()) << type;
  }
  document["sampler"] = {{"type", "tpe"}};
  EXPECT_THAT(read_job(document).errors, ElementsAre(StartsWith("limits.convergence: needs a sampler whose model")));
  document["sampler"] = {{"type", "auto"}};
  for (int i = 1; i < 50; ++i) document["search_space"]["x" + std::to_string(i)] = {{"type", "int"}, {"min", 1}, {"max", 9}};
  EXPECT_THAT(read_job(document).errors, IsEmpty()) << "50 parameters";
  document["search_space"]["x50"] = {{"type", "int"}, {"min", 1}, {"max", 9}};
  EXPECT_THAT(read_job(document).errors, ElementsAre(StartsWith("limits.convergence: needs a sampler whose model")));
}

TEST(JobBounds, OnlyAModelThatLooksAtResultsIsWarmedUp) {
  for (const char* type : {"random", "sobol", "tpe", "gp", "auto", "bohb", "random_forest"}) {
    Json document = small_job();
    document["warm_start"] = {"earlier"};
    document["sampler"] = {{"type", type}};
    Diagnostics diagnostics;
    JobSpec::parse(document, diagnostics);
    const bool blind = std::string_view(type) == "random" || std::string_view(type) == "sobol";
    EXPECT_EQ(diagnostics.warnings().size(), blind ? 1U : 0U) << type;
  }
}

TEST(JobBounds, PriorsHaveAShareAboveNothingAndTwoScores) {
  const auto prior_with = [](const std::string& field, const Json& value) {
    Json prior{{"configuration", {{"x", 0.5}}}, {"resource_share", 1}, {"score", 0}, {"level_score", 0}, {"counts", false}};
    prior[field] = value;
    if (value.is_null()) prior.erase(field);
    return job_with("/warm_start", {{"jobs", Json::array({"b"})}, {"observations", Json::array({prior})}});
  };
  const ReadJob read = prior_with("resource_share", 0.25);
  EXPECT_THAT(read.errors, IsEmpty());
  ASSERT_EQ(read.spec.priors.size(), 1U);
  EXPECT_EQ(read.spec.priors[0].resource_share, 0.25);
  EXPECT_FALSE(read.spec.priors[0].counts);
  EXPECT_EQ(prior_with("score", 0.75).spec.priors.at(0).score, 0.75);
  EXPECT_EQ(prior_with("level_score", -0.5).spec.priors.at(0).level_score, -0.5);
  const JobSpec written = read_job(with_priors(small_job(), read.spec)).spec;
  EXPECT_EQ(written.warm_start, read.spec.warm_start);
  ASSERT_EQ(written.priors.size(), 1U);
  EXPECT_EQ(written.priors[0].configuration, read.spec.priors[0].configuration);
  EXPECT_EQ(written.priors[0].resource_share, 0.25);
  EXPECT_FALSE(written.priors[0].counts);
  EXPECT_THAT(prior_with("x", 1).errors, ElementsAre(StartsWith("warm_start.observations[0].x: unknown")));
  EXPECT_THAT(job_with("/warm_start", {7U, "b", "19"}).spec.warm_start, ElementsAre("7", "b", "19"));
  EXPECT_TRUE(prior_with("counts", nullptr).spec.priors.at(0).counts);
  for (const Json& wrong : {Json(0), Json(1.01), Json()}) {
    EXPECT_THAT(prior_with("resource_share", wrong).errors,
                ElementsAre(StartsWith("warm_start.observations[0].resource_share:")));
  }
  for (const char* field : {"score", "level_score", "configuration"}) {
    EXPECT_THAT(prior_with(field, nullptr).errors,
                Contains(StartsWith("warm_start.observations[0]." + std::string(field) + ":")));
  }
}

}  // namespace
}  // namespace tuneband

#include "scheduler/forecast.hpp"

#include <gtest/gtest.h>

#include "scheduler/plan.hpp"

namespace tuneband::test {

namespace {

JobSpec forecast_job(const Json& overlay) {
  Json document = Json::parse(R"({"name": "forecast", "objective": {"metric": "value", "goal": "minimize"},
      "search_space": {"x": {"type": "float", "min": 0, "max": 1}}, "trainer": {"type": "command"},
      "scheduler": {"type": "hyperband", "max_resource": 27}})");
  document.merge_patch(overlay);
  Diagnostics diagnostics;
  JobSpec spec = JobSpec::parse(document, diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << (diagnostics.ok() ? "" : describe(diagnostics.errors().front()));
  return spec;
}

double wall_seconds(const JobSpec& spec, int workers, double seconds_per_unit = 1) {
  const auto result = forecast(spec, workers, seconds_per_unit);
  EXPECT_TRUE(result.has_value());
  return result ? result->wall_seconds : 0;
}

TEST(Forecast, OneWorkerNeedsTheWholePlansResource) {
  for (const char* type : {"hyperband", "successive_halving"}) {
    const JobSpec spec = forecast_job({{"scheduler", {{"type", type}}}});
    EXPECT_EQ(wall_seconds(spec, 1), static_cast<double>(make_plan(spec).total_resource)) << type;
  }
}

TEST(Forecast, OneWorkerWithoutStoppingRunsEveryTrialToTheEnd) {
  const JobSpec spec = forecast_job({{"scheduler", {{"type", "none"}}}, {"limits", {{"max_trials", 5}}}});
  const auto result = forecast(spec, 1, 0.5);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->wall_seconds, 5 * 27 * 0.5);
  EXPECT_EQ(result->wall_seconds_without_stopping, result->wall_seconds);
}

TEST(Forecast, WithAWorkerForEveryTrialTheLongestBracketDecides) {
  EXPECT_EQ(wall_seconds(forecast_job(Json::object()), 1000), 27);
}

TEST(Forecast, MoreWorkersThanMaxParallelTrialsDoNotHelp) {
  const JobSpec spec = forecast_job({{"limits", {{"max_parallel_trials", 2}}}});
  EXPECT_EQ(wall_seconds(spec, 50), wall_seconds(spec, 2));
  EXPECT_EQ(forecast(spec, 50, 1)->wall_seconds_without_stopping, 25 * 27);  // 49 trials, two at a time
}

TEST(Forecast, WorkersAreBusyNearlyAllTheTimeInBrackets) {
  const JobSpec spec = forecast_job(Json::object());
  const double ideal = static_cast<double>(make_plan(spec).total_resource) / 4;
  EXPECT_GE(wall_seconds(spec, 4), ideal);
  EXPECT_LE(wall_seconds(spec, 4), ideal + 27);
}

TEST(Forecast, AsynchronousRulesComeOutTheSameEachTime) {
  for (const char* type : {"asha_promotion", "asha_stopping"}) {
    const JobSpec spec = forecast_job({{"scheduler", {{"type", type}}}, {"limits", {{"max_trials", 100}}}});
    const double seconds = wall_seconds(spec, 7);
    EXPECT_EQ(seconds, wall_seconds(spec, 7)) << type;
    EXPECT_LT(seconds, forecast(spec, 7, 1)->wall_seconds_without_stopping) << type;
  }
}

TEST(Forecast, LimitsThatDependOnValuesOrTimeAreLeftOut) {
  const JobSpec spec = forecast_job({{"limits", {{"max_trials", 30}}}});
  JobSpec limited =
      forecast_job({{"objective", {{"target", 0.5}}},
                    {"limits", {{"max_trials", 30}, {"max_runtime_seconds", 0.001}, {"max_trials_without_improvement", 1}}}});
  EXPECT_EQ(wall_seconds(limited, 3), wall_seconds(spec, 3));
}

TEST(Forecast, ConstraintsAndMoreObjectivesAreLeftOut) {
  const Json base{{"scheduler", {{"type", "asha_promotion"}}}, {"limits", {{"max_trials", 30}}}};
  Json constrained = base;
  constrained["objective"]["constraints"] = Json::array({{{"metric", "ms"}, {"max", 1}}});
  EXPECT_EQ(wall_seconds(forecast_job(constrained), 3), wall_seconds(forecast_job(base), 3));
  JobSpec several = forecast_job(base);
  several.more_objectives.push_back(several.objective);
  several.scheduler.more_goals.push_back(Goal::minimize);
  EXPECT_EQ(wall_seconds(several, 3), wall_seconds(forecast_job(base), 3));
}

TEST(Forecast, AGroupTakesAsManyWorkersAndIsOneTrial) {
  const Json base{{"limits", {{"max_trials", 50}}}};
  Json groups = base;
  groups["trainer"] = {{"type", "command"}, {"argv", {"train"}}, {"replicas", 2}};
  const auto of_groups = forecast(forecast_job(groups), 6, 1);
  const auto of_single = forecast(forecast_job(base), 3, 1);
  EXPECT_EQ(of_groups->wall_seconds, of_single->wall_seconds);
  EXPECT_EQ(of_groups->wall_seconds_without_stopping, of_single->wall_seconds_without_stopping);
}

TEST(Forecast, FewerWorkersThanReplicasHaveNone) {
  EXPECT_FALSE(forecast(forecast_job({{"trainer", {{"type", "command"}, {"argv", {"train"}}, {"replicas", 3}}}}), 2, 1));
}

TEST(Forecast, AJobWithoutABoundOnItsTrialsHasNone) {
  EXPECT_FALSE(forecast(forecast_job({{"limits", {{"max_runtime_seconds", 60}}}}), 4, 1));
  EXPECT_FALSE(
      forecast(forecast_job({{"scheduler", {{"type", "none"}}}, {"limits", {{"max_trials", kForecastTrialsMax + 1}}}}), 4, 1));
}

TEST(Forecast, TheLargestJobOnTheMostWorkersIsForecastToo) {
  const JobSpec spec = forecast_job({{"limits", {{"max_trials", kForecastTrialsMax}, {"max_parallel_trials", 10'000}}}});
  EXPECT_GT(wall_seconds(spec, kForecastWorkersMax), 0);
}

}  // namespace

}  // namespace tuneband::test

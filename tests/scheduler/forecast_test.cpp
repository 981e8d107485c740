#include "scheduler/forecast.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/random.hpp"
#include "scheduler/plan.hpp"
#include "scheduler/policies/median_rule.hpp"
#include "scheduler/scheduler.hpp"

namespace tuneband::test {

namespace {

JobSpec forecast_job(const Json& overlay) {
  Json document = Json::parse(R"({"name": "forecast", "objective": {"metric": "value", "goal": "minimize"},
      "search_space": {"x": {"type": "float", "min": 0, "max": 1}}, "trainer": {"type": "command", "resume": "checkpoint"},
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

TEST(Forecast, CountsRungsThatRestartWhole) {
  for (const char* type : {"hyperband", "successive_halving"}) {
    const JobSpec anew = forecast_job({{"trainer", {{"resume", "restart"}}}, {"scheduler", {{"type", type}}}});
    const JobSpec resumed = forecast_job({{"trainer", {{"resume", "checkpoint"}}}, {"scheduler", {{"type", type}}}});
    EXPECT_EQ(wall_seconds(anew, 1), static_cast<double>(make_plan(anew).total_resource)) << type;
    EXPECT_GT(wall_seconds(anew, 1), wall_seconds(resumed, 1)) << type;
  }
}

// One worker runs the job; each rung puts the trials in the same order, or (those of 1, 3, 9, 27 and 81) in that of the rung
// below turned round.
std::int64_t resource_of_run(const JobSpec& spec, bool rungs_mislead) {
  Scheduler scheduler;
  std::int64_t spent = 0;
  scheduler.step(JobSubmitted{spec, ""}, Timestamp{});
  WorkerSynced message;
  message.worker = WorkerId{"w"};
  while (true) {
    const Outcome outcome = step_with_suggestions(scheduler, message, Timestamp{});
    for (const Write& write : outcome.writes) {
      if (const auto* job = std::get_if<JobRow>(&write)) spent = job->resource_spent;
    }
    const auto* reply = outcome.notices.empty() ? nullptr : std::get_if<WorkerReply>(&outcome.notices.back());
    if (reply == nullptr || !reply->assignment) return spent;
    const Assignment& given = *reply->assignment;
    const double sign = rungs_mislead && given.until_resource % 4 == 3 ? -1 : 1;
    const double value = sign * random_unit(0, {static_cast<std::uint64_t>(given.trial.number)});
    message.report.emplace();
    message.report->epoch = given.epoch;
    message.report->observations = {{given.until_resource, {{"value", value}}}};
    message.report->checkpoint_resource = given.until_resource;
    message.report->training_ms = 1;
    message.report->exit = ExitClass::completed;
  }
}

TEST(Forecast, TellsWhatARunSpendsWhoseRungsMislead) {
  for (const char* resume : {"checkpoint", "restart"}) {
    const JobSpec spec = forecast_job({{"trainer", {{"resume", resume}}},
                                       {"sampler", {{"type", "random"}}},
                                       {"scheduler", {{"type", "auto"}, {"max_resource", 81}}},
                                       {"limits", {{"max_trials", 200}}}});
    const std::int64_t planned = make_plan(spec).total_resource;
    const std::int64_t at_most = planned + make_plan(spec).audit_resource;
    const std::int64_t ordered = resource_of_run(spec, false);
    const std::int64_t misled = resource_of_run(spec, true);
    EXPECT_LT(ordered, planned * 3 / 2) << resume;
    EXPECT_GT(misled, planned * 3 / 2) << resume;
    EXPECT_GT(misled, at_most * 3 / 4) << resume;
    EXPECT_LT(misled, at_most * 5 / 4) << resume;
  }
}

// So many trials on a ladder of `auto`, from rung `lowest` on.
std::int64_t spent_above(std::size_t lowest, std::int64_t trials, const SchedulerSpec& spec,
                         const std::vector<std::int64_t>& ladder) {
  std::int64_t total = 0;
  for (std::size_t rung = lowest; rung < ladder.size(); ++rung, trials /= spec.eta) {
    const std::int64_t below = spec.restarts || rung == lowest ? 0 : ladder[rung - 1];
    total += std::max<std::int64_t>(1, trials) * (ladder[rung] - below);
  }
  return total;
}

// The audits leave the rungs from `lowest` on: every trial trains until there, and those that the rungs are not asked about, 0.15
// of what is trained, train whole. Where rungs restart, the nine trials of each audit trained its rung as well.
std::int64_t expected_where_misled(const JobSpec& spec, std::size_t lowest) {
  const Plan plan = make_plan(spec);
  const std::int64_t planned_uncut = plan.brackets.size() > 1 ? plan.brackets[1].rungs.front().trials : 0;
  const std::int64_t trials = plan.brackets.front().rungs.front().trials;
  const std::int64_t of_all = spent_above(lowest, trials, spec.scheduler, plan.ladder);
  const auto uncut =
      std::llround(std::floor(static_cast<double>(of_all) / static_cast<double>(plan.ladder.back()) * 0.15 / 0.85 + 0.5));
  std::int64_t total =
      spent_above(lowest, trials + planned_uncut - uncut, spec.scheduler, plan.ladder) + uncut * plan.ladder.back();
  for (std::size_t rung = 0; rung < lowest && spec.scheduler.restarts; ++rung) total += 9 * plan.ladder[rung];
  return total;
}

TEST(Forecast, OfRungsThatMisleadSumsUpWhatIsTrainedAboveThem) {
  struct Ladder {
    int eta;
    std::int64_t max_resource;
    std::size_t lowest;  // the last audit that costs nine trials no more than about one training is that of the rung below
  };
  for (const auto& [eta, max_resource, lowest] : {Ladder{3, 81, 2}, Ladder{3, 27, 1}, Ladder{100, 1'000'000, 2}}) {
    for (const char* resume : {"checkpoint", "restart"}) {
      for (int trials_max = 20; trials_max < 60; ++trials_max) {
        const JobSpec spec = forecast_job({{"trainer", {{"resume", resume}}},
                                           {"sampler", {{"type", "random"}}},
                                           {"scheduler", {{"type", "auto"}, {"max_resource", max_resource}, {"eta", eta}}},
                                           {"limits", {{"max_trials", trials_max}}}});
        const Plan plan = make_plan(spec);
        const bool audited = trials_max >= 27;
        const std::int64_t expected = audited ? expected_where_misled(spec, lowest) : plan.total_resource;
        EXPECT_EQ(plan.total_resource + plan.audit_resource, expected) << max_resource << " " << resume << " " << trials_max;
      }
    }
  }
}

TEST(Forecast, SpendsExactlyWhatAPlanWithoutAChoicePromises) {
  for (const char* resume : {"checkpoint", "restart"}) {
    for (const char* type : {"hyperband", "successive_halving", "none"}) {
      const JobSpec spec =
          forecast_job({{"trainer", {{"resume", resume}}}, {"scheduler", {{"type", type}}}, {"limits", {{"max_trials", 40}}}});
      EXPECT_EQ(resource_of_run(spec, true), make_plan(spec).total_resource) << type << " " << resume;
      EXPECT_EQ(make_plan(spec).audit_resource, 0) << type << " " << resume;
    }
  }
}

TEST(Forecast, SpendsExactlyWhatThePlanPromisesWhereTheMedianRuleHasTooFewToCompare) {
  for (const char* resume : {"checkpoint", "restart"}) {
    for (int trials_max = 1; trials_max <= kMedianStoppingOthersMin; ++trials_max) {
      const JobSpec spec = forecast_job({{"trainer", {{"resume", resume}}},
                                         {"scheduler", {{"type", "median_stopping"}}},
                                         {"limits", {{"max_trials", trials_max}}}});
      EXPECT_EQ(resource_of_run(spec, true), make_plan(spec).total_resource) << trials_max << " " << resume;
    }
  }
}

TEST(Forecast, OneWorkerWithoutStoppingRunsEveryTrialToTheEnd) {
  const JobSpec spec = forecast_job({{"scheduler", {{"type", "none"}}}, {"limits", {{"max_trials", 5}}}});
  const auto result = forecast(spec, 1, 0.5);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->wall_seconds, 5 * 27 * 0.5);
  EXPECT_EQ(result->wall_seconds_without_stopping, result->wall_seconds);
  EXPECT_EQ(to_json(*result),
            Json({{"workers", 1}, {"seconds_per_unit", 0.5}, {"wall_seconds", 67.5}, {"wall_seconds_without_stopping", 67.5}}));
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

TEST(Forecast, OneWorkerNeedsAsLongAsThePlansResourceTakes) {
  for (const char* type : {"asha_promotion", "asha_stopping", "asha_delayed", "median_stopping", "pasha", "async_hyperband"}) {
    const JobSpec spec = forecast_job({{"scheduler", {{"type", type}}}, {"limits", {{"max_trials", 100}}}});
    EXPECT_NEAR(wall_seconds(spec, 1), static_cast<double>(make_plan(spec).total_resource), 1e-6) << type;
  }
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
  limited.limits.convergence.emplace();
  EXPECT_EQ(wall_seconds(limited, 3), wall_seconds(spec, 3));
}

TEST(Forecast, RungsWithFewerFoldsTakeTheirShareOfTheTime) {
  Json document{{"trainer", {{"type", "xgboost"}, {"fidelity", "shrinkage"}, {"data", {{"folds", {{"count", 5}}}}}}},
                {"scheduler", {{"type", "successive_halving"}, {"min_resource", 9}}},
                {"limits", {{"max_trials", 3}}}};
  EXPECT_EQ(wall_seconds(forecast_job(document), 1), 3 * 9 + 27);
  document["trainer"]["data"]["folds"]["early"] = 2;
  EXPECT_EQ(wall_seconds(forecast_job(document), 1), 3 * 9 * 3.0 / 6 + 27) << "two folds and all rows, of five and all rows";
}

TEST(Forecast, ConstraintsAndMoreObjectivesAreLeftOut) {
  const Json base{{"scheduler", {{"type", "asha_promotion"}}}, {"limits", {{"max_trials", 30}}}};
  Json constrained = base;
  constrained["objective"]["constraints"] = Json::array({{{"metric", "ms"}, {"max", 1}}});
  EXPECT_EQ(wall_seconds(forecast_job(constrained), 3), wall_seconds(forecast_job(base), 3));
  JobSpec several = forecast_job(base);
  several.more_objectives.push_back({"ms", Goal::minimize, std::nullopt});
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

TEST(Forecast, GroupsOfSeveralSizesAreAsManyAsTheirMeanAllows) {
  const JobSpec spec = forecast_job(
      {{"trainer", {{"type", "command"}, {"argv", {"train"}}, {"replicas", {1, 3}}}}, {"limits", {{"max_trials", 50}}}});
  EXPECT_EQ(forecast(spec, 8, 1)->wall_seconds_without_stopping, 13 * 27);  // 4 at a time
}

TEST(Forecast, AGridIsAsManyTrialsAsItHasConfigurations) {
  const JobSpec spec = forecast_job({{"scheduler", {{"type", "none"}}}, {"sampler", {{"type", "grid"}, {"grid_points", 5}}}});
  EXPECT_EQ(wall_seconds(spec, 1), 5 * 27);
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

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <sstream>

#include "core/random.hpp"
#include "scheduler/plan.hpp"
#include "simulator/comparison.hpp"
#include "simulator/search_method.hpp"

namespace tuneband::test {

namespace {

// Values by resource 1, 2, ...; x = 0, 1, 2...
CurveTable tiny_table(const std::vector<std::vector<double>>& values) {
  CurveTable table;
  table.name = "tiny";
  table.metric = "a";
  table.parameters = {"x"};
  for (std::size_t i = 0; i < values.size(); ++i) {
    Curve curve;
    curve.configuration["x"] = static_cast<std::int64_t>(i);
    for (std::size_t r = 0; r < values[i].size(); ++r) curve.points.emplace_back(static_cast<std::int64_t>(r) + 1, values[i][r]);
    table.max_resource = std::max(table.max_resource, curve.measured_until());
    table.curves.push_back(curve);
  }
  return table;
}

// Configuration i of 300, of two parameters, has value(i, u, v, r) after r of 27 units.
template <class Value>
CurveTable table_of(const std::string& name, const std::vector<std::string>& parameters, const Value& value) {
  CurveTable table;
  table.name = name;
  table.metric = "a";
  table.parameters = parameters;
  table.max_resource = 27;
  for (std::uint64_t i = 0; i < 300; ++i) {
    Curve curve;
    const double u = random_unit(1, {i});
    const double v = random_unit(2, {i});
    curve.configuration = {{parameters[0], u}, {parameters[1], v}};
    for (std::int64_t r = 1; r <= table.max_resource; ++r) curve.points.emplace_back(r, value(i, u, v, r));
    curve.seconds_per_unit = 0.5 + random_unit(4, {i});
    table.curves.push_back(curve);
  }
  return table;
}

// Curves that rise to a height which depends on two coordinates; the rungs order them well.
CurveTable smooth_table() {
  return table_of("smooth", {"u", "v"}, [](std::uint64_t i, double u, double v, std::int64_t r) {
    const double height = 1 - (u - 0.3) * (u - 0.3) - (v - 0.7) * (v - 0.7);
    const double noise = 0.02 * random_unit(3, {i, static_cast<std::uint64_t>(r)});
    return height * (1 - 0.5 / static_cast<double>(r)) + noise;
  });
}

// The ones that learn slowly are the best in the end.
CurveTable table_of_slow_learners() {
  return table_of("slow", {"x", "y"}, [](std::uint64_t, double x, double y, std::int64_t r) {
    const double left = std::exp(-static_cast<double>(r) * (0.06 + 0.9 * x));
    return -(x - 0.2) * (x - 0.2) - 0.3 * (y - 0.6) * (y - 0.6) - left;
  });
}

// As a trainer that reports once a training leaves them: configuration 0 was measured from 1 on, the best one at 9 alone.
CurveTable table_with_a_late_curve() {
  CurveTable table = tiny_table({{1, 1, 1, 1, 1, 1, 1, 1, 1}, {2, 2, 2, 2, 2, 2, 2, 2, 2}, {}, {3, 3, 3, 3, 3, 3, 3, 3, 3}});
  table.curves[2].points = {{9, 9}};
  return table;
}

SearchMethod method_on(CurveTable& table, const Json& document, const MethodOptions& options = {}) {
  int outside = 0;
  Json whole{{"objective", {{"goal", "maximize"}}}, {"sampler", {{"type", "random"}, {"seed", 5}}}};
  whole.merge_patch(document);
  auto method = make_method(whole, table, options, outside);
  EXPECT_TRUE(method) << (method ? "" : describe(method.error()));
  return method ? *method : SearchMethod{};
}

SimulationResult run_in_order(CurveTable table, const Json& document, int workers) {
  const SearchMethod method = method_on(table, document, {std::nullopt, std::nullopt, true});
  return simulate(method.spec, table, {workers, 1e9, 1e9});
}

}  // namespace

TEST(SimulatedJob, OfXgboostNeedsNoDataForCurvesTakeTheirPlace) {
  CurveTable table = smooth_table();
  const Json trees{{"trainer", {{"type", "xgboost"}, {"fidelity", "prefix"}}}};
  EXPECT_EQ(method_on(table, trees).spec.trainer["type"], "xgboost");
}

TEST(SimulatedJob, SpendsWhatItsRungsCostAndFindsTheIncumbentByHand) {
  // successive halving 1, 3 with eta 3: three trials to 1, the best one (configuration 1) to 3.
  const CurveTable table = tiny_table({{1, 1, 1}, {3, 4, 5}, {2, 8, 9}});
  const auto result = run_in_order(table, {{"scheduler", {{"type", "successive_halving"}}}}, 1);
  EXPECT_EQ(result.trials, 3);
  EXPECT_EQ(result.trials_completed, 1);
  EXPECT_EQ(result.resource, 5);
  EXPECT_EQ(result.seconds, 5);
  ASSERT_EQ(result.incumbents.size(), 3U);
  EXPECT_EQ(result.incumbents[0].curve, 0U);
  EXPECT_EQ(result.incumbents[0].resource, 1);
  EXPECT_EQ(result.incumbents[1].curve, 1U);
  EXPECT_EQ(result.incumbents[1].resource, 2);
  EXPECT_EQ(result.incumbents[1].rung, 1);
  EXPECT_EQ(result.incumbents[2].curve, 1U);  // itself, better
  EXPECT_EQ(result.incumbents[2].resource, 5);
  EXPECT_EQ(result.incumbents[2].rung, 3);

  const Regret regret(table, Goal::maximize, 3);  // 9 5 1: the median is 5
  const auto curve = regret_at({result}, regret, RegretAxis::resource, {0.5, 1, 2, 100});
  EXPECT_EQ(curve, (std::vector<std::vector<double>>{{1}, {1}, {1}, {1}}));
  const auto none = run_in_order(table, {{"scheduler", {{"type", "none"}}}}, 1);
  EXPECT_EQ(regret_at({none}, regret, RegretAxis::resource, {2.9, 3, 6, 9}),
            (std::vector<std::vector<double>>{{1}, {1}, {1}, {0}}));
  EXPECT_EQ(none.reason, "all 3 trials are done");
}

TEST(SimulatedJob, ABestTrialCountsWithTheValueThatWasFoundOrWithItsFinalOneIfThatIsBetter) {
  const CurveTable table = tiny_table({{2, 2, 3}, {8, 6, 6}, {1, 1, 9}});
  const Regret regret(table, Goal::maximize, 3);  // 9 6 3: the median is 6
  const auto at_once = [&](const Incumbent& incumbent) {
    SimulationResult run;
    run.incumbents = {incumbent};
    return regret_at({run}, regret, RegretAxis::resource, {100})[0][0];
  };
  const auto run = run_in_order(table, {{"scheduler", {{"type", "successive_halving"}}}}, 1);
  ASSERT_EQ(run.incumbents.size(), 2U);
  EXPECT_EQ(run.incumbents[1].curve, 1U);  // it overfits: nothing is better than what it had after 1 of 3
  EXPECT_EQ(run.incumbents[1].value, 8);
  EXPECT_NEAR(at_once(run.incumbents[1]), 1.0 / 3, 1e-12);
  EXPECT_EQ(at_once({0, 0, 2, 1, 1}), 0);
}

TEST(SimulatedJob, CountsWhatIsUnderWayAsSpentAndTimeByEachCurvesCost) {
  CurveTable table = tiny_table({{1, 1}, {2, 2}});
  table.curves[1].seconds_per_unit = 3;
  const auto result = run_in_order(table, {{"scheduler", {{"type", "none"}}}}, 2);
  ASSERT_EQ(result.incumbents.size(), 2U);
  EXPECT_EQ(result.incumbents[0].seconds, 2);
  EXPECT_NEAR(result.incumbents[0].resource, 2 + 2.0 / 3, 1e-9);  // the other one is 2 of its 6 seconds on its way to 2 units
  EXPECT_EQ(result.incumbents[1].seconds, 6);
  EXPECT_EQ(result.resource, 4);
}

TEST(SimulatedJob, RunsATrialOfSeveralReplicasOnceAndCountsItsResourceOnce) {
  const CurveTable table = tiny_table({{1, 1, 1}, {2, 2, 2}, {3, 3, 3}, {4, 4, 4}});
  const Json document{{"scheduler", {{"type", "none"}}}, {"trainer", {{"replicas", 2}}}};
  const auto two_groups = run_in_order(table, document, 4);
  EXPECT_EQ(two_groups.trials, 4);
  EXPECT_EQ(two_groups.trials_completed, 4);
  EXPECT_EQ(two_groups.resource, 12);
  EXPECT_EQ(two_groups.seconds, 6);
  EXPECT_EQ(two_groups.incumbents.back().curve, 3U);
  EXPECT_EQ(run_in_order(table, document, 2).seconds, 12);
  Json halving{{"scheduler", {{"type", "asha_promotion"}}}};
  const double alone = run_in_order(table, halving, 2).resource;
  halving["trainer"] = {{"replicas", 3}};
  EXPECT_EQ(run_in_order(table, halving, 7).resource, alone);
}

TEST(SimulatedJob, EndsATrainingOnItsWayThatWillNotBeTheBest) {
  std::vector<std::vector<double>> values(7, {5, 5, 5, 5, 5, 5, 5, 5, 6});
  values[5] = {1, 1, 1, 1, 1, 1, 1, 1, 9};  // which nobody can know
  const CurveTable table = tiny_table(values);
  Json document{{"scheduler", {{"type", "none"}, {"early_end", true}}}};
  const auto result = run_in_order(table, document, 1);
  EXPECT_EQ(result.trials, 7);
  EXPECT_EQ(result.trials_completed, 6);
  EXPECT_EQ(result.trials_ended_early, 1);
  EXPECT_EQ(result.resource, 6 * 9 + 2);
  EXPECT_EQ(result.seconds, 6 * 9 + 2);
  EXPECT_EQ(result.incumbents.size(), 1U);
  EXPECT_EQ(run_in_order(table, {{"scheduler", {{"type", "none"}}}}, 1).trials_ended_early, 0);

  document["trainer"] = {{"replicas", 2}};
  const auto group = run_in_order(table, document, 2);
  EXPECT_EQ(group.trials_ended_early, 1);
  EXPECT_EQ(group.resource, 6 * 9 + 2);
  EXPECT_EQ(group.seconds, 6 * 9 + 2);
}

// What the table has at lower resources is of other trainings.
TEST(SimulatedJob, EndsNoTrainingOnItsWayWhereRungsAreTrainingsOfTheirOwn) {
  std::vector<std::vector<double>> values(7, {5, 5, 5, 5, 5, 5, 5, 5, 6});
  values[5] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  const Json document{{"scheduler", {{"type", "none"}, {"early_end", true}}},
                      {"trainer", {{"type", "command"}, {"resume", "restart"}}}};
  EXPECT_EQ(run_in_order(tiny_table(values), document, 1).trials_ended_early, 0);
}

TEST(SimulatedJob, EndsWhenItsRuntimeIsOverWithWhatWasSpentUntilThen) {
  CurveTable table = tiny_table({{1, 1, 1}, {2, 2, 2}, {3, 3, 3}, {4, 4, 4}, {5, 5, 5}});
  for (Curve& curve : table.curves) curve.seconds_per_unit = 30;
  Json document{{"scheduler", {{"type", "none"}}}, {"limits", {{"max_runtime_seconds", 300}}}};
  const auto result = run_in_order(table, document, 1);
  EXPECT_EQ(result.seconds, 300);
  EXPECT_EQ(result.resource, 10);  // three trainings, and a third of the next
  EXPECT_EQ(result.trials, 4);
  EXPECT_EQ(result.trials_completed, 3);
  EXPECT_EQ(result.incumbents.back().curve, 2U);
  EXPECT_EQ(result.reason, "max_runtime_seconds is over");
  document["limits"]["max_runtime_seconds"] = 1.001;
  EXPECT_EQ(run_in_order(table, document, 1).seconds, 1.001);
}

TEST(SimulatedJob, LastsAsLongAsATableSaysHoweverLongThatIs) {
  CurveTable table = tiny_table({{1}, {2}});
  for (Curve& curve : table.curves) curve.seconds_per_unit = 1e300;
  const Json document{{"scheduler", {{"type", "none"}}}, {"limits", {{"max_trials", 2}, {"max_attempts", 1}}}};
  EXPECT_EQ(run_in_order(table, document, 1).trials_completed, 2);
}

// Beside such times a second is none.
TEST(SimulatedJob, CountsATrainingWhoseTimeIsLostInRoundingAsSpent) {
  CurveTable table = tiny_table({{1}, {2}, {3}, {4}});
  for (std::size_t i = 0; i < 2; ++i) table.curves[i].seconds_per_unit = 1e300;
  const auto result = run_in_order(table, {{"scheduler", {{"type", "none"}}}, {"limits", {{"max_trials", 4}}}}, 2);
  EXPECT_EQ(result.resource, 4);
  for (const Incumbent& incumbent : result.incumbents) EXPECT_TRUE(std::isfinite(incumbent.resource)) << incumbent.curve;
}

TEST(SimulatedJob, EndsAtTheMomentWhenItsTargetIsReached) {
  CurveTable table = tiny_table({{1, 1, 5}, {9, 9, 9}});
  table.curves[1].seconds_per_unit = 2;
  const auto result =
      run_in_order(table, {{"scheduler", {{"type", "none"}}}, {"objective", {{"goal", "maximize"}, {"target", 5}}}}, 2);
  ASSERT_EQ(result.incumbents.size(), 1U);  // what was under way does not count
  EXPECT_EQ(result.incumbents[0].curve, 0U);
  EXPECT_EQ(result.seconds, 3);
  EXPECT_EQ(result.resource, 4.5);
  EXPECT_EQ(result.trials_completed, 1);
  EXPECT_EQ(result.reason, "trial 0 reached the target 5");
}

TEST(SimulatedJob, EndsAtTheMomentWhenTooManyTrialsHaveFailed) {
  CurveTable table = tiny_table({{}, {}, {9, 9, 9}});
  table.curves[0].failed = table.curves[1].failed = true;
  table.curves[2].seconds_per_unit = 2;
  const auto result =
      run_in_order(table, {{"scheduler", {{"type", "none"}}}, {"limits", {{"max_trials", 3}, {"max_failures_in_a_row", 2}}}}, 3);
  EXPECT_TRUE(result.incumbents.empty());
  EXPECT_EQ(result.seconds, 3);
  EXPECT_EQ(result.resource, 7.5);
  EXPECT_TRUE(result.reason.starts_with("2 trials in a row failed")) << result.reason;
}

// The second curve is below 0.5 from resource 3 on; the third says nothing until it is measured there.
TEST(SimulatedJob, RulesOnMetricsEndTrialsAtTheRoundAtWhichTheyFind) {
  const CurveTable table = tiny_table({{1, 2, 3, 4, 5, 6}, {1, 1, 0, 0, 0, 0}, {1, 2, 3, 9, 9, 9}});
  Json document{{"scheduler", {{"type", "none"}}}};
  document["debug"] = Json::parse(R"({"save": {"every": 1}, "rules": [{"rule": "bound", "name": "low", "reduction": "mean",
    "below": 0.5, "for_steps": 2, "collections": ["metrics"], "action": "stop_trial"},
    {"rule": "loss_not_decreasing", "parameters": {"num_steps": 2}}]})");
  const auto result = run_in_order(table, document, 1);
  EXPECT_EQ(result.trials_stopped_by_rules, 1);
  EXPECT_EQ(result.resource, 6 + 4 + 6) << "two rounds below the bound are enough";
  EXPECT_EQ(result.seconds, 16);
  EXPECT_EQ(result.trials_completed, 2);
  EXPECT_GE(result.findings, 2);
  document["debug"]["rules"][0]["action"] = "note";
  const auto noted = run_in_order(table, document, 1);
  EXPECT_EQ(noted.resource, 18);
  EXPECT_EQ(noted.trials_stopped_by_rules, 0);
  EXPECT_EQ(noted.findings, result.findings) << "the same is found";
  document["debug"]["rules"][0]["action"] = "stop_job";
  EXPECT_TRUE(run_in_order(table, document, 1).reason.starts_with("the rule `low` stopped the job"));
}

// Three rounds below the bound, of which the first is that of the lowest rung: the next best takes the trial's place.
TEST(SimulatedJob, RulesGoOnFromRungToRung) {
  const CurveTable table = tiny_table({{5, 5, 0, 0, 0, 0, 0, 0, 0}, {1, 1, 1, 1, 1, 1, 1, 1, 1}, {2, 2, 2, 2, 2, 2, 2, 2, 2}});
  Json document{{"objective", {{"goal", "minimize"}}},
                {"scheduler", {{"type", "successive_halving"}, {"min_resource", 3}, {"eta", 3}}}};
  document["debug"] = Json::parse(R"({"save": {"every": 1}, "rules": [{"rule": "bound", "name": "low", "reduction": "mean",
    "below": 0.5, "for_steps": 3, "collections": ["metrics"], "action": "stop_trial"}]})");
  const auto result = run_in_order(table, document, 1);
  EXPECT_EQ(result.trials_stopped_by_rules, 1);
  EXPECT_EQ(result.resource, 3 * 3 + 2 + 6);
  EXPECT_EQ(result.trials_completed, 1);
}

TEST(SimulatedJob, CountsWhatWasNotMeasuredOnceForAllRanksOfATrial) {
  const auto result =
      run_in_order(tiny_table({{1}, {1, 2, 3}}), {{"scheduler", {{"type", "none"}}}, {"trainer", {{"replicas", 2}}}}, 2);
  EXPECT_EQ(result.trials_unmeasured, 1);
  EXPECT_EQ(result.resource_unmeasured, 2);
}

TEST(SimulatedJob, HasTimeForTrainingsOfAllTheirReplicas) {
  CurveTable table = tiny_table(std::vector<std::vector<double>>(20, std::vector<double>(3, 1)));
  table.curves[3].points.back().second = 2;
  ComparisonOptions options;
  options.seeds = 1;
  options.budgets = {3, 4};
  options.workers = 2;
  const Json pairs{{"scheduler", {{"type", "none"}}}, {"trainer", {{"replicas", 2}}}};
  const auto regret_of = [&](const Json& document) {
    return compare({method_on(table, document, {{}, {}, true})}, table, options)[0].regret_by_time;
  };
  EXPECT_EQ(regret_of(pairs), (std::vector<std::vector<double>>{{1}, {0}}));
  // Of several numbers the mean: 4 trainings of 3 s on 2 of 3 workers are 8 s. Those of one worker each end after 3 and 6 s.
  table.parameters.emplace_back("replicas");
  for (Curve& curve : table.curves) curve.configuration["replicas"] = std::int64_t{1};
  options.workers = 3;
  options.budgets = {2, 4};
  EXPECT_EQ(regret_of({{"scheduler", {{"type", "none"}}}, {"trainer", {{"replicas", {1, 3}}}}}),
            (std::vector<std::vector<double>>{{1}, {0}}));
}

TEST(SimulatedJob, RunsEachConfigurationOnceAndNoMoreThanThereAre) {
  CurveTable table = smooth_table();
  const SearchMethod method = method_on(table, {{"scheduler", {{"type", "asha_promotion"}}}});
  const auto result = simulate(method.spec, table, {64, 1e9, 1e9});
  EXPECT_EQ(result.trials, 300);
  EXPECT_EQ(result.trials_unmeasured, 0);
}

TEST(SimulatedJob, IsTheSameEveryTimeAndOnAnyNumberOfThreads) {
  CurveTable table = smooth_table();
  const std::vector<SearchMethod> methods{method_on(table, {{"scheduler", {{"type", "auto"}}}}),
                                          method_on(table, {{"scheduler", {{"type", "hyperband"}}}})};
  ComparisonOptions options;
  options.workers = 7;
  options.seeds = 4;
  options.budgets = {1, 5};
  const std::string once = comparison_csv(compare(methods, table, options), table, options);
  options.threads = 3;
  EXPECT_EQ(once, comparison_csv(compare(methods, table, options), table, options));
  EXPECT_EQ(std::count(once.begin(), once.end(), '\n'), 1 + 2 * 2 * 2 * 4);
}

TEST(SimulatedJob, HasTimeForTrainingsUntilItsOwnMaxResource) {
  CurveTable table = tiny_table(std::vector<std::vector<double>>(20, std::vector<double>(10, 1)));
  table.curves[2].points.assign({{1, 2}, {10, 2}});
  const std::vector<SearchMethod> methods{
      method_on(table, {{"scheduler", {{"type", "none"}, {"max_resource", 2}}}}, {{}, {}, true})};
  ComparisonOptions options;
  options.seeds = 1;
  options.budgets = {2, 4};
  const auto results = compare(methods, table, options);
  EXPECT_EQ(results[0].runs[0].seconds, 8);  // four trainings of two seconds
  EXPECT_EQ(results[0].regret_by_time, (std::vector<std::vector<double>>{{1}, {0}}));
}

TEST(SimulatedJob, EarlyStoppingBeatsRandomSearchWhereRungsTellTheOrder) {
  CurveTable table = smooth_table();
  const std::vector<SearchMethod> methods{method_on(table, Json::object(), {"asha_delayed", std::nullopt, false}),
                                          method_on(table, Json::object(), {"none", std::nullopt, false})};
  ComparisonOptions options;
  options.workers = 4;
  options.seeds = 20;
  options.budgets = {5};
  const auto results = compare(methods, table, options);
  EXPECT_LT(estimate(results[0].regret_by_resource[0]).mean + 0.03, estimate(results[1].regret_by_resource[0]).mean);
}

TEST(SimulatedJob, PromotionByPredictionFindsMoreWhereSlowLearnersWin) {
  CurveTable table = table_of_slow_learners();
  const auto by = [&](const std::string& promotion) {
    return method_on(table, Json::object(), {"asha_delayed,promotion=" + promotion, "gp", false});
  };
  ComparisonOptions options;
  options.workers = 2;
  options.seeds = 6;
  options.budgets = {15};
  const auto results = compare({by("prediction"), by("value")}, table, options);
  EXPECT_LT(estimate(results[0].regret_by_resource[0]).mean, 0.5 * estimate(results[1].regret_by_resource[0]).mean);
}

TEST(SimulatedJob, NanIsWorstAndAFailureIsAsRecorded) {
  CurveTable table = tiny_table({{1, 1, 1}, {std::nan(""), std::nan(""), std::nan("")}, {2, 2, 2}, {}});
  table.curves[3].failed = true;
  const auto result = run_in_order(table, {{"scheduler", {{"type", "none"}}}}, 1);
  EXPECT_EQ(result.trials, 4);
  EXPECT_EQ(result.trials_completed, 3);
  EXPECT_EQ(result.incumbents.back().curve, 2U);
}

TEST(Replay, UnderTheSameRulesEveryTrialIsMeasuredAndUnderOthersWhatIsNotIsCounted) {
  // Exported: hyperband's first bracket stopped two at 1, and trained the best until 3.
  const CurveTable table = tiny_table({{1}, {3, 4, 5}, {2}});
  const auto same = run_in_order(table, {{"scheduler", {{"type", "successive_halving"}}}}, 1);
  EXPECT_EQ(same.trials_unmeasured, 0);
  EXPECT_EQ(same.resource_unmeasured, 0);
  const auto other = run_in_order(table, {{"scheduler", {{"type", "none"}}}}, 1);
  EXPECT_EQ(other.trials_unmeasured, 2);
  EXPECT_EQ(other.trials_measured_earlier, 2);
  EXPECT_EQ(other.trials_measured_later, 0);
  EXPECT_EQ(other.resource_unmeasured, 4);
  EXPECT_EQ(table.measured_at(3), 1);
}

TEST(Replay, AtARungThatLiesBetweenWhatWasRecordedTheValueBeforeItStands) {
  CurveTable table = tiny_table({{1, 2, 3, 4}, {2, 3, 4, 5}});
  for (Curve& curve : table.curves) std::erase_if(curve.points, [](const auto& point) { return point.first == 2; });
  const auto result = run_in_order(table, {{"scheduler", {{"type", "asha_stopping"}, {"rungs", {2, 4}}}}}, 1);
  EXPECT_EQ(result.trials_unmeasured, 2);
  EXPECT_EQ(result.resource_unmeasured, 0);
}

TEST(Replay, OfATrialThatWasMeasuredOnlyLaterNothingIsKnownBefore) {
  const CurveTable table = table_with_a_late_curve();
  const auto early = run_in_order(table, {{"scheduler", {{"type", "successive_halving"}, {"rungs", {1, 9}}, {"eta", 4}}}}, 1);
  for (const Incumbent& incumbent : early.incumbents) EXPECT_NE(incumbent.curve, 2U);
  EXPECT_EQ(early.incumbents.back().curve, 3U);
  EXPECT_EQ(early.trials_unmeasured, 1);
  EXPECT_EQ(early.trials_measured_later, 1);
  EXPECT_EQ(early.trials_measured_earlier, 0);
  EXPECT_EQ(early.resource_unmeasured, 1);
  const auto late = run_in_order(table, {{"scheduler", {{"type", "none"}}}}, 1);
  EXPECT_EQ(late.incumbents.back().curve, 2U);
  EXPECT_EQ(late.incumbents.back().resource, 27);
  EXPECT_EQ(late.trials_unmeasured, 0);
}

TEST(Replay, WhatTrainsLessThanAConfigurationsFirstValueTakesItForNoBetterThanTheMedianOne) {
  const Regret regret(table_with_a_late_curve(), Goal::maximize, 3);
  EXPECT_EQ(regret.best(), 3);
  EXPECT_EQ(regret.of(2), 1);
}

TEST(Replay, IsRefusedWhereNothingWasMeasuredAsEarlyAsTheLowestRung) {
  CurveTable table = tiny_table({{1}, {2}, {3}});
  for (Curve& curve : table.curves) curve.points.front().first = 27;
  table.max_resource = 27;
  int outside = 0;
  const auto fault = [&](const Json& scheduler) {
    const auto method =
        make_method({{"objective", {{"goal", "maximize"}}}, {"scheduler", scheduler}}, table, {{}, {}, true}, outside);
    return method ? "" : describe(method.error());
  };
  EXPECT_EQ(fault({{"type", "auto"}}),
            "scheduler.min_resource: the lowest rung is 1, but the table has nothing below 27 (give \"min_resource\": 27, or "
            "compare what trains in "
            "one piece: `none`)");
  EXPECT_EQ(fault({{"type", "hyperband"}, {"rungs", {3, 9, 27}}}),
            "scheduler.rungs[0]: is 3, but the table has nothing below 27 (give rungs from 27 on, or compare what trains in one "
            "piece: `none`)");
  EXPECT_EQ(fault({{"type", "none"}, {"max_resource", 9}}),
            "scheduler.max_resource: is 9, but the table has nothing below 27 (give \"max_resource\": 27 or more)");
  EXPECT_EQ(fault({{"type", "none"}}), "");
  EXPECT_EQ(fault({{"type", "auto"}, {"min_resource", 27}}), "");
  EXPECT_EQ(fault({{"type", "median_stopping"}}).find("scheduler.min_resource: the lowest rung is "), 0U);
  const Json from_27{{"type", "asha_delayed"}, {"min_resource", 27}, {"first_resource", 9}};
  EXPECT_EQ(fault(from_27), "scheduler.first_resource: is 9, but the table has nothing below 27 (leave it out)");
  table.curves.front().points.insert(table.curves.front().points.begin(), {1, 0.0});
  EXPECT_EQ(fault({{"type", "auto"}}), "");
}

TEST(Replay, LeavesOutARungForTheFirstTrialsThatNobodyAskedForAndTheTableDoesNotKnow) {
  CurveTable table = tiny_table({{1}, {2}, {3}});
  for (Curve& curve : table.curves) curve.points.front().first = 9;
  table.curves.front().points.emplace_back(81, 1.0);
  table.max_resource = 81;
  const Json document{{"objective", {{"metric", "validation-auc"}, {"goal", "maximize"}}},
                      {"trainer", {{"type", "xgboost"}, {"fidelity", "shrinkage"}, {"adapt_eta", true}}},
                      {"limits", {{"max_trials", 100}}}};
  EXPECT_EQ(method_on(table, document, {"auto", {}, false}).spec.scheduler.first_resource, 0);
  table.curves.front().points.insert(table.curves.front().points.begin(), {3, 0.0});
  EXPECT_EQ(method_on(table, document, {"auto", {}, false}).spec.scheduler.first_resource, 3);
}

TEST(Methods, TakeAnotherSchedulerAndKeepTheLadderWhereItFits) {
  CurveTable table = smooth_table();
  const Json document{{"scheduler", {{"type", "hyperband"}, {"min_resource", 3}, {"max_resource", 27}, {"eta", 4}}}};
  EXPECT_EQ(method_on(table, document).spec.scheduler.eta, 4);
  EXPECT_EQ(method_on(table, document, {"asha_stopping,eta=2", {}, false}).spec.scheduler.eta, 2);
  EXPECT_EQ(method_on(table, document, {"asha_stopping", {}, false}).spec.scheduler.min_resource, 3);
  EXPECT_EQ(method_on(table, document, {"none", {}, false}).spec.scheduler.max_resource, 27);
  EXPECT_EQ(method_on(table, document, {"median_stopping", {}, false}).spec.scheduler.min_resource, 3);
  EXPECT_EQ(method_on(table, document, {"asha_delayed,rungs=[9,27]", {}, false}).spec.scheduler.min_resource, 9);
  const Json with_rungs{{"scheduler", {{"type", "hyperband"}, {"rungs", {9, 27}}}}};
  EXPECT_TRUE(method_on(table, with_rungs, {"auto,min_resource=3", {}, false}).spec.scheduler.rungs.empty());
  EXPECT_EQ(method_on(table, with_rungs, {"auto,eta=4", {}, false}).spec.scheduler.rungs.size(), 2U);
  const SearchMethod other = method_on(table, document, {"auto", "sobol", false});
  EXPECT_EQ(other.name, "auto / sobol");
  EXPECT_EQ(other.spec.sampler.seed, 5U);
}

TEST(Methods, TakeListsAsFields) {
  CurveTable table = smooth_table();
  const auto method = method_on(table, Json::object(), {"asha_delayed,rungs=[3, 9,27],rung_audit=true", {}, false});
  EXPECT_EQ(method.spec.scheduler.rungs, (std::vector<std::int64_t>{3, 9, 27}));
  EXPECT_TRUE(method.spec.scheduler.rung_audit);
  EXPECT_EQ(parse_part(R"(a,b="x,y",c={"d": [1, "]"]},e=word,f=2)").value(),
            Json::parse(R"({"type": "a", "b": "x,y", "c": {"d": [1, "]"]}, "e": "word", "f": 2})"));
  EXPECT_EQ(parse_part("a,b=[1,c=2").value(), Json::parse(R"({"type": "a", "b": "[1", "c": 2})"));
}

TEST(Methods, TakeTheReplicasToChooseFromFromTheTrainerAndNotFromTheTablesColumn) {
  CurveTable table = tiny_table({{1}, {2}, {3}});
  table.parameters.emplace_back("replicas");
  for (std::size_t i = 0; i < 3; ++i) table.curves[i].configuration["replicas"] = static_cast<std::int64_t>(i) + 1;
  const auto method = method_on(table, {{"trainer", {{"replicas", {1, 2}}}}});
  EXPECT_TRUE(std::holds_alternative<CategoricalDomain>(method.spec.search_space.find("replicas")->domain));
  EXPECT_EQ(table.curves.size(), 2U);
}

TEST(Methods, OfXgboostHaveTheLadderAndTheRungsOfASubmission) {
  CurveTable table = table_of("trees", {"eta", "y"}, [](std::uint64_t, double x, double, std::int64_t) { return x; });
  Json document{{"trainer", {{"type", "xgboost"}}}};
  const SchedulerSpec submitted = method_on(table, document).spec.scheduler;
  EXPECT_TRUE(submitted.restarts);
  EXPECT_EQ(ladder(submitted), (std::vector<std::int64_t>{3, 9, 27}));
  document["trainer"]["fidelity"] = "prefix";
  EXPECT_FALSE(method_on(table, document).spec.scheduler.restarts);
  EXPECT_FALSE(method_on(table, Json::object()).spec.scheduler.restarts) << "of no trainer, curves go on";
}

TEST(Methods, OfOneComparisonSearchTheSameSpace) {
  CurveTable table = smooth_table();
  table.curves[0].configuration = {{"u", 100.0}};  // left out, for it lacks v
  const Json objective{{"objective", {{"goal", "maximize"}}}};
  const Json document = searching_all_of(objective, table);
  const auto searched = [&] {
    const SearchMethod method = method_on(table, document);
    const auto& u = std::get<FloatDomain>(method.spec.search_space.parameters().front().domain);
    return std::pair(u.max, *method.spec.limits.max_trials);
  };
  const auto first = searched();
  EXPECT_EQ(first.first, 100);
  EXPECT_EQ(searched(), first);
}

TEST(Methods, TellWhatIsWrong) {
  CurveTable table = smooth_table();
  int outside = 0;
  const auto fault = [&](const Json& document, const MethodOptions& options) {
    const auto method = make_method(document, table, options, outside);
    return method ? "" : describe(method.error());
  };
  const Json objective{{"objective", {{"goal", "maximize"}}}};
  EXPECT_EQ(fault(Json::array(), {}), "expected a job's document, an object");
  EXPECT_NE(fault(Json::object(), {}).find("objective"), std::string::npos);
  EXPECT_NE(fault(objective, {"asha_delayed,eta", {}, false}).find("expected type,field=value"), std::string::npos);
  EXPECT_NE(fault(objective, {"rungs", {}, false}).find("scheduler.type"), std::string::npos);
  EXPECT_NE(fault(objective, {"auto,type=3", {}, false}).find("scheduler.type"), std::string::npos);
  EXPECT_NE(fault(objective, {{}, "random,type=3", false}).find("sampler.type"), std::string::npos);
  Json faulty = objective;
  faulty["scheduler"] = {{"type", 3}};
  EXPECT_NE(fault(faulty, {}).find("scheduler.type"), std::string::npos);
  EXPECT_EQ(fault(faulty, {"asha_delayed", {}, false}), "");  // instead of the faulty one
  EXPECT_EQ(fault({{"objective", {{"goal", "maximize"}}}, {"scheduler", {{"max_resource", 81}}}}, {}),
            "scheduler.max_resource: is 81, but the table ends at 27");
  for (const auto& [field, text] : std::vector<std::pair<std::string, std::string>>{
           {"objective.constraints", R"({"objective": {"goal": "maximize", "constraints": [{"metric": "b", "max": 1}]}})"},
           {"objectives", R"({"objectives": [{"metric": "a", "goal": "maximize"}, {"metric": "b", "goal": "minimize"}]})"},
           {"warm_start", R"({"objective": {"goal": "maximize"}, "warm_start": ["earlier"]})"}}) {
    const std::string found = fault(Json::parse(text), {});
    EXPECT_TRUE(found.starts_with(field + ": cannot be simulated") || found.starts_with(field + ": names jobs of a server"))
        << found;
  }
  EXPECT_EQ(
      fault({{"objective", {{"goal", "maximize"}}}, {"search_space", {{"w", {{"type", "float"}, {"min", 0}, {"max", 1}}}}}}, {}),
      "search_space: no configuration of the table lies in it");
}

TEST(Estimates, HaveStudentsIntervals) {
  const Estimate three = estimate({1, 2, 3});
  EXPECT_EQ(three.mean, 2);
  EXPECT_NEAR(three.half_width, 4.303 / std::sqrt(3.0), 1e-9);
  EXPECT_EQ(estimate({7}).half_width, 0);
  std::vector<double> many;
  for (int i = 0; i < 31; ++i) many.push_back(i % 2);
  double squares = 0;
  for (const double value : many) squares += (value - 15.0 / 31) * (value - 15.0 / 31);
  EXPECT_NEAR(estimate(many).half_width, 2.0423 * std::sqrt(squares / 30 / 31), 1e-3);
}

TEST(Chart, IsAnSvgWithALineForEachMethodAndTextThatCannotBreakIt) {
  const std::string svg = chart_svg({{"a<b", {{1, 1, 0.1}, {10, 0.5, 0}}}, {"c", {{1, 0.9, 0}, {10, 0.2, 0.1}}}},
                                    {"title & more", "resource", "regret"});
  EXPECT_TRUE(svg.starts_with("<svg"));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_NE(svg.find("a&lt;b"), std::string::npos);
  EXPECT_NE(svg.find("title &amp; more"), std::string::npos);
  std::size_t lines = 0;
  for (std::size_t at = svg.find("<polyline"); at != std::string::npos; at = svg.find("<polyline", at + 1)) ++lines;
  EXPECT_EQ(lines, 2U);
}

TEST(Chart, ReachesBelow0WhereALineDoes) {
  const auto ends_at = [](double from, double to) {
    const std::string svg = chart_svg({{"a", {{1, from, 0}, {10, to, 0}}}}, {"title", "resource", "regret"});
    std::istringstream points(svg.substr(svg.find("<polyline points=\"") + 18));
    double x = 0;
    double y_first = 0;
    double y_last = 0;
    char comma = 0;
    points >> x >> comma >> y_first >> x >> comma >> y_last;
    return std::pair(y_first, y_last);
  };
  const auto [one, zero] = ends_at(1, 0);
  EXPECT_DOUBLE_EQ(one, 52);
  EXPECT_DOUBLE_EQ(zero, 432);
  const auto [top, below] = ends_at(1, -0.05);  // an axis from -0.1
  EXPECT_DOUBLE_EQ(top, 52);
  EXPECT_NEAR(below, 52 + 380 * 1.05 / 1.1, 0.051);
  EXPECT_EQ(ends_at(1, -0.1).second, 432);
}

TEST(Chart, IsAsHighAsItsLegendNeeds) {
  const auto height_and_last_row = [](int methods) {
    std::vector<ChartLine> lines;
    for (int i = 0; i < methods; ++i) lines.push_back({"method " + std::to_string(i), {{1, 1, 0}, {10, 0.5, 0}}});
    const std::string svg = chart_svg(lines, {"title", "resource", "regret"});
    const std::string box = "viewBox=\"0 0 860 ";  // wide enough for such names
    EXPECT_NE(svg.find(box), std::string::npos);
    const double height = std::stod(svg.substr(svg.find(box) + box.size()));
    const std::size_t row = svg.rfind("y=\"") + 3;
    return std::pair(height, std::stod(svg.substr(row)));
  };
  EXPECT_EQ(height_and_last_row(2).first, height_and_last_row(20).first);
  for (const int methods : {2, 20, 21, 22, 70}) {
    const auto [height, last_row] = height_and_last_row(methods);
    EXPECT_LT(last_row + 8, height) << methods;
    EXPECT_LT(height, std::max(493.0, last_row + 40)) << methods;
  }
}

}  // namespace tuneband::test

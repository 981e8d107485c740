// What `tuneband describe --plot` draws: the best so far over time and over what was trained.
#include "cli/terminal/job_plots.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/terminal/text_plot.hpp"

namespace tuneband::cli {
namespace {

using testing::HasSubstr;

std::vector<std::int64_t> trials_of(const BestSoFar& best) {
  std::vector<std::int64_t> trials;
  for (const BestStep& step : best.steps) trials.push_back(step.trial);
  return trials;
}

Json plotted_columns() {
  return Json::parse(
      R"({"number": [0, 1, 2, 3, 4, 5, 6], "started": [0, 0, 0, 0, 0, 0, null], "ended": [4, 2, 1, 3, 5, null, null],
    "objective": [0.8, 0.7, 0.99, "nan", 0.9, 0.85, null], "objective_resource": [9, 9, 3, 9, 9, 9, 0],
    "resource": [9, 9, 3, 9, 9, 9, 0], "violation": [0, 0, 0, 0, 0.5, 0, 0]})");
}

TEST(JobPlots, TheBestSoFarCountsAtTheHighestResourceInTheOrderOfTheEnds) {
  JobInfo job;
  job.max_resource = 27;
  const BestSoFar over_time = best_so_far(plotted_columns(), job, Cost::seconds, 60);
  EXPECT_EQ(over_time.resource, 9) << "nothing has come to 27";
  EXPECT_EQ(trials_of(over_time), (std::vector<std::int64_t>{1, 0, 5})) << "2 had 3 alone, 3 is NaN, 4 violates a constraint";
  EXPECT_EQ(over_time.steps[1].cost, 4);
  EXPECT_EQ(over_time.steps[2].cost, 60) << "under way: now";
  EXPECT_EQ(over_time.end, 60);
  const BestSoFar over_resource = best_so_far(plotted_columns(), job, Cost::resource, 60);
  EXPECT_EQ(over_resource.steps[0].cost, 3 + 9);
  EXPECT_EQ(over_resource.end, 3 + 5 * 9);
  job.maximize = false;
  EXPECT_EQ(trials_of(best_so_far(plotted_columns(), job, Cost::seconds, 60)), (std::vector<std::int64_t>{1}));
}

TEST(JobPlots, ATrialThatWaitsCountsFromWhenItsValueCame) {
  Json columns = plotted_columns();
  columns["arrived"] = {4, 2, 1, 3, 5, 2.5, nullptr};
  JobInfo job;
  job.max_resource = 9;
  const BestSoFar best = best_so_far(columns, job, Cost::seconds, 60);
  EXPECT_EQ(trials_of(best), (std::vector<std::int64_t>{1, 5}));
  EXPECT_EQ(best.steps[1].cost, 2.5);
  EXPECT_EQ(best.end, 60) << "it goes on";
  EXPECT_EQ(trials_of(best_so_far(columns, job, Cost::resource, 60)), (std::vector<std::int64_t>{1, 5}));
}

TEST(JobPlots, WhereRungsCompareWhatATrialKeepsCountsFromAnyRung) {
  Json columns = plotted_columns();
  columns["kept_value"] = {0.85, 0.75, 0.99, nullptr, 0.9, nullptr, nullptr};
  JobInfo job;
  job.max_resource = 9;
  EXPECT_EQ(best_so_far(columns, job, Cost::seconds, 60).steps.front().value, 0.75) << "of those at 9 too, as trials are ranked";
  job.rungs_compare = true;
  const BestSoFar best = best_so_far(columns, job, Cost::seconds, 60);
  EXPECT_EQ(best.resource, 0);
  EXPECT_EQ(trials_of(best), (std::vector<std::int64_t>{2}));
  EXPECT_EQ(best.steps.front().value, 0.99);
}

TEST(JobPlots, OfAChoiceOfTrialsTheServerSaysWhatTheWholeJobHadSpent) {
  Json columns = plotted_columns();
  columns["resource_so_far"] = {500, 200, 100, 400, 600, 700, nullptr};
  JobInfo job;
  job.max_resource = 9;
  const BestSoFar best = best_so_far(columns, job, Cost::resource, 60);
  EXPECT_EQ(best.steps[0].cost, 200);
  EXPECT_EQ(best.end, 700);
}

TEST(JobPlots, AJobWithoutTrialsHasNoSteps) {
  const BestSoFar best = best_so_far(Json::parse(R"({"number": []})"), JobInfo{}, Cost::seconds, 1);
  EXPECT_TRUE(best.steps.empty());
  EXPECT_EQ(best.end, 0);
}

TEST(JobPlots, TheEndsOfAPlotAreNamed) {
  const auto lines = text_plot({{0, 1}, {10, 2}}, 80, {"0 s", "1 min 5 s"});
  EXPECT_THAT(lines.back(), HasSubstr(" 0 s "));
  EXPECT_TRUE(lines.back().ends_with(" 1 min 5 s"));
  EXPECT_EQ(lines.back().size(), 80u);
  EXPECT_THAT(text_plot({{0, 1}, {10, 2}}, 80).back(), HasSubstr("step 0"));
}

TEST(JobPlots, WhatIsNotFiniteIsCounted) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(text_plot({{0, 1}, {10, 2}, {20, kInfinity}, {30, std::nan("")}}, 80).back(),
              testing::EndsWith(" not finite at 2 of them, first inf at 20"));
  EXPECT_THAT(text_plot({{20, kInfinity}}, 80).front(), HasSubstr("no finite value at 1 step"));
}

TEST(JobPlots, ValuesAMillionTimesApartAreOnALogarithmicAxis) {
  const auto middle = [](double high) { return text_plot({{0, 1e-3}, {1, high}, {2, 1e-3}}, 80)[5]; };
  EXPECT_THAT(middle(1e3), Not(HasSubstr("logarithmic")));
  EXPECT_THAT(middle(1.001e3), HasSubstr("logarithmic"));
  // The second of three values that are each ten thousand times the one before is half way up.
  const auto lines = text_plot({{0, 1e-8}, {1, 1e-4}, {2, 1}}, 23);
  const auto dots = [&](std::size_t row, std::size_t column) { return lines[row].substr(13 + 3 * column, 3); };
  EXPECT_NE(dots(4, 4) + dots(4, 5) + dots(5, 4) + dots(5, 5), "\u2800\u2800\u2800\u2800");
  EXPECT_EQ(dots(9, 5), "\u2800");
  const auto least = text_plot({{0, -1e308}, {1, 1e308}, {2, -1e308}}, 80);
  EXPECT_THAT(least[5], Not(HasSubstr("logarithmic")));
  EXPECT_NE(least[0].substr(13).find_first_not_of("\u2800"), std::string::npos);
}

}  // namespace
}  // namespace tuneband::cli

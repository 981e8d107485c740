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
      R"({"number": [0, 1, 2], "started": [0, 0, null], "ended": [4, null, null], "resource_so_far": [9, 31, null],
    "best_so_far": {"seconds": [1, 2, 4, 5, 6], "trial": [0, 1, 0, 2, 1], "value": [0.8, 0.9, 0.7, 0.95, 0.75],
                    "resource": [3, 3, 9, 3, 9], "resource_so_far": [3, 6, 15, 18, 27]}})");
}

TEST(JobPlots, TheBestSoFarCountsAtTheHighestResourceAsItsResultsCame) {
  JobInfo job;
  const BestSoFar over_time = best_so_far(plotted_columns(), job, Cost::seconds, 60);
  EXPECT_EQ(over_time.resource, 9);
  EXPECT_EQ(trials_of(over_time), (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(over_time.steps[0].value, 0.7);
  EXPECT_EQ(over_time.steps[1].cost, 6);
  EXPECT_EQ(over_time.end, 60) << "one is under way: now";
  const BestSoFar over_resource = best_so_far(plotted_columns(), job, Cost::resource, 60);
  EXPECT_EQ(over_resource.steps[0].cost, 15);
  EXPECT_EQ(over_resource.end, 31);
  job.maximize = false;
  EXPECT_EQ(trials_of(best_so_far(plotted_columns(), job, Cost::seconds, 60)), (std::vector<std::int64_t>{0}));
}

TEST(JobPlots, WhereRungsCompareEveryResultOfATrialCounts) {
  JobInfo job;
  job.rungs_compare = true;
  const BestSoFar best = best_so_far(plotted_columns(), job, Cost::resource, 60);
  EXPECT_EQ(best.resource, 0);
  EXPECT_EQ(trials_of(best), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(best.steps[0].cost, 3);
}

TEST(JobPlots, AJobWithoutTrialsHasNoSteps) {
  const Json none = Json::parse(R"({"number": [], "best_so_far": {"trial": []}})");
  const BestSoFar best = best_so_far(none, JobInfo{}, Cost::seconds, 1);
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

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

}  // namespace
}  // namespace tuneband::cli

#include <gtest/gtest.h>

#include <sstream>

#include "cli/terminal/progress_frame.hpp"
#include "cli/terminal/progress_view.hpp"
#include "tests/cli/examples.hpp"

namespace tuneband::cli {

namespace {

std::vector<std::string> frame_of(const Snapshot& snapshot, std::size_t width, std::size_t height) {
  const Terminal terminal{.interactive = true, .color = false, .utf8 = false, .width = width, .height = height};
  std::vector<std::string> lines;
  for (const Line& line : progress_frame(snapshot, terminal)) lines.push_back(render(line, terminal));
  return lines;
}

struct PlainConsole {
  std::ostringstream out;
  std::ostringstream err;
  Console console{Terminal{}, out, err, false};
};

}  // namespace

TEST(Progress, TheFrameShowsWhatIsDoneBestRungsAndWhoTrains) {
  EXPECT_EQ(frame_of(test::example_snapshot(), 90, 40),
            (std::vector<std::string>{
                "direct-marketing  job 7  running  0:20",
                "progress   ###############.........................  78 of 207 rounds, about 0:33 left",
                "trials     10 of 17 ended, 2 running, 2 paused, 2 failed",
                "best       0.7628  validation-auc at 27 rounds, trial 5",
                "           eta=0.07725 max_depth=3",
                "saved      156 rounds by stopping 7 trials early",
                "",
                "bracket  3 rounds  9 rounds  27 rounds",
                "0             8/9       3/3        1/1",
                "1                       2/5        0/1",
                "2                                  0/3",
                "",
                "trial  worker   rounds  until  last value",
                "   12  local-1       0      9           -",
                "   13  local-2       0      9           -",
            }));
}

TEST(Progress, ANarrowTerminalGetsShorterLinesAndNoBar) {
  for (const std::string& line : frame_of(test::example_snapshot(), 40, 40)) EXPECT_LE(line.size(), 40u) << line;
  const auto lines = frame_of(test::example_snapshot(), 40, 40);
  EXPECT_EQ(lines[1], "progress   78 of 207 rounds, about 0:33");
  EXPECT_EQ(lines[2], "           left") << "nothing is cut off";
}

TEST(Progress, WhatIsSavedIsOfTheTrialsThatWereStoppedThoughTheyStillWaitForTheOthersEnd) {
  Snapshot snapshot = test::example_snapshot();
  snapshot.job.trials.stopped = 0;
  snapshot.plan.actual[0].stopped = 1;
  snapshot.plan.actual[1].stopped = 0;
  EXPECT_EQ(frame_of(snapshot, 90, 40)[5], "saved      24 rounds by stopping 1 trial early");
}

TEST(Progress, AFrameNeverFillsMoreThanTheScreen) {
  EXPECT_EQ(frame_of(test::example_snapshot(), 80, 8).size(), 7u);
  EXPECT_EQ(frame_of(test::example_snapshot(), 80, 1).size(), 1u);
}

TEST(Progress, WhileDataIsLoadedItSaysHowFarThatIs) {
  EXPECT_EQ(loading_in("x\n[tuneband] loading data: 35 % of 512 MB read\n"), "35 % of 512 MB read");
  EXPECT_EQ(loading_in("[tuneband] loading data: 512 MB"), "512 MB");
  EXPECT_EQ(loading_in("[tuneband] loading data: 512 MB\n[tuneband] 90 rows to train on\n"), "");
  EXPECT_EQ(loading_in(""), "");
  Snapshot snapshot = test::example_snapshot();
  snapshot.loading = "35 % of 512 MB read";
  EXPECT_EQ(frame_of(snapshot, 90, 40)[3], "loading    data: 35 % of 512 MB read");
  PlainConsole plain;
  LogView view(plain.console);
  view.show(snapshot);
  view.show(snapshot);
  const std::string said = plain.out.str();
  EXPECT_NE(said.find("loading data: 35 % of 512 MB read"), std::string::npos) << said;
  EXPECT_EQ(said.find("loading data"), said.rfind("loading data")) << "once";
}

TEST(Progress, BeforeTheFirstValueNothingIsClaimed) {
  Snapshot snapshot = test::example_snapshot();
  snapshot.job.best.reset();
  snapshot.job.best_anywhere.reset();
  snapshot.job.resource_spent = 0;
  snapshot.running.clear();
  const auto lines = frame_of(snapshot, 90, 40);
  EXPECT_EQ(lines[1], "progress   ........................................  0 of 207 rounds");
  EXPECT_EQ(lines[3], "best       nothing yet");
}

TEST(Progress, WithoutABoundOnTrialsThereIsNoBarAndNoTimeLeft) {
  Snapshot snapshot = test::example_snapshot();
  snapshot.plan.exact = false;
  snapshot.job.trials.planned.reset();
  EXPECT_EQ(frame_of(snapshot, 90, 40)[1], "progress   78 rounds");
  EXPECT_FALSE(seconds_left(snapshot));
}

TEST(Progress, OfManyBracketsThoseUnderWayAreShown) {
  PlanInfo plan;
  plan.ladder = {1};
  plan.exact = true;
  for (int bracket = 0; bracket < 10; ++bracket) plan.actual.push_back({bracket, 0, 1, 3, bracket < 4 ? 3 : 0, 0, 0, 0, 0});
  plan.actual[0].reached = 2;
  plan.actual[0].failed = 1;  // its slot is filled
  const std::string text = rung_table(plan, "rounds", 3).tab_separated();
  EXPECT_EQ(text, "bracket\t1 round\n4\t0/3\n5\t0/3\n6\t0/3\n");
}

TEST(Progress, AFailureThatCameBeforeIsNotSaidInFullAgain) {
  PlainConsole plain;
  LogView view(plain.console);
  view.show_failures(
      {trial_from_json(test::failed_trial(4, "out_of_memory")), trial_from_json(test::failed_trial(5, "crashed"))});
  view.show_failures({trial_from_json(test::failed_trial(6, "out_of_memory"))});
  EXPECT_EQ(plain.out.str(),
            "  0:00  trial 4 failed (out_of_memory): the memory limit of 1 GB was reached\n"
            "  0:00  trial 5 failed (crashed): the memory limit of 1 GB was reached\n"
            "  0:00  trial 6 failed as trial 4 did\n");
}

TEST(Progress, APipeGetsALineForEachChangeAndNoEscapeCodes) {
  PlainConsole plain;
  LogView view(plain.console);
  Snapshot snapshot = test::example_snapshot();
  view.show(snapshot);
  view.show(snapshot);
  snapshot.at_ms += 1000;
  snapshot.job.best_anywhere->value = 0.8;
  view.show(snapshot);
  view.show_failures({trial_from_json(test::failed_trial(4, "out_of_memory"))});
  snapshot.job.state = "completed";
  snapshot.job.reason = "every trial ended";
  view.show(snapshot);
  EXPECT_EQ(plain.out.str(),
            "  0:20  best 0.7628 at 27 rounds, trial 5: eta=0.07725 max_depth=3\n"
            "  0:20  bracket 0: 8 trials reached 3 rounds, 3 go on\n"  // and one has failed
            "  0:20  bracket 0: 3 trials reached 9 rounds, 1 goes on\n"
            "  0:20  bracket 0: 1 trial reached 27 rounds, the end of the bracket\n"
            "  0:21  best 0.8 at 27 rounds, trial 5: eta=0.07725 max_depth=3\n"
            "  0:21  trial 4 failed (out_of_memory): the memory limit of 1 GB was reached\n"
            "  0:21  completed: every trial ended\n");
}

}  // namespace tuneband::cli

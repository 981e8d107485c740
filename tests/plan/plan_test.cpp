#include "scheduler/plan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

namespace tuneband {
namespace {

SchedulerSpec spec_of(std::int64_t max_resource, std::int64_t min_resource, int eta,
                      SchedulerType type = SchedulerType::hyperband) {
  SchedulerSpec spec;
  spec.type = type;
  spec.min_resource = min_resource;
  spec.max_resource = max_resource;
  spec.eta = eta;
  return spec;
}

JobSpec job_of(const SchedulerSpec& scheduler, std::optional<int> max_trials = std::nullopt) {
  JobSpec job;
  Diagnostics diagnostics;
  job.search_space =
      SearchSpace::parse(Json::parse(R"({"x": {"type": "float", "min": 0, "max": 1}})"), "search_space", diagnostics);
  job.scheduler = scheduler;
  job.limits.max_trials = max_trials;
  return job;
}

// "27 9 3 1 / 12 4 1 / 6 2 / 4"
std::string trials_text(const std::vector<PlannedBracket>& brackets) {
  std::ostringstream text;
  for (const PlannedBracket& bracket : brackets) {
    text << (bracket.index == 0 ? "" : " / ");
    for (std::size_t i = 0; i < bracket.rungs.size(); ++i) text << (i == 0 ? "" : " ") << bracket.rungs[i].trials;
  }
  return text.str();
}

std::string ladder_text(const SchedulerSpec& spec) {
  std::ostringstream text;
  for (const std::int64_t level : ladder(spec)) text << level << " ";
  return text.str();
}

struct Golden {
  std::int64_t max_resource;
  std::int64_t min_resource;
  int eta;
  const char* ladder;
  const char* brackets;  // of one pass
};

class Table : public testing::TestWithParam<Golden> {};
INSTANTIATE_TEST_SUITE_P(
    , Table,
    testing::Values(Golden{81, 1, 3, "1 3 9 27 81 ", "81 27 9 3 1 / 34 11 3 1 / 15 5 1 / 8 2 / 5"},
                    Golden{27, 1, 3, "1 3 9 27 ", "27 9 3 1 / 12 4 1 / 6 2 / 4"},
                    Golden{30, 1, 3, "1 3 10 30 ", "27 9 3 1 / 12 4 1 / 6 2 / 4"},
                    Golden{243, 1, 3, "1 3 9 27 81 243 ", "243 81 27 9 3 1 / 98 32 10 3 1 / 41 13 4 1 / 18 6 2 / 9 3 / 6"},
                    Golden{1000, 1, 10, "1 10 100 1000 ", "1000 100 10 1 / 134 13 1 / 20 2 / 4"},
                    Golden{16, 1, 4, "1 4 16 ", "16 4 1 / 6 1 / 3"},                                       //
                    Golden{256, 1, 4, "1 4 16 64 256 ", "256 64 16 4 1 / 80 20 5 1 / 27 6 1 / 10 2 / 5"},  //
                    Golden{300, 1, 4, "1 5 19 75 300 ", "256 64 16 4 1 / 80 20 5 1 / 27 6 1 / 10 2 / 5"},  //
                    Golden{8, 1, 2, "1 2 4 8 ", "8 4 2 1 / 6 3 1 / 4 2 / 4"},                              //
                    Golden{100, 5, 3, "11 33 100 ", "9 3 1 / 5 1 / 3"},                                    // 100 / 9 = 11.1
                    Golden{52, 3, 3, "6 17 52 ", "9 3 1 / 5 1 / 3"}, Golden{2, 1, 3, "2 ", "1"},  // eta does not fit in: one rung
                    Golden{1, 1, 3, "1 ", "1"}, Golden{7, 7, 2, "7 ", "1"}));

TEST_P(Table, IsAsPublished) {
  const Golden& golden = GetParam();
  const SchedulerSpec spec = spec_of(golden.max_resource, golden.min_resource, golden.eta);
  EXPECT_EQ(ladder_text(spec), golden.ladder);
  const Plan plan = make_plan(job_of(spec));
  EXPECT_EQ(trials_text(plan.brackets), golden.brackets);
  EXPECT_EQ(plan.trials, trials_of_one_pass(spec));
  EXPECT_TRUE(plan.exact);
}

// Li et al. 2018, Table 1: R = 81, eta = 3. The printed rows are (n_i, r_i): 81 27 9 3 1 / 27 9 3 1 / 9 3 1 / 6 2 / 5.
TEST(PaperTable1, IsGivenByItsOwnRounding) {
  SchedulerSpec spec = spec_of(81, 1, 3);
  spec.rounding = BracketRounding::table1;
  const Plan plan = make_plan(job_of(spec));
  EXPECT_EQ(trials_text(plan.brackets), "81 27 9 3 1 / 27 9 3 1 / 9 3 1 / 6 2 / 5");
  EXPECT_EQ(plan.brackets[1].rungs.front().resource, 3);
  EXPECT_EQ(plan.brackets[4].rungs.front().resource, 81);
  EXPECT_EQ(plan.trials, 81 + 27 + 9 + 6 + 5);
}

TEST(AutomaticJob, WithoutALimitOnASingleRungIsNotOneTrial) {
  JobSpec job = job_of(spec_of(1, 1, 3));
  EXPECT_EQ(make_plan(job).trials, 1);
  job.scheduler.type = SchedulerType::automatic;
  EXPECT_EQ(make_plan(job).trials, kAutomaticTrialsMin);
  job.limits.convergence.emplace();
  EXPECT_EQ(make_plan(job).trials, std::nullopt);
}

TEST(Brackets, HaveTheResourcesOfTheirRungs) {
  const PlannedBracket bracket = planned_bracket(spec_of(30, 1, 3), 1, std::nullopt);
  EXPECT_EQ(bracket.s, 2);
  ASSERT_EQ(bracket.rungs.size(), 3u);
  EXPECT_EQ(bracket.rungs[0].resource, 3);
  EXPECT_EQ(bracket.rungs[1].resource, 10);
  EXPECT_EQ(bracket.rungs[2].resource, 30);
}

TEST(Brackets, CountResourceFromCheckpoints) {
  // 27 x 1 + 9 x (3 - 1) + 3 x (9 - 3) + 1 x (27 - 9)
  EXPECT_EQ(planned_bracket(spec_of(27, 1, 3), 0, std::nullopt).total_resource(), 27 + 18 + 18 + 18);
  const Plan plan = make_plan(job_of(spec_of(27, 1, 3)));
  std::int64_t total = 0;
  for (const PlannedBracket& bracket : plan.brackets) total += bracket.total_resource();
  EXPECT_EQ(plan.total_resource, total);
  EXPECT_EQ(plan.total_resource_without_stopping, 49 * 27);
}

TEST(Brackets, CountEachRungWholeWhereRungsRestart) {
  JobSpec job = job_of(spec_of(27, 1, 3));
  job.scheduler.restarts = true;
  const Plan plan = make_plan(job);
  EXPECT_TRUE(plan.restarts);
  EXPECT_EQ(plan.brackets[0].total_resource(), 27 * 1 + 9 * 3 + 3 * 9 + 1 * 27);
  EXPECT_EQ(plan.brackets[3].total_resource(), 4 * 27);
  EXPECT_EQ(plan.total_resource, 108 + (12 * 3 + 4 * 9 + 27) + (6 * 9 + 2 * 27) + 4 * 27);
  EXPECT_EQ(plan.total_resource_without_stopping, 49 * 27);  // one training each
  for (const auto type : {SchedulerType::asha_delayed, SchedulerType::async_hyperband, SchedulerType::median_stopping}) {
    JobSpec other = job_of(spec_of(27, 1, 3, type), 27);
    const std::int64_t from_checkpoints = make_plan(other).total_resource;
    other.scheduler.restarts = true;
    EXPECT_GT(make_plan(other).total_resource, from_checkpoints) << to_string(type);
  }
}

TEST(Brackets, RestartWhereTheTrainerSaysSo) {
  EXPECT_TRUE(rungs_restart({{"type", "command"}}));
  EXPECT_TRUE(rungs_restart({{"type", "command"}, {"resume", "restart"}}));
  EXPECT_FALSE(rungs_restart({{"type", "command"}, {"resume", "checkpoint"}}));
  EXPECT_TRUE(rungs_restart({{"type", "xgboost"}, {"fidelity", "shrinkage"}}));
  EXPECT_FALSE(rungs_restart({{"type", "xgboost"}, {"fidelity", "prefix"}}));
  EXPECT_FALSE(rungs_restart({{"type", "xgboost"}}));  // of a version that knew nothing else
  EXPECT_FALSE(rungs_restart(Json()));
}

TEST(Brackets, RepeatAfterOnePass) {
  const SchedulerSpec spec = spec_of(27, 1, 3);
  for (int index = 0; index < 4; ++index) {
    const PlannedBracket first = planned_bracket(spec, index, std::nullopt);
    const PlannedBracket again = planned_bracket(spec, index + 4, std::nullopt);
    EXPECT_EQ(again.index, index + 4);
    EXPECT_EQ(again.s, first.s);
    EXPECT_EQ(again.total_resource(), first.total_resource());
  }
}

TEST(Brackets, OfSuccessiveHalvingAreAlwaysTheFirst) {
  const SchedulerSpec spec = spec_of(27, 1, 3, SchedulerType::successive_halving);
  EXPECT_EQ(trials_of_one_pass(spec), 27);
  EXPECT_EQ(planned_bracket(spec, 5, std::nullopt).s, 3);
  EXPECT_EQ(trials_text(make_plan(job_of(spec, 54)).brackets), "27 9 3 1 / 27 9 3 1");
}

TEST(Brackets, AreTrimmedToTheTrialsLeft) {
  const PlannedBracket bracket = planned_bracket(spec_of(27, 1, 3), 0, 10);
  EXPECT_TRUE(bracket.trimmed);
  EXPECT_EQ(trials_text({bracket}), "10 3 1 1");
  EXPECT_EQ(trials_text({planned_bracket(spec_of(27, 1, 3), 0, 1)}), "1 1 1 1");
  EXPECT_FALSE(planned_bracket(spec_of(27, 1, 3), 0, 27).trimmed);
}

TEST(Brackets, NeverHaveMoreTrialsOnAHigherRung) {
  for (int eta = 2; eta <= 5; ++eta) {
    for (int left = 1; left <= 100; ++left) {
      for (int index = 0; index < 5; ++index) {
        const PlannedBracket bracket = planned_bracket(spec_of(100, 1, eta), index, left);
        for (std::size_t i = 1; i < bracket.rungs.size(); ++i) {
          EXPECT_LE(bracket.rungs[i].trials, bracket.rungs[i - 1].trials);
          EXPECT_GE(bracket.rungs[i].trials, 1);
        }
      }
    }
  }
}

TEST(Ladder, IsTheUsersOwnWhenGiven) {
  SchedulerSpec spec = spec_of(27, 2, 3);
  spec.rungs = {2, 5, 27};
  EXPECT_EQ(ladder_text(spec), "2 5 27 ");
  EXPECT_EQ(trials_text(make_plan(job_of(spec)).brackets), "9 3 1 / 5 1 / 3");
}

TEST(Ladder, OfASearchWithoutStoppingIsItsTop) { EXPECT_EQ(ladder_text(spec_of(27, 1, 3, SchedulerType::none)), "27 "); }

// Every power of eta, and its neighbours: where a logarithm in floating point is off by one.
TEST(Ladder, LosesNoRungAtAPowerOfEta) {
  for (int eta = 2; eta <= kEtaMax; ++eta) {
    std::size_t exponent = 1;
    for (std::int64_t power = eta; power <= kResourceMax; power *= eta, ++exponent) {
      EXPECT_EQ(ladder(spec_of(power, 1, eta)).size(), exponent + 1) << eta << "^" << exponent;
      EXPECT_EQ(ladder(spec_of(power - 1, 1, eta)).size(), exponent) << eta << "^" << exponent << " - 1";
    }
  }
}

TEST(Ladder, RisesStrictlyFromMinToMax) {
  for (int eta = 2; eta <= 7; ++eta) {
    for (std::int64_t max = 1; max <= 400; ++max) {
      for (std::int64_t min = 1; min <= max; min += 1 + min / 5) {
        const auto levels = ladder(spec_of(max, min, eta));
        ASSERT_GE(levels.front(), min);
        ASSERT_EQ(levels.back(), max);
        for (std::size_t i = 1; i < levels.size(); ++i) ASSERT_LT(levels[i - 1], levels[i]) << max << " " << min << " " << eta;
      }
    }
  }
}

TEST(Ladder, RoundsEachLevelToTheNearest) {
  for (std::int64_t max = 1; max <= 3000; max += 7) {
    const auto levels = ladder(spec_of(max, 1, 3));
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const double exact = static_cast<double>(max) / std::pow(3.0, static_cast<double>(levels.size() - 1 - i));
      EXPECT_LE(std::abs(static_cast<double>(levels[i]) - exact), 0.5 + 1e-9);
    }
  }
}

TEST(Plans, HoldForTheLargestResource) {
  for (int eta = 2; eta <= kEtaMax; ++eta) {
    const SchedulerSpec spec = spec_of(kResourceMax, 1, eta);
    const Plan plan = make_plan(job_of(spec, kTrialsMax));
    EXPECT_EQ(plan.trials, kTrialsMax);
    EXPECT_GT(plan.total_resource, 0);
    EXPECT_EQ(plan.total_resource_without_stopping, std::int64_t{kTrialsMax} * kResourceMax);
    EXPECT_GT(trials_of_one_pass(spec), 0);
  }
  SchedulerSpec steep = spec_of(kResourceMax, 1, kEtaMax);
  for (std::int64_t level = 1; level < static_cast<std::int64_t>(kRungsMax); ++level) steep.rungs.push_back(level);
  steep.rungs.push_back(kResourceMax);
  EXPECT_EQ(trials_of_one_pass(steep), std::numeric_limits<int>::max());
  EXPECT_EQ(make_plan(job_of(steep, kTrialsMax)).brackets.front().rungs.front().trials, kTrialsMax);
  for (int index = 0; index < 20; ++index) {  // K eta^s / (s + 1) is beyond 64 bits for the first of these
    EXPECT_EQ(planned_bracket(steep, index, std::nullopt).rungs.front().trials, std::numeric_limits<int>::max()) << index;
  }
}

TEST(Plans, AreTrimmedVisiblyToMaxTrials) {
  const Plan plan = make_plan(job_of(spec_of(27, 1, 3), 30));
  EXPECT_EQ(plan.trials, 30);
  EXPECT_EQ(trials_text(plan.brackets), "27 9 3 1 / 3 1 1");
  EXPECT_FALSE(plan.brackets[0].trimmed);
  EXPECT_TRUE(plan.brackets[1].trimmed);
}

TEST(Plans, StartExactlyMaxTrials) {
  for (int max_trials = 1; max_trials <= 150; ++max_trials) {
    int started = 0;
    for (const PlannedBracket& bracket : make_plan(job_of(spec_of(27, 1, 3), max_trials)).brackets) {
      started += bracket.rungs.front().trials;
    }
    EXPECT_EQ(started, max_trials);
  }
}

TEST(Plans, ShowOnePassWhenAnotherLimitEndsTheJob) {
  JobSpec job = job_of(spec_of(27, 1, 3));
  job.limits.max_runtime_ms = 1000;
  const Plan plan = make_plan(job);
  EXPECT_EQ(plan.trials, std::nullopt);
  EXPECT_EQ(plan.brackets.size(), 4u);
  EXPECT_TRUE(to_json(plan)["trials"].is_null());
}

TEST(Plans, EndWithTheGrid) {
  JobSpec job = job_of(spec_of(27, 1, 3));
  job.sampler.type = SamplerType::grid;
  job.sampler.grid_points = 20;
  job.enqueue.resize(2);
  EXPECT_EQ(trials_text(make_plan(job).brackets), "22 7 2 1");
  job.limits.max_trials = 5;
  EXPECT_EQ(make_plan(job).trials, 5);
}

TEST(Plans, OfAsynchronousPromotionExpectOneInEtaToGoOn) {
  const Plan plan = make_plan(job_of(spec_of(27, 1, 3, SchedulerType::asha_promotion), 100));
  EXPECT_EQ(trials_text(plan.brackets), "100 33 11 3");
  EXPECT_EQ(plan.trials, 100);
  EXPECT_FALSE(plan.exact);
  EXPECT_EQ(plan.total_resource, 100 + 33 * 2 + 11 * 6 + 3 * 18);
  EXPECT_EQ(plan.total_resource_without_stopping, 2700);
  JobSpec unbounded = job_of(spec_of(27, 1, 3, SchedulerType::asha_promotion));
  unbounded.objective.target = 1;
  EXPECT_EQ(trials_text(make_plan(unbounded).brackets), "27 9 3 1");
  EXPECT_EQ(make_plan(unbounded).trials, std::nullopt);
}

// As the rule does: the first eta - 1 go on whatever their value, and whoever comes late to an upper rung has passed a stricter
// bar.
TEST(Plans, OfAsynchronousStoppingCountTheFirstOnesThatGoOnUnjudged) {
  const auto plan_of = [](std::int64_t max_resource, int eta, int trials) {
    return make_plan(job_of(spec_of(max_resource, 1, eta, SchedulerType::asha_stopping), trials));
  };
  EXPECT_EQ(trials_text(plan_of(27, 3, 100).brackets), "100 34 14 7");
  EXPECT_EQ(trials_text(plan_of(100, 10, 9).brackets), "9 9 9") << "all of them";
  EXPECT_EQ(plan_of(100, 10, 9).total_resource, 9 * 100);
  EXPECT_EQ(trials_text(plan_of(9, 3, 3).brackets), "3 2 2") << "2 + 1 / 3";
  EXPECT_EQ(trials_text(plan_of(1, 3, 5000).brackets), "5000") << "more than are tried";
  // Beyond those only 1 in eta go on.
  const auto at_top = [&](int trials) { return plan_of(27, 3, trials).brackets.front().rungs.back().trials; };
  EXPECT_NEAR(at_top(20'000) - at_top(2'000), 18'000 / 27, 3);
}

// R = 9, eta = 3: 9, 5 and 3 trials of a pass of 17 start in the three brackets.
TEST(Plans, OfAsynchronousHyperbandHaveEveryBracketWithItsShareOfTheTrials) {
  const SchedulerSpec spec = spec_of(9, 1, 3, SchedulerType::async_hyperband);
  const Plan two_passes = make_plan(job_of(spec, 34));
  // Shares as (0.8^2 9)^2, (0.8 3/2 3)^2 and 3^2. Of 20 at the first rung 6 go on, of the 14 at the next 4.
  EXPECT_EQ(trials_text(two_passes.brackets), "20 6 2 / 8 2 / 6");
  EXPECT_EQ(two_passes.total_resource, (20 + 6 * 2 + 2 * 6) + (8 * 3 + 2 * 6) + 6 * 9);
  EXPECT_EQ(two_passes.total_resource_without_stopping, 34 * 9);
  EXPECT_FALSE(two_passes.exact);
  for (int index = 0; index < 3; ++index) {
    const PlannedBracket& bracket = two_passes.brackets.at(static_cast<std::size_t>(index));
    EXPECT_EQ(bracket.index, index);
    EXPECT_EQ(bracket.s, 2 - index);
    EXPECT_EQ(bracket.rungs.front().resource, ladder(spec)[static_cast<std::size_t>(index)]);
  }
  EXPECT_EQ(trials_text(make_plan(job_of(spec, 2)).brackets), "1 1 1 / 1") << "one of them goes on to the end";
  EXPECT_EQ(trials_text(make_plan(job_of(spec, 1)).brackets), "1 1 1");
  EXPECT_EQ(make_plan(job_of(spec, 1)).total_resource, 9);
  EXPECT_EQ(trials_text(make_plan(job_of(spec, 5)).brackets), "3 1 1 / 1 / 1");
  const Plan unbounded = make_plan(job_of(spec));
  EXPECT_EQ(unbounded.trials, std::nullopt);
  EXPECT_EQ(trials_text(unbounded.brackets), "10 3 1 / 4 1 / 3");
  EXPECT_EQ(unbounded.total_resource_without_stopping, 17 * 9);
  const Plan one_rung = make_plan(job_of(spec_of(1, 1, 3, SchedulerType::async_hyperband), 4));
  EXPECT_EQ(trials_text(one_rung.brackets), "4");
  EXPECT_TRUE(one_rung.exact);
}

TEST(Plans, OfTheMedianRuleStopHalfOfTheTrialsEvenlyOnTheWay) {
  const auto plan_of = [](std::int64_t max_resource, std::optional<int> trials) {
    return make_plan(job_of(spec_of(max_resource, 1, 3, SchedulerType::median_stopping), trials));
  };
  const Plan plan = plan_of(5, 12);
  EXPECT_EQ(plan.ladder, (std::vector<std::int64_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(trials_text(plan.brackets), "12 11 9 8 6");  // 12 - floor(12 rung / 8)
  EXPECT_EQ(plan.total_resource, 12 + 11 + 9 + 8 + 6);
  EXPECT_EQ(plan.brackets.front().s, 4);
  EXPECT_FALSE(plan.exact);
  EXPECT_EQ(trials_text(plan_of(2, 10).brackets), "10 5");
  EXPECT_EQ(trials_text(plan_of(1, 10).brackets), "10");
  EXPECT_EQ(trials_text(plan_of(3, std::nullopt).brackets), "2 2 1");  // as many as leave one at the top
  EXPECT_EQ(plan_of(3, std::nullopt).total_resource_without_stopping, 2 * 3);
  EXPECT_EQ(trials_text(plan_of(5, 7).brackets), "7 7 6 5 5") << "the first five have too few others to be compared with";
  EXPECT_EQ(trials_text(plan_of(5, 4).brackets), "4 4 4 4 4");
}

// A share of 0.15 of the resource, 0.15 / 0.85 of what the others spend: that is 1 + 2 / 3 + 6 / 9 for a trial of theirs.
TEST(Plans, OfTheAutomaticSchedulerTrainSomeTrialsWhateverTheRungsSay) {
  JobSpec job = job_of(spec_of(9, 1, 3, SchedulerType::automatic), 100);
  job.scheduler.rung_audit = true;
  const Plan plan = make_plan(job);
  EXPECT_EQ(trials_text(plan.brackets), "95 31 10 / 5");
  EXPECT_EQ(plan.brackets[0].s, 2);
  EXPECT_EQ(plan.brackets[1].index, 2);
  EXPECT_EQ(plan.brackets[1].rungs.front().resource, 9);
  EXPECT_EQ(plan.total_resource, 95 + 31 * 2 + 10 * 6 + 5 * 9);
  job.scheduler.restarts = true;  // 1 + 3 / 3 + 9 / 9 for a trial
  EXPECT_EQ(trials_text(make_plan(job).brackets), "94 31 10 / 6");
  job.scheduler.rung_audit = false;
  EXPECT_EQ(trials_text(make_plan(job).brackets), "100 33 11");
  JobSpec two_rungs = job_of(spec_of(3, 1, 3, SchedulerType::automatic), 100);
  two_rungs.scheduler.rung_audit = true;
  EXPECT_EQ(trials_text(make_plan(two_rungs).brackets), "90 30 / 10");
  JobSpec one_rung = job_of(spec_of(1, 1, 3, SchedulerType::automatic), 100);
  one_rung.scheduler.rung_audit = true;
  EXPECT_EQ(trials_text(make_plan(one_rung).brackets), "100");
}

TEST(Plans, AreNotExactWhereTheNumberOfTrialsIsNotKnown) {
  EXPECT_TRUE(make_plan(job_of(spec_of(9, 9, 3, SchedulerType::none), 100)).exact);
  for (const SchedulerType type : {SchedulerType::none, SchedulerType::async_hyperband}) {
    JobSpec job = job_of(spec_of(9, 9, 3, type), std::nullopt);
    job.limits.max_runtime_ms = 1000;
    EXPECT_FALSE(make_plan(job).exact) << to_string(type);
  }
}

// How many start there depends on the workers: none is counted, and nothing else changes.
TEST(Plans, OfARungForTheFirstTrialsAloneAreThoseWithoutIt) {
  JobSpec job = job_of(spec_of(81, 9, 3, SchedulerType::automatic), std::nullopt);
  const Plan without = make_plan(job);
  job.scheduler.first_resource = 3;
  const Plan plan = make_plan(job);
  EXPECT_EQ(plan.ladder, (std::vector<std::int64_t>{3, 9, 27, 81}));
  EXPECT_EQ(trials_text(plan.brackets), "0 " + trials_text(without.brackets));
  EXPECT_EQ(plan.trials, without.trials);
  EXPECT_EQ(plan.total_resource, without.total_resource);
  job.scheduler.promotion = Promotion::prediction;
  const Plan uncut = make_plan(job);
  ASSERT_EQ(uncut.brackets.size(), 2U);
  EXPECT_EQ(uncut.brackets[1].index, 3) << "where the trials that no rung stops start";
}

// Of 520 units, 57.8 trainings, the share 0.6 * 57.8^2 / (57.8^2 + 10^2) = 0.583: 303 beside the rungs' 217 and the trials that
// no rung stops. At most what would be left without stopping.
TEST(Plans, OfAModelBesideTheRungsCountWhatItSpends) {
  JobSpec job = job_of(spec_of(9, 1, 3, SchedulerType::automatic), 100);
  job.scheduler.promotion = Promotion::prediction;
  const Plan plan = make_plan(job);
  EXPECT_EQ(trials_text(plan.brackets), "95 31 10 / 5");
  EXPECT_EQ(plan.model_resource, 303);
  EXPECT_EQ(plan.total_resource, 217 + 303 + 5 * 9);
  job.scheduler.max_resource = 3;
  job.scheduler.eta = 2;
  job.limits.max_trials = 1;
  EXPECT_EQ(make_plan(job).total_resource, make_plan(job).total_resource_without_stopping);
  job.scheduler.restarts = true;
  EXPECT_EQ(make_plan(job).model_resource, 0) << "the rungs of one trial take more than a training";
  EXPECT_EQ(make_plan(job).total_resource, 2 + 3);
  JobSpec one_rung = job_of(spec_of(1, 1, 3, SchedulerType::automatic), 100);
  one_rung.scheduler.promotion = Promotion::prediction;
  EXPECT_EQ(make_plan(one_rung).model_resource, 0);
}

TEST(Plans, TellWhatTheFirstFrontsOfSeveralObjectivesMayAdd) {
  JobSpec job = job_of(spec_of(27, 3, 3, SchedulerType::asha_delayed), 27);
  EXPECT_EQ(make_plan(job).front_resource, 0) << "of one objective there are none";
  job.more_objectives.emplace_back();
  EXPECT_EQ(make_plan(job).total_resource, 27 * 3 + 9 * 6 + 3 * 18);
  EXPECT_EQ(make_plan(job).front_resource, (18 - 9) * 6 + (12 - 3) * 18);
  job.limits.max_trials = 4;
  EXPECT_EQ(make_plan(job).front_resource, (2 - 1) * 6) << "at least 1 of eta stays";
  job.limits.max_trials = 1;
  EXPECT_EQ(make_plan(job).front_resource, 0);
  job.limits.max_trials = 27;
  job.scheduler.type = SchedulerType::asha_promotion;
  EXPECT_EQ(make_plan(job).front_resource, 0) << "it has no quota";
}

TEST(Plans, WithoutStoppingRunEveryTrialToTheTop) {
  const Plan plan = make_plan(job_of(spec_of(27, 1, 3, SchedulerType::none), 12));
  EXPECT_EQ(trials_text(plan.brackets), "12");
  EXPECT_TRUE(plan.exact);
  EXPECT_EQ(plan.total_resource, 12 * 27);
  EXPECT_EQ(plan.total_resource_without_stopping, 12 * 27);
}

TEST(Plans, ListABoundedNumberOfBracketsAndCountThemAll) {
  const Plan plan = make_plan(job_of(spec_of(2, 1, 2), 100'000));
  EXPECT_EQ(plan.brackets.size(), kPlannedBracketsMax);
  // one pass: 2 trials from resource 1 (1 goes on) and 2 at resource 2
  EXPECT_EQ(static_cast<std::int64_t>(plan.brackets.size()) + plan.brackets_left_out, 50'000);
  EXPECT_EQ(plan.total_resource, 25'000 * (3 + 4));
  EXPECT_EQ(to_json(plan)["brackets_left_out"], plan.brackets_left_out);
}

TEST(PlanJson, HasThePublishedShape) {
  EXPECT_EQ(to_json(make_plan(job_of(spec_of(9, 1, 3), 10))), Json::parse(R"({
      "ladder": [1, 3, 9],
      "brackets": [{"index": 0, "s": 2, "trimmed": false, "total_resource": 21,
                    "rungs": [{"resource": 1, "trials": 9}, {"resource": 3, "trials": 3}, {"resource": 9, "trials": 1}]},
                   {"index": 1, "s": 1, "trimmed": true, "total_resource": 9,
                    "rungs": [{"resource": 3, "trials": 1}, {"resource": 9, "trials": 1}]}],
      "brackets_left_out": 0, "trials": 10, "total_resource": 30, "model_resource": 0, "front_resource": 0,
      "audit_resource": 0, "total_resource_without_stopping": 90, "restarts": false, "learning_rate": null, "early_work": 1,
      "exact": true})"));
}

}  // namespace
}  // namespace tuneband

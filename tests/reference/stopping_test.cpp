// Who goes on by the median rule, and how far trials go by PASHA, on random results.
#include <gtest/gtest.h>

#include <algorithm>

#include "scheduler/policies/median_rule.hpp"
#include "scheduler/policies/pasha_cap.hpp"
#include "search_spaces/draws.hpp"
#include "tests/reference/reference.hpp"

namespace tuneband::test {
namespace {

Rungs rungs_of(SchedulerType type, Goal goal) {
  SchedulerSpec spec;
  spec.type = type;
  spec.max_resource = 81;
  return {spec, goal, std::nullopt};
}

// Trials have ranks that noise of this size changes, in units of a rank; each goes on at random, no further than to `top()`.
template <class Top, class Learn>
void random_results(std::int64_t seed, double noise, int trials, const Top& top, const Learn& learn) {
  Draws draws(6, 1, seed);
  std::vector<int> next(static_cast<std::size_t>(trials));
  for (int i = 0; i < 3 * trials; ++i) {
    const auto trial = draws.below(next.size());
    if (next[trial] > top()) continue;
    learn(next[trial]++, static_cast<int>(trial), std::floor(2 * (static_cast<double>(trial) + noise * draws.normal())) / 2);
  }
}

TEST(PashaCapReference, RisesWhenTwoRungsDisagreeBeyondTheNoiseOfPairsThatCrissCross) {
  constexpr int kRungs = 5;
  Json questions = Json::array();
  std::vector<std::vector<int>> found;
  for (const double noise : {0.2, 1.0, 3.0, 30.0}) {
    for (const int trials : {3, 12, 40, 130}) {
      PashaCap cap(kRungs);
      Json results = Json::array();
      found.emplace_back();
      random_results(
          trials, noise, trials, [&] { return std::min(cap.index(), kRungs - 1); },
          [&](int rung, int trial, double cost) {
            cap.learned(rung, {Standing::finite, 0, cost, trial});
            found.back().push_back(cap.index());
            results.push_back({rung, trial, cost});
          });
      questions.push_back({{"what", "pasha_caps"}, {"rungs", kRungs}, {"results", results}});
    }
  }
  const Json expected = reference(questions);
  std::set<int> last;
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i], expected[i].get<std::vector<int>>()) << "case " << i;
    last.insert(found[i].back());
  }
  EXPECT_EQ(last, (std::set{1, 2, 3, 4}));
}

TEST(MedianRuleReference, ComparesTheBestOfATrialWithTheMedianOfTheOthersAverages) {
  int stopped = 0;
  for (const Goal goal : {Goal::minimize, Goal::maximize}) {
    const Rungs rungs = rungs_of(SchedulerType::median_stopping, goal);
    MedianRule rule(rungs, goal);
    Json results = Json::array();
    std::vector<StoppingRule::Judgement> found;
    random_results(
        5, 4, 30, [&] { return rungs.top() - 1; },
        [&](int rung, int trial, double cost) {
          const double value = goal == Goal::maximize ? -cost : cost;
          const Standing standing = standing_of({.trial = trial, .value = value}, goal);
          rule.learned(rung, standing);
          found.push_back(rule.judge(rungs, rung, standing));
          results.push_back({rung, trial, cost});
        });
    const Json expected = reference({{"what", "median_rule"}, {"results", results}});
    for (std::size_t i = 0; i < found.size(); ++i) {
      const bool compared = !expected[i].is_null();
      ASSERT_EQ(found[i].cutoff.has_value(), compared) << i;
      EXPECT_EQ(found[i].goes_on, !compared || expected[i][1].get<bool>()) << i;
      stopped += found[i].goes_on ? 0 : 1;
      if (!compared) continue;
      const auto median = expected[i][0].get<double>();
      EXPECT_NEAR(*found[i].cutoff, goal == Goal::maximize ? -median : median, 1e-9) << i;
    }
  }
  EXPECT_GT(stopped, 10);
}

}  // namespace
}  // namespace tuneband::test

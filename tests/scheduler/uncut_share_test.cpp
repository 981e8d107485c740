// The trials of `auto` that no rung decides about.
#include "scheduler/policies/uncut_share.hpp"

#include <gtest/gtest.h>

#include "core/random.hpp"
#include "tests/scheduler/policy_driver.hpp"

namespace tuneband::test {

namespace {

SchedulerSpec spec_of_uncut(bool restarts = false) {
  SchedulerSpec spec;
  spec.type = SchedulerType::automatic;
  spec.max_resource = 27;
  spec.eta = 3;
  spec.rung_audit = true;
  spec.restarts = restarts;
  return spec;
}

Rungs rungs_of(bool restarts = false) { return {spec_of_uncut(restarts), Goal::minimize, std::nullopt}; }

Worth worth(double cost) { return {Standing::finite, 0, {cost}}; }

void fill(Rungs& rungs, int index, int results) {
  for (int i = 0; i < results; ++i) rungs.add(index, {.trial = rungs.at(index).filled(), .rung = index, .value = i});
}

}  // namespace

TEST(UncutShare, IsAPriorsUntilBothKindsHaveResultsAtMaxResource) {
  UncutShare uncut(rungs_of());
  EXPECT_DOUBLE_EQ(uncut.share(), 1 - UncutShare::kPriorWon);
  for (int i = 0; i < 5; ++i) uncut.learned(worth(i), 0);
  EXPECT_DOUBLE_EQ(uncut.share(), 1 - UncutShare::kPriorWon);
}

TEST(UncutShare, CountsThePairsThatWhatTheRungsLetThroughHasWon) {
  UncutShare uncut(rungs_of());
  uncut.learned(worth(1), 0);
  uncut.learned(worth(5), 0);
  uncut.learned(worth(3), uncut.bracket());  // behind the first, ahead of the second
  EXPECT_DOUBLE_EQ(uncut.share(), 1 - (1 + 0.85 * 4) / (2 + 4));
  uncut.learned(worth(4), 0);  // behind it too
  EXPECT_DOUBLE_EQ(uncut.share(), 1 - (1 + 0.85 * 4) / (3 + 4));
  uncut.learned({Standing::failed}, uncut.bracket());  // one that failed has lost
  EXPECT_DOUBLE_EQ(uncut.share(), 1 - (4 + 0.85 * 4) / (6 + 4));
}

TEST(UncutShare, TakesATieForHalfAWonPairWhicheverCameFirst) {
  for (const bool uncut_first : {false, true}) {
    UncutShare uncut(rungs_of());
    uncut.learned(worth(3), uncut_first ? uncut.bracket() : 0);
    uncut.learned(worth(3), uncut_first ? 0 : uncut.bracket());
    EXPECT_DOUBLE_EQ(uncut.share(), 1 - (0.5 + 0.85 * 4) / (1 + 4));
  }
}

TEST(UncutShare, OfSeveralObjectivesAPairOfWhichNeitherIsBetterIsNone) {
  UncutShare uncut(rungs_of());
  uncut.learned({Standing::finite, 0, {1, 3}}, 0);
  uncut.learned({Standing::finite, 0, {2, 2}}, uncut.bracket());
  EXPECT_DOUBLE_EQ(uncut.share(), 1 - UncutShare::kPriorWon);
  uncut.learned({Standing::finite, 0, {2, 1}}, 0);
  EXPECT_DOUBLE_EQ(uncut.share(), 1 - (1 + 0.85 * 4) / (1 + 4));
}

TEST(UncutShare, StaysWithinItsBounds) {
  UncutShare good(rungs_of());
  UncutShare bad(rungs_of());
  for (int i = 0; i < 50; ++i) {
    good.learned(worth(i), 0);
    good.learned(worth(100 + i), good.bracket());
    bad.learned(worth(100 + i), 0);
    bad.learned(worth(i), bad.bracket());
  }
  EXPECT_EQ(good.share(), UncutShare::kShareMin);
  EXPECT_EQ(bad.share(), UncutShare::kShareMax);
}

TEST(UncutShare, IsDueOnceTheOthersHaveSpentWhatItsShareAsksFor) {
  // The first half a training, at a share of 0.15, is due after 13.5 * 0.85 / 0.15 = 76.5 units of the others.
  for (const bool restarts : {false, true}) {
    Rungs rungs = rungs_of(restarts);
    UncutShare uncut(rungs);
    fill(rungs, 0, 66);  // 66 units
    fill(rungs, 1, 5);   // from 1 to 3: 10 more; from nothing: 15
    EXPECT_EQ(uncut.due(rungs), restarts);
    fill(rungs, 1, 1);
    EXPECT_TRUE(uncut.due(rungs));
    EXPECT_TRUE(uncut.at_random());
    uncut.started(uncut.bracket());
    EXPECT_FALSE(uncut.due(rungs));  // one and a half trainings
    EXPECT_FALSE(uncut.at_random());
    uncut.given_back(uncut.bracket());
    EXPECT_TRUE(uncut.due(rungs));
    uncut.started(0);
    EXPECT_TRUE(uncut.due(rungs));
  }
}

TEST(UncutShare, IsDueOnceTheOthersHaveSpentJustThat) {
  SchedulerSpec spec = spec_of_uncut();
  spec.max_resource = 2;
  spec.eta = 2;
  Rungs rungs(spec, Goal::minimize, std::nullopt);
  UncutShare uncut(rungs);
  fill(rungs, 1, 11);  // of which one is its own: 10 units of the others
  for (int i = 0; i < 10; ++i) uncut.learned(worth(1), 0);
  uncut.learned(worth(0), uncut.bracket());
  ASSERT_EQ(uncut.share(), 0.75);
  for (int i = 0; i < 16; ++i) uncut.started(uncut.bracket());
  EXPECT_FALSE(uncut.due(rungs));
  fill(rungs, 0, 1);  // three times 11 are 16 trainings of 2 and a half
  EXPECT_TRUE(uncut.due(rungs));
}

TEST(UncutShare, DoesNotCountItsOwnResultsAsSpentByTheOthers) {
  Rungs rungs = rungs_of();
  UncutShare uncut(rungs);
  fill(rungs, 3, 10);
  for (int i = 0; i < 10; ++i) uncut.learned(worth(i), uncut.bracket());
  EXPECT_FALSE(uncut.due(rungs));
  fill(rungs, 0, 77);
  EXPECT_TRUE(uncut.due(rungs));
}

TEST(UncutShare, ChangesNoMoreOnceEnoughOfEitherKindAreKnown) {
  UncutShare uncut(rungs_of());
  constexpr int kMost = static_cast<int>(UncutShare::kTrialsKnownMax);
  for (int i = 0; i < kMost; ++i) uncut.learned(worth(2.0 * i), 0);
  for (int i = 0; i < kMost - 1; ++i) uncut.learned(worth(2.0 * i + 1), uncut.bracket());
  const double share = uncut.share();
  uncut.learned(worth(-1), 0);
  EXPECT_EQ(uncut.share(), share);
  uncut.learned(worth(-1), uncut.bracket());
  EXPECT_GT(uncut.share(), share);
  const double last = uncut.share();
  uncut.learned(worth(-1), uncut.bracket());
  EXPECT_EQ(uncut.share(), last);
}

// Of a job whose rungs tell nothing (`misleads`) or everything: how many trials came to max_resource by bracket.
std::pair<std::size_t, std::size_t> at_the_top(bool misleads) {
  const Outcomes outcomes = [=](int trial, std::int64_t resource) -> std::optional<double> {
    const double worth = random_unit(1, {static_cast<std::uint64_t>(trial)});
    return misleads && resource < 27 ? -worth : worth;
  };
  PolicyDriver driver(spec_of_uncut(), Goal::minimize, 400, 4, outcomes);
  driver.finish_all();
  return {driver.completed().at({0, 3}).size(), driver.completed().at({3, 0}).size()};
}

TEST(UncutShare, IsSmallWhereRungsTellTheOrderAndMostOfTheJobWhereTheyMislead) {
  const auto [let_through, few] = at_the_top(false);
  const auto [misled, many] = at_the_top(true);
  EXPECT_GE(few, 3U);
  EXPECT_LT(few, let_through);
  EXPECT_GT(many, 4 * few);
}

}  // namespace tuneband::test

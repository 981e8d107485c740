// ASHA against a slow and plain reference: vectors that are sorted again for each question.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/random.hpp"
#include "scheduler/plan.hpp"
#include "scheduler/policies/rung.hpp"
#include "tests/scheduler/choices.hpp"
#include "tests/scheduler/policy_driver.hpp"

namespace tuneband::test {

namespace {

SchedulerSpec asha_spec(SchedulerType type, std::int64_t max_resource, int eta) {
  SchedulerSpec spec;
  spec.type = type;
  spec.max_resource = max_resource;
  spec.eta = eta;
  return spec;
}

struct Ranked {
  int tier = 0;  // 0 finite, 1 not finite, 2 failed
  double cost = 0;
  int trial = 0;
  auto operator<=>(const Ranked&) const = default;
};

class Reference {
 public:
  Reference(const SchedulerSpec& spec, int trials_max) : spec_(spec), trials_max_(trials_max), levels_(ladder(spec)) {
    rungs_.resize(levels_.size());
    promoted_.resize(levels_.size());
    reserve_.resize(levels_.size());
  }

  void arrive(const Segment& segment, std::optional<double> value) {
    --under_way_;
    auto& rung = rungs_[static_cast<std::size_t>(segment.rung)];
    const Ranked result{!value ? 2 : std::isfinite(*value) ? 0 : 1, value && std::isfinite(*value) ? -*value : 0, segment.trial};
    rung.push_back(result);
    std::sort(rung.begin(), rung.end());
    if (spec_.type != SchedulerType::asha_stopping || result.tier != 0 || segment.rung + 1 == top()) return;
    const auto rank = std::find(rung.begin(), rung.end(), result) - rung.begin() + 1;
    const auto count = static_cast<int>(rung.size());
    if (count < spec_.eta || rank <= count / spec_.eta) {
      going_on_.push_back({segment.trial, 0, segment.rung + 1, level(segment.rung + 1)});
    } else {
      auto& reserve = reserve_[static_cast<std::size_t>(segment.rung)];
      reserve.insert(result);
      if (reserve.size() > kReserve) reserve.erase(std::prev(reserve.end()));
    }
  }

  // What a free worker may take: nothing when there is nothing to do.
  std::optional<Segment> take(int next_trial) {
    auto segment = take_by_the_rule(next_trial);
    if (!segment && under_way_ == 0) segment = take_in_place_of_the_failed();
    if (segment) ++under_way_;
    return segment;
  }

 private:
  std::optional<Segment> take_in_place_of_the_failed() {
    const auto& last = rungs_.back();
    if (!last.empty() && last.front().tier == 0) return std::nullopt;
    for (int rung = top() - 2; rung >= 0; --rung) {
      const auto at = static_cast<std::size_t>(rung);
      if (spec_.type == SchedulerType::asha_stopping && !reserve_[at].empty()) {
        const int trial = reserve_[at].extract(reserve_[at].begin()).value().trial;
        return Segment{trial, 0, rung + 1, level(rung + 1)};
      }
      if (spec_.type == SchedulerType::asha_stopping) continue;
      for (const Ranked& one : rungs_[at]) {
        if (one.tier == 0 && promoted_[at].insert(one.trial).second) return Segment{one.trial, 0, rung + 1, level(rung + 1)};
      }
    }
    return std::nullopt;
  }

  std::optional<Segment> take_by_the_rule(int next_trial) {
    if (!going_on_.empty()) {
      const Segment next = going_on_.back();
      going_on_.pop_back();
      return next;
    }
    if (spec_.type == SchedulerType::asha_promotion) {
      for (int rung = top() - 2; rung >= 0; --rung) {
        const auto& results = rungs_[static_cast<std::size_t>(rung)];
        auto& promoted = promoted_[static_cast<std::size_t>(rung)];
        for (std::size_t i = 0; i < results.size() / static_cast<std::size_t>(spec_.eta); ++i) {
          if (results[i].tier == 0 && promoted.insert(results[i].trial).second)
            return Segment{results[i].trial, 0, rung + 1, level(rung + 1)};
        }
      }
    }
    if (next_trial >= trials_max_) return std::nullopt;
    return Segment{next_trial, 0, 0, level(0)};
  }

  int top() const { return static_cast<int>(levels_.size()); }
  std::int64_t level(int rung) const { return levels_[static_cast<std::size_t>(rung)]; }

  SchedulerSpec spec_;
  int trials_max_;
  std::vector<std::int64_t> levels_;
  std::vector<std::vector<Ranked>> rungs_;
  std::vector<std::set<int>> promoted_;
  std::vector<Segment> going_on_;
  std::vector<std::set<Ranked>> reserve_;  // by rung: of the stopping rule
  int under_way_ = 0;
};

// One run in the order that `pick` gives: each segment that the policy starts is the one that the reference starts.
template <class Pick>
void run_against_reference(const SchedulerSpec& spec, int trials, int workers, const Outcomes& outcomes, const Pick& pick) {
  PolicyDriver driver(spec, Goal::maximize, trials, workers, outcomes);
  Reference reference(spec, trials);
  std::size_t compared = 0;
  int next_trial = 0;
  const auto compare = [&](int free_workers) {
    for (int i = 0; i < free_workers; ++i) {
      const auto expected = reference.take(next_trial);
      if (!expected) break;
      if (expected->trial == next_trial) ++next_trial;
      ASSERT_LT(compared, driver.started().size()) << "a worker is idle though trial " << expected->trial << " could run";
      ASSERT_EQ(driver.started()[compared].trial, expected->trial);
      ASSERT_EQ(driver.started()[compared].rung, expected->rung);
      ++compared;
    }
    ASSERT_EQ(compared, driver.started().size());
  };
  compare(workers);
  while (!driver.running().empty() && !testing::Test::HasFatalFailure()) {
    const auto index = static_cast<std::size_t>(pick(static_cast<int>(driver.running().size())));
    const Segment segment = driver.running()[index];
    const int idle = workers - static_cast<int>(driver.running().size());
    reference.arrive(segment, outcomes(segment.trial, segment.until_resource));
    driver.finish(index);
    compare(idle + 1);
  }
  driver.close();
  EXPECT_EQ(driver.waiting(), 0);
}

TEST(AshaExhaustive, EveryOrderOfFiveTrialsOnThreeWorkersFollowsTheRules) {
  for (const SchedulerType type : {SchedulerType::asha_promotion, SchedulerType::asha_stopping}) {
    const Outcomes values = [](int trial, std::int64_t resource) -> std::optional<double> {
      return random_unit(5, {static_cast<std::uint64_t>(trial), static_cast<std::uint64_t>(resource)});
    };
    Choices choices;
    do {
      run_against_reference(asha_spec(type, 4, 2), 5, 3, values, [&](int options) { return choices.pick(options); });
      ASSERT_FALSE(HasFatalFailure()) << to_string(type) << ", order " << choices.text();
    } while (choices.next());
  }
}

TEST(AshaRandomOrder, EveryStepFollowsTheRulesWithTiesAndFaults) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    std::uint64_t count = 0;
    const auto draw = [&](int options) {
      return static_cast<int>(random_bits(seed, {++count}) % static_cast<std::uint64_t>(options));
    };
    const SchedulerType type = draw(2) == 0 ? SchedulerType::asha_promotion : SchedulerType::asha_stopping;
    const SchedulerSpec spec = asha_spec(type, std::int64_t{1} << draw(6), 2 + draw(3));
    const Outcomes outcomes = [seed](int trial, std::int64_t resource) -> std::optional<double> {
      const double chance = random_unit(seed, {7, static_cast<std::uint64_t>(trial), static_cast<std::uint64_t>(resource)});
      if (chance < 0.1) return std::nullopt;
      if (chance < 0.2) return std::numeric_limits<double>::quiet_NaN();
      return std::floor(chance * 12);
    };
    run_against_reference(spec, 1 + draw(80), 1 + draw(12), outcomes, draw);
    ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
  }
}

TEST(Asha, PromotionLeavesNoTrialWithoutAVerdictAtTheEnd) {
  const Outcomes values = [](int trial, std::int64_t) -> std::optional<double> { return trial; };
  PolicyDriver driver(asha_spec(SchedulerType::asha_promotion, 9, 3), Goal::maximize, 5, 2, values);
  driver.finish_all();
  EXPECT_GT(driver.waiting(), 0);
  driver.close();
  EXPECT_EQ(driver.waiting(), 0);
}

TEST(Asha, WithoutEarlyStoppingEveryTrialRunsToMaxResourceAtOnce) {
  const Outcomes values = [](int trial, std::int64_t) -> std::optional<double> { return -trial; };
  PolicyDriver driver(asha_spec(SchedulerType::none, 9, 3), Goal::maximize, 5, 2, values);
  driver.finish_all();
  EXPECT_EQ(driver.started().size(), 5U);
  for (const Segment& segment : driver.started()) EXPECT_EQ(segment.until_resource, 9);
  EXPECT_EQ(driver.completed().at({0, 0}).size(), 5U);
}

}  // namespace

}  // namespace tuneband::test

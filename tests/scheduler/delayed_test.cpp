// Delayed promotion, its audit of the first rungs, and asynchronous Hyperband, on hand-made results.
#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "core/random.hpp"
#include "scheduler/plan.hpp"
#include "scheduler/policies/rung_audit.hpp"
#include "tests/scheduler/policy_driver.hpp"

namespace tuneband::test {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

SchedulerSpec spec_of(SchedulerType type, std::int64_t max_resource, int eta = 3, bool audit = false) {
  SchedulerSpec spec;
  spec.type = type;
  spec.max_resource = max_resource;
  spec.eta = eta;
  spec.rung_audit = audit;
  return spec;
}

std::string started_of(const PolicyDriver& driver) {
  std::string text;
  for (const Segment& segment : driver.started()) {
    text += std::to_string(segment.trial) + "@" + std::to_string(segment.until_resource) + " ";
  }
  return text;
}

}  // namespace

TEST(DelayedPromotion, PromotesOneInEtaAndNotMoreWhenALaterTrialIsBetter) {
  // Falling values: each new trial is the best so far. ASHA promotes again and again, the quota lets one in three go.
  const Outcomes falling = [](int trial, std::int64_t) -> std::optional<double> { return -trial; };
  PolicyDriver asha(spec_of(SchedulerType::asha_promotion, 3), Goal::minimize, 9, 1, falling);
  PolicyDriver delayed(spec_of(SchedulerType::asha_delayed, 3), Goal::minimize, 9, 1, falling);
  asha.finish_all();
  delayed.finish_all();
  EXPECT_EQ(started_of(asha), "0@1 1@1 2@1 2@3 3@1 3@3 4@1 4@3 5@1 5@3 6@1 6@3 7@1 7@3 8@1 8@3 ");
  EXPECT_EQ(started_of(delayed), "0@1 1@1 2@1 2@3 3@1 4@1 5@1 5@3 6@1 7@1 8@1 8@3 ");
}

TEST(DelayedPromotion, SaysOfTheBestThatTheQuotaHeldBackThatItWasTheQuota) {
  const Outcomes falling = [](int trial, std::int64_t) -> std::optional<double> { return -trial; };
  PolicyDriver driver(spec_of(SchedulerType::asha_delayed, 3), Goal::minimize, 9, 1, falling);
  driver.finish_all();
  driver.close();
  const std::string held_back = "the job ended, and as many as may go on, 1 in 3, had done so";
  const std::string not_best = "the job ended and it was not among the best 1 in 3";
  const std::map<int, std::string> expected{{0, not_best}, {1, not_best},  {3, not_best},
                                            {4, not_best}, {6, held_back}, {7, held_back}};
  std::map<int, std::string> said;
  for (const Decision& decision : driver.decisions()) {
    if (decision.verdict == Verdict::stopped) said[decision.trial] = decision.rule;
  }
  EXPECT_EQ(said, expected);
}

TEST(DelayedPromotion, SaysOfTheBestWhoseJobEndedTooEarlyThatItDid) {
  const auto policy = make_policy(spec_of(SchedulerType::asha_delayed, 3), Goal::minimize, 9);
  std::vector<Decision> decisions;
  for (int i = 0; i < 3; ++i) policy->take(std::nullopt, decisions);
  for (int i = 0; i < 3; ++i) policy->arrive({i, 0, 0, static_cast<double>(i), 0}, decisions);
  ASSERT_TRUE(decisions.empty());
  policy->close(decisions, std::numeric_limits<std::size_t>::max());
  std::map<int, std::string> said;
  for (const Decision& decision : decisions) said[decision.trial] = decision.rule;
  EXPECT_EQ(said.at(0), "the job ended before it could go on");
  EXPECT_EQ(said.at(1), "the job ended and it was not among the best 1 in 3");
}

TEST(DelayedPromotion, BreaksTiesByTheTrialsNumber) {
  const Outcomes equal = [](int, std::int64_t) -> std::optional<double> { return 0.5; };
  PolicyDriver driver(spec_of(SchedulerType::asha_delayed, 9), Goal::minimize, 9, 1, equal);
  driver.finish_all();
  EXPECT_EQ(driver.promoted().at({0, 0}), (std::set<int>{0, 1, 2}));
  EXPECT_EQ(driver.promoted().at({0, 1}), (std::set<int>{0}));
}

TEST(DelayedPromotion, NeverPromotesWhatIsNotFiniteOrFailedButCountsIt) {
  const Outcomes bad = [](int trial, std::int64_t) -> std::optional<double> {
    if (trial == 0) return kNan;
    if (trial == 1) return std::nullopt;
    return trial;
  };
  PolicyDriver driver(spec_of(SchedulerType::asha_delayed, 3), Goal::minimize, 3, 1, bad);
  driver.finish_all();
  EXPECT_EQ(driver.promoted().at({0, 0}), (std::set<int>{2}));
  EXPECT_EQ(driver.stopped().at({0, 0}), (std::set<int>{0, 1}));
  EXPECT_EQ(driver.decisions()[0].rule, "its value is not a finite number: such a trial never goes on");
  EXPECT_EQ(driver.decisions()[1].rule, "it failed before it reached this rung");
}

TEST(DelayedPromotion, TrainsTheBestToTheEndWhenAllOthersAreDone) {
  PolicyDriver driver(spec_of(SchedulerType::asha_delayed, 9), Goal::minimize, 5, 2, kByNumber);
  driver.finish_all();
  EXPECT_EQ(driver.completed().at({0, 2}), (std::set<int>{0}));
  EXPECT_EQ(driver.decisions().back().verdict, Verdict::completed);
  EXPECT_EQ(driver.decisions()[driver.decisions().size() - 2].rule,
            "all other trials are done: the best one goes on, so that one reaches max_resource");
  driver.close();
  EXPECT_EQ(driver.waiting(), 0);
}

TEST(DelayedPromotion, AStragglerDelaysNothingAndCountsWhenItComes) {
  PolicyDriver driver(spec_of(SchedulerType::asha_delayed, 3), Goal::minimize, 6, 2, kByNumber);
  while (driver.running().size() > 1) driver.finish(1);  // trial 0 is slow: it is the last to come
  ASSERT_EQ(driver.running().front().trial, 0);
  EXPECT_EQ(driver.promoted().at({0, 0}), (std::set<int>{1}));
  driver.finish_all();
  EXPECT_EQ(driver.promoted().at({0, 0}), (std::set<int>{0, 1}));
}

TEST(DelayedPromotion, WithMoreWorkersThanTrialsTheOthersFindNoWork) {
  PolicyDriver driver(spec_of(SchedulerType::asha_delayed, 9), Goal::minimize, 4, 50, kByNumber);
  EXPECT_EQ(driver.running().size(), 4U);
  driver.finish_all();
  driver.close();
  EXPECT_EQ(driver.waiting(), 0);
  EXPECT_FALSE(driver.has_work());
}

TEST(DelayedPromotion, SaysThatATrialWhichWaitedIsStopped) {
  const auto policy = make_policy(spec_of(SchedulerType::asha_delayed, 9), Goal::minimize, 9);
  std::vector<Decision> decisions;
  policy->take(std::nullopt, decisions);
  const Arrival arrival{.trial = 0, .value = 1};
  policy->arrive(arrival, decisions);
  ASSERT_TRUE(decisions.empty());
  policy->withdraw(arrival, decisions);
  ASSERT_EQ(decisions.size(), 1U);
  EXPECT_EQ(decisions[0].trial, 0);
  EXPECT_EQ(decisions[0].verdict, Verdict::stopped);
  EXPECT_TRUE(decisions[0].rule.starts_with("stopped by the user")) << decisions[0].rule;
}

TEST(RungAudit, StartsHigherWhenTheFirstRungOrdersTrialsBackwards) {
  const Outcomes misleading = [](int trial, std::int64_t resource) -> std::optional<double> {
    return resource == 1 ? -trial : trial;
  };
  PolicyDriver driver(spec_of(SchedulerType::automatic, 27, 3, true), Goal::minimize, 60, 1, misleading);
  for (int i = 0; i < 40; ++i) driver.finish(0);
  for (const Segment& segment : driver.started()) {
    if (segment.trial < kAuditTrials) continue;
    EXPECT_NE(segment.until_resource, 1) << "trial " << segment.trial;
  }
  EXPECT_EQ(driver.promoted().at({0, 0}).size(), static_cast<std::size_t>(kAuditTrials));
  EXPECT_NE(driver.decisions().front().rule.find("one of the first 9 trials"), std::string::npos);
}

TEST(RungAudit, DoesNotWaitForATrialThatTheUserStopsWhereItWaits) {
  // All audited trials come to 3 and put themselves in another order there; then one that waits at 3 is stopped.
  SchedulerSpec spec = spec_of(SchedulerType::automatic, 81, 3, true);
  const auto start_after = [&](bool stops) {
    const auto policy = make_policy(spec, Goal::minimize, 200);
    std::vector<Decision> decisions;
    const auto come = [&](int trial, int rung) {
      policy->arrive({.trial = trial, .rung = rung, .value = (rung % 2 == 0 ? -1 : 1) * trial}, decisions);
    };
    for (int trial = 0; trial < kAuditTrials; ++trial) policy->take(std::nullopt, decisions);
    for (int trial = 0; trial < kAuditTrials; ++trial) come(trial, 0);
    for (int trial = 0; trial < kAuditTrials; ++trial) policy->take_promoted(trial);
    for (int trial = 0; trial < kAuditTrials - 1; ++trial) come(trial, 1);
    if (stops) policy->withdraw({.trial = 3, .rung = 1, .value = 3.0}, decisions);
    come(kAuditTrials - 1, 1);
    for (int trial = 0; trial < kAuditTrials; ++trial) {
      if (stops && trial == 3) continue;
      policy->take_promoted(trial);
      come(trial, 2);
    }
    for (;;) {
      const Work next = *policy->take(std::nullopt, decisions);
      if (!next.trial) return next.until_resource;
    }
  };
  EXPECT_EQ(start_after(false), 9);
  EXPECT_EQ(start_after(true), 9);
}

TEST(RungAudit, KeepsTheFirstRungWhenItOrdersTrialsAsTheNextOne) {
  PolicyDriver driver(spec_of(SchedulerType::automatic, 27, 3, true), Goal::minimize, 60, 1, kByNumber);
  for (int i = 0; i < 60; ++i) driver.finish(0);
  for (const Segment& segment : driver.started()) {
    if (segment.trial >= kAuditTrials && segment.bracket == 0 && segment.rung == 0) {
      EXPECT_EQ(segment.until_resource, 1);
    }
  }
  // The audited trials count at no quota of the first rung: of the others one in three goes on.
  const auto& promoted = driver.promoted().at({0, 0});
  const auto later = static_cast<int>(promoted.size()) - kAuditTrials;
  int others = 0;
  for (const Segment& segment : driver.started()) others += segment.rung == 0 && segment.trial >= kAuditTrials ? 1 : 0;
  EXPECT_LE(later, others / 3);
}

// The first of the others is the best, and then each new one, so that nothing but the quota holds promotions back.
TEST(RungAudit, OfTheOtherTrialsOneInEtaGoesOn) {
  const Outcomes falling = [](int trial, std::int64_t) -> std::optional<double> { return trial == kAuditTrials ? -99 : -trial; };
  PolicyDriver driver(spec_of(SchedulerType::asha_delayed, 27, 3, true), Goal::minimize, 60, 1, falling);
  for (int i = 0; i < 70; ++i) driver.finish(0);
  int others = 0;
  for (const Segment& segment : driver.started()) others += segment.rung == 0 && segment.trial >= kAuditTrials ? 1 : 0;
  const int under_way = driver.running().front().rung == 0 ? 1 : 0;
  EXPECT_EQ(static_cast<int>(driver.promoted().at({0, 0}).size()) - kAuditTrials, (others - under_way) / 3);
  EXPECT_GT(others, 30);
}

TEST(RungAudit, GoesOnWithTheNextRungWhenThatOneIsNoBetter) {
  const Outcomes noise = [](int trial, std::int64_t resource) -> std::optional<double> {
    const auto sign = resource == 1 || resource == 9 ? -1 : 1;
    return resource >= 27 ? trial : sign * trial;
  };
  PolicyDriver driver(spec_of(SchedulerType::automatic, 243, 3, true), Goal::minimize, 80, 1, noise);
  for (int i = 0; i < 60; ++i) driver.finish(0);
  for (const Segment& segment : driver.started()) {
    if (segment.trial >= kAuditTrials) {
      EXPECT_GE(segment.until_resource, 27) << "trial " << segment.trial;
    }
  }
}

// Values that fall from trial to trial, so that the quota alone says who goes on: of the others at a rung exactly one in three.
TEST(RungAudit, ItsTrialsCountAtNoRungThatTheyPassed) {
  const Outcomes falling = [](int trial, std::int64_t) -> std::optional<double> { return -trial; };
  const Outcomes first_rung_misleads = [](int trial, std::int64_t resource) -> std::optional<double> {
    return resource == 1 ? trial : -trial;
  };
  for (const bool misleads : {false, true}) {
    PolicyDriver driver(spec_of(SchedulerType::asha_delayed, 243, 3, true), Goal::minimize, kAuditTrials + 54, 1,
                        misleads ? first_rung_misleads : falling);
    driver.finish_all();
    std::map<int, int> others;  // by rung
    std::map<int, int> all;
    for (const Segment& segment : driver.started()) {
      ++all[segment.rung];
      others[segment.rung] += segment.trial >= kAuditTrials ? 1 : 0;
    }
    const int lowest = misleads ? 1 : 0;
    EXPECT_EQ(others[lowest], 54);
    EXPECT_EQ(others[lowest + 1], 18);
    EXPECT_EQ(all[lowest + 1], 18 + kAuditTrials);
    EXPECT_EQ(all[lowest + 2], 9) << "they count at the rung where their audit ended";
  }
}

// The first rung has the order 0 1 2..., the next one the order of `above`: how many new trials start at the first rung.
int starts_at_the_first_rung(const std::vector<int>& above) {
  const Outcomes outcomes = [&](int trial, std::int64_t resource) -> std::optional<double> {
    if (trial >= kAuditTrials || resource == 1) return trial;
    return above[static_cast<std::size_t>(trial)] < 0 ? std::nullopt
                                                      : std::optional<double>(above[static_cast<std::size_t>(trial)]);
  };
  PolicyDriver driver(spec_of(SchedulerType::automatic, 27, 3, true), Goal::minimize, 60, 1, outcomes);
  for (int i = 0; i < 40; ++i) driver.finish(0);
  int starts = 0;
  for (const Segment& segment : driver.started()) starts += segment.trial >= kAuditTrials && segment.until_resource == 1 ? 1 : 0;
  return starts;
}

// Of 36 pairs 9 that change places are few enough, 10 are not: 27 / 36 and 26 / 36 lie about 0.74. With fewer than 6 pairs
// nothing is said.
TEST(RungAudit, MovesUpWhenOfAllPairsTooManyChangePlaces) {
  EXPECT_GT(starts_at_the_first_rung({0, 4, 3, 2, 1, 7, 6, 5, 8}), 0);
  EXPECT_EQ(starts_at_the_first_rung({1, 0, 5, 4, 3, 2, 8, 7, 6}), 0);
  EXPECT_GT(starts_at_the_first_rung({8, 1, 2, 3, 4, 5, 6, 7, 9}), 0);
  EXPECT_EQ(starts_at_the_first_rung({8, 0, 1, 3, 2, 4, 6, 5, 7}), 0);
  EXPECT_EQ(starts_at_the_first_rung({-1, 9, -1, 8, -1, 7, -1, 6, -1}), 0);
  EXPECT_GT(starts_at_the_first_rung({-1, 9, -1, 8, -1, 7, -1, -1, -1}), 0);
}

TEST(RungAudit, WaitsForASlowTrialAndLooksAtTheFirstOnesAlone) {
  const std::vector<int> above{1, 0, 5, 4, 3, 2, 8, 7, 6};  // too many change places
  const Outcomes outcomes = [&](int trial, std::int64_t resource) -> std::optional<double> {
    if (trial >= kAuditTrials) return trial == kAuditTrials ? -100 : trial;  // the next one is the best, at every rung
    return resource == 1 ? trial : above[static_cast<std::size_t>(trial)];
  };
  PolicyDriver driver(spec_of(SchedulerType::asha_delayed, 27, 3, true), Goal::minimize, 90, 2, outcomes);
  for (int i = 0; i < 40; ++i) driver.finish(driver.running()[0].trial == 0 ? 1 : 0);
  const auto starts = [&](std::int64_t resource) {
    return std::count_if(driver.started().begin(), driver.started().end(), [&](const Segment& segment) {
      return segment.trial >= kAuditTrials && segment.rung == 0 && segment.until_resource == resource;
    });
  };
  const auto before = starts(1);
  EXPECT_GT(before, 10);
  EXPECT_TRUE(driver.promoted().at({0, 0}).contains(kAuditTrials));
  for (int i = 0; i < 2; ++i) {
    for (std::size_t at = 0; at < driver.running().size(); ++at) {
      if (driver.running()[at].trial == 0) driver.finish(at--);
    }
  }
  for (int i = 0; i < 20; ++i) driver.finish(0);
  EXPECT_LE(starts(1), before + 1);
}

TEST(RungAudit, CostsNoMoreThanAboutOneTrainingAndLeavesARungToStopAt) {
  EXPECT_TRUE(audit_affordable({1, 3, 9, 22}, 0));  // 9 * 3 = 27 of 22 * 5 / 4 = 27
  EXPECT_FALSE(audit_affordable({1, 3, 9, 21}, 0));
  EXPECT_TRUE(audit_affordable({1, 3, 9, 81}, 1));
  EXPECT_FALSE(audit_affordable({1, 3, 9, 27}, 1));
  EXPECT_FALSE(audit_affordable({1, 3, 9, 81}, 2));
  EXPECT_FALSE(audit_affordable({1, 81}, 0));
  EXPECT_FALSE(audit_affordable({81}, 0));
}

TEST(RungAudit, IsMadeFromThreeTimesItsTrialsOn) {
  for (const int trials : {kAuditJobTrialsMin - 1, kAuditJobTrialsMin}) {
    PolicyDriver driver(spec_of(SchedulerType::asha_delayed, 27, 3, true), Goal::minimize, trials, 1, kByNumber);
    driver.finish_all();
    const bool audited = std::any_of(driver.decisions().begin(), driver.decisions().end(),
                                     [](const Decision& one) { return one.rule == RungAudit::rule(); });
    EXPECT_EQ(audited, trials == kAuditJobTrialsMin) << trials;
  }
}

TEST(RungAudit, IsLeftOutWhereItWouldCostTooMuchOrTheJobIsSmall) {
  for (const auto& [max_resource, trials] : {std::pair{9, 60}, std::pair{27, 20}}) {
    PolicyDriver driver(spec_of(SchedulerType::automatic, max_resource, 3, true), Goal::minimize, trials, 1, kByNumber);
    driver.finish_all();
    for (const Decision& decision : driver.decisions()) {
      EXPECT_EQ(decision.rule.find("one of the first"), std::string::npos) << max_resource << ", " << trials;
    }
  }
}

TEST(RungAudit, IsDecidedByThoseThatHaveAValueWhenOthersFail) {
  const Outcomes failing = [](int trial, std::int64_t resource) -> std::optional<double> {
    if (trial % 3 == 0) return std::nullopt;
    if (trial == 4) return resource == 1 ? 1 : kNan;
    return resource == 1 ? -trial : trial;
  };
  PolicyDriver driver(spec_of(SchedulerType::automatic, 27, 3, true), Goal::minimize, 60, 4, failing);
  for (int i = 0; i < 60; ++i) driver.finish(0);
  for (const Segment& segment : driver.started()) {
    if (segment.trial > kAuditTrials + 4) {  // those before had begun when the audit was decided
      EXPECT_NE(segment.until_resource, 1) << "trial " << segment.trial;
    }
  }
}

// ---- asynchronous Hyperband ---------------------------------------------------------------------------------------------------

TEST(AsyncHyperband, StartsInEveryBracketAndCountsRungsWithinIt) {
  PolicyDriver driver(spec_of(SchedulerType::async_hyperband, 9), Goal::minimize, 40, 3, kByNumber);
  driver.finish_all();
  const auto levels = ladder(spec_of(SchedulerType::async_hyperband, 9));
  std::set<int> brackets;
  for (const Segment& segment : driver.started()) {
    brackets.insert(segment.bracket);
    EXPECT_EQ(segment.until_resource, levels[static_cast<std::size_t>(segment.bracket + segment.rung)]);
  }
  EXPECT_EQ(brackets, (std::set<int>{0, 1, 2}));
  driver.close();
  EXPECT_EQ(driver.waiting(), 0);
}

TEST(AsyncHyperband, LeavesTheLowestBracketWhenItsOrderSaysNothing) {
  const auto share_at_the_bottom = [](bool misleading) {
    const Outcomes outcomes = [misleading](int trial, std::int64_t resource) -> std::optional<double> {
      const double value = random_unit(9, {static_cast<std::uint64_t>(trial)});
      return misleading && resource == 1 ? random_unit(8, {static_cast<std::uint64_t>(trial)}) : value;
    };
    PolicyDriver driver(spec_of(SchedulerType::async_hyperband, 27), Goal::minimize, 300, 4, outcomes);
    driver.finish_all();
    int bottom = 0;
    for (const Segment& segment : driver.started()) bottom += segment.trial >= 100 && segment.bracket == 0 && segment.rung == 0;
    return bottom;
  };
  EXPECT_GT(share_at_the_bottom(false), 100);
  EXPECT_LT(share_at_the_bottom(true), 60);
}

}  // namespace tuneband::test

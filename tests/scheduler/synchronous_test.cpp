// Synchronous brackets give what the barrier rule gives, in whatever order segments end.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/random.hpp"
#include "scheduler/plan.hpp"
#include "tests/scheduler/choices.hpp"
#include "tests/scheduler/policy_driver.hpp"
#include "tests/text_files.hpp"

namespace tuneband::test {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

SchedulerSpec spec_of(SchedulerType type, std::int64_t max_resource, int eta) {
  SchedulerSpec spec;
  spec.type = type;
  spec.max_resource = max_resource;
  spec.eta = eta;
  return spec;
}

double shuffled_value(std::uint64_t seed, int trial, std::int64_t resource) {
  return random_unit(seed, {static_cast<std::uint64_t>(trial), static_cast<std::uint64_t>(resource)});
}

// At one (trial, resource) something else happens than its value.
struct Fault {
  int trial = -1;
  std::int64_t resource = 0;
  std::optional<double> value;
};

Outcomes with_fault(Outcomes outcomes, Fault fault) {
  return [=](int trial, std::int64_t resource) {
    return trial == fault.trial && resource == fault.resource ? fault.value : outcomes(trial, resource);
  };
}

void expect_barrier_result(const PolicyDriver& driver, const BarrierResult& barrier, const std::string& order) {
  ASSERT_EQ(text_of(driver.promoted()), text_of(barrier.promoted)) << "order " << order;
  ASSERT_EQ(text_of(driver.stopped()), text_of(barrier.stopped)) << "order " << order;
  ASSERT_EQ(text_of(driver.completed()), text_of(barrier.completed)) << "order " << order;
  ASSERT_EQ(driver.waiting(), 0) << "order " << order;
  ASSERT_FALSE(driver.has_work());
}

// Every order in which the segments can end.
int run_every_order(const SchedulerSpec& spec, Goal goal, int trials, int workers, const Outcomes& outcomes) {
  const BarrierResult barrier = barrier_rule(spec, goal, trials, outcomes);
  Choices choices;
  int runs = 0;
  do {
    PolicyDriver driver(spec, goal, trials, workers, outcomes);
    while (!driver.running().empty()) {
      driver.finish(static_cast<std::size_t>(choices.pick(static_cast<int>(driver.running().size()))));
    }
    expect_barrier_result(driver, barrier, choices.text());
    if (testing::Test::HasFatalFailure()) return runs;
    ++runs;
  } while (choices.next());
  return runs;
}

TEST(SynchronousExhaustive, EveryOrderOfABracketOf421GivesTheBarriersResultWithEachSingleFault) {
  const SchedulerSpec spec = spec_of(SchedulerType::successive_halving, 4, 2);
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const Outcomes plain = [seed](int trial, std::int64_t resource) -> std::optional<double> {
      return shuffled_value(seed, trial, resource);
    };
    for (int workers = 1; workers <= 5; ++workers) {
      for (int trial = -1; trial < 4; ++trial) {
        for (const std::int64_t resource : {1, 2, 4}) {
          for (const auto& value : {std::optional<double>(kNan), std::optional<double>(kInfinity), std::optional<double>()}) {
            run_every_order(spec, Goal::maximize, 4, workers, with_fault(plain, {trial, resource, value}));
            if (HasFatalFailure()) return;
          }
          if (trial < 0) break;
        }
      }
    }
  }
}

TEST(SynchronousExhaustive, EveryOrderOfARungOfSixGivesTheBarriersResult) {
  const SchedulerSpec spec = spec_of(SchedulerType::successive_halving, 9, 3);  // trimmed to six: 6, 2, 1
  for (const Goal goal : {Goal::maximize, Goal::minimize}) {
    const Outcomes values = [](int trial, std::int64_t resource) -> std::optional<double> {
      return shuffled_value(3, trial, resource);
    };
    EXPECT_GE(run_every_order(spec, goal, 6, 6, values), 720);
  }
}

TEST(SynchronousExhaustive, EqualValuesAreDecidedByTheTrialsNumberInEveryOrder) {
  const Outcomes equal = [](int trial, std::int64_t) -> std::optional<double> { return trial < 3 ? 0.5 : 0.7; };
  for (const Goal goal : {Goal::maximize, Goal::minimize}) {
    run_every_order(spec_of(SchedulerType::successive_halving, 4, 2), goal, 4, 4, equal);
  }
}

TEST(SynchronousExhaustive, ARungWhereEverythingFailsClosesTheBracketInEveryOrder) {
  for (const auto& value : {std::optional<double>(kNan), std::optional<double>()}) {
    const Outcomes hopeless = [&](int, std::int64_t) { return value; };
    run_every_order(spec_of(SchedulerType::successive_halving, 4, 2), Goal::maximize, 4, 3, hopeless);
  }
}

TEST(SynchronousRandomOrder, HyperbandGivesTheBarriersResultWithManyWorkersAndFaults) {
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::uint64_t count = 0;
    const auto draw = [&](int options) {
      return static_cast<int>(random_bits(seed, {++count}) % static_cast<std::uint64_t>(options));
    };
    const SchedulerSpec spec = spec_of(draw(4) == 0 ? SchedulerType::successive_halving : SchedulerType::hyperband,
                                       std::int64_t{1} << draw(5), 2 + draw(3));
    const int faults_percent = draw(3) * 20;
    const Outcomes outcomes = [&, seed](int trial, std::int64_t resource) -> std::optional<double> {
      const double chance = shuffled_value(seed + 1000, trial, resource) * 100;
      if (chance < faults_percent / 2.0) return std::nullopt;
      if (chance < faults_percent) return kNan;
      return std::floor(shuffled_value(seed, trial, resource) * 8);  // with ties
    };
    const int trials = 1 + draw(60);
    const BarrierResult barrier = barrier_rule(spec, Goal::minimize, trials, outcomes);
    PolicyDriver driver(spec, Goal::minimize, trials, 1 + draw(40), outcomes);
    while (!driver.running().empty()) driver.finish(static_cast<std::size_t>(draw(static_cast<int>(driver.running().size()))));
    expect_barrier_result(driver, barrier, "of the seed");
    if (HasFatalFailure()) return;
  }
}

// ---- by hand ------------------------------------------------------------------------------------------------------------------

Outcomes by_table(std::map<std::int64_t, std::vector<std::optional<double>>> table) {
  return [=](int trial, std::int64_t resource) { return table.at(resource).at(static_cast<std::size_t>(trial)); };
}

TEST(Synchronous, OneWorkerFinishesABracketBeforeItOpensTheNext) {
  const Outcomes values = [](int trial, std::int64_t) -> std::optional<double> { return trial; };
  PolicyDriver driver(spec_of(SchedulerType::hyperband, 4, 2), Goal::maximize, 10, 1, values);
  driver.finish_all();
  int bracket = 0;
  for (const Segment& segment : driver.started()) {
    EXPECT_GE(segment.bracket, bracket);
    bracket = segment.bracket;
  }
  EXPECT_EQ(bracket, 2);
}

TEST(Synchronous, WorkersTakeFromTheNextBracketWhileARungWaitsForAStraggler) {
  const Outcomes values = [](int trial, std::int64_t) -> std::optional<double> { return trial; };
  PolicyDriver driver(spec_of(SchedulerType::hyperband, 4, 2), Goal::maximize, 10, 2, values);
  // Trial 0 never ends; the other worker does all that does not depend on it.
  while (driver.running().size() > 1) driver.finish(driver.running().front().trial == 0 ? 1 : 0);
  ASSERT_EQ(driver.running().size(), 1U);
  EXPECT_EQ(driver.running().front().trial, 0);
  EXPECT_EQ(driver.completed().at({2, 0}), (std::set<int>{7, 8, 9}));
  EXPECT_EQ(driver.promoted().at({0, 0}), (std::set<int>{3}));  // certain without trial 0; trial 2 is not
  driver.finish(0);
  driver.finish_all();
  EXPECT_EQ(driver.promoted().at({0, 0}), (std::set<int>{2, 3}));
}

TEST(Synchronous, WithMoreWorkersThanSlotsEveryBracketOpensAtOnce) {
  const Outcomes values = [](int trial, std::int64_t) -> std::optional<double> { return trial; };
  PolicyDriver driver(spec_of(SchedulerType::hyperband, 4, 2), Goal::maximize, 10, 100, values);
  EXPECT_EQ(driver.running().size(), 10U);
}

TEST(Synchronous, APromotedTrialGoesOnBeforeANewOneStarts) {
  const Outcomes values = by_table({{1, {1, 4, 3, 2}}, {2, {1, 4, 3, 2}}, {4, {1, 4, 3, 2}}});
  PolicyDriver driver(spec_of(SchedulerType::successive_halving, 4, 2), Goal::maximize, 8, 1, values);
  for (int i = 0; i < 3; ++i) driver.finish(0);
  EXPECT_EQ(driver.running().front(), (Segment{1, 0, 1, 2}));  // certain, whatever trial 3 will be
  driver.finish(0);
  EXPECT_EQ(driver.running().front(), (Segment{3, 0, 0, 1}));
}

TEST(Synchronous, AWorkerGoesOnWithTheTrialItHasInMemory) {
  const Outcomes values = by_table({{1, {1, 2, 3, 4}}, {2, {1, 2, 3, 4}}, {4, {1, 2, 3, 4}}});
  PolicyDriver driver(spec_of(SchedulerType::successive_halving, 4, 2), Goal::maximize, 4, 1, values);
  for (int i = 0; i < 4; ++i) driver.finish(0);
  EXPECT_EQ(driver.running().front().trial, 3);
}

TEST(Synchronous, AVerdictSaysWhoWasAheadAndWhereTheCutWas) {
  const Outcomes values = by_table({{1, {0.9, 0.5, 0.7, 0.6}}, {2, {1, 1, 1, 1}}, {4, {1, 1, 1, 1}}});
  PolicyDriver driver(spec_of(SchedulerType::successive_halving, 4, 2), Goal::maximize, 4, 4, values);
  driver.finish_all();
  const auto of_trial_3 =
      std::find_if(driver.decisions().begin(), driver.decisions().end(), [](const Decision& r) { return r.trial == 3; });
  ASSERT_NE(of_trial_3, driver.decisions().end());
  EXPECT_EQ(of_trial_3->verdict, Verdict::stopped);
  EXPECT_EQ(of_trial_3->rank, 3);
  EXPECT_EQ(of_trial_3->filled, 4);
  EXPECT_EQ(of_trial_3->slots, 4);
  EXPECT_EQ(of_trial_3->keep, 2);
  EXPECT_EQ(of_trial_3->cutoff, 0.7);
  EXPECT_EQ(of_trial_3->ahead, (std::vector<int>{0, 2}));
}

// ---- a whole run, pinned ------------------------------------------------------------------------------------------------------

TEST(SynchronousGolden, HyperbandOf27And1And3PromotesTheTrialsOfTheGoldenFile) {
  const SchedulerSpec spec = spec_of(SchedulerType::hyperband, 27, 3);
  const int trials = trials_of_one_pass(spec);
  ASSERT_EQ(trials, 49);
  const Outcomes values = [](int trial, std::int64_t resource) -> std::optional<double> {
    return shuffled_value(27, trial, resource);
  };
  const std::string golden = read_text(TUNEBAND_SOURCE_DIR "/tests/scheduler/golden/hyperband_27_1_3.txt");
  EXPECT_EQ("promoted\n" + text_of(barrier_rule(spec, Goal::maximize, trials, values).promoted),
            golden.substr(0, golden.find("completed")));
  for (const int workers : {1, 4, 13, 49}) {
    PolicyDriver driver(spec, Goal::maximize, trials, workers, values);
    while (!driver.running().empty()) driver.finish(driver.running().size() / 2);
    EXPECT_EQ("promoted\n" + text_of(driver.promoted()) + "completed\n" + text_of(driver.completed()), golden)
        << "with " << workers << " workers";
  }
}

}  // namespace

}  // namespace tuneband::test

// Which of many trials are shown, and what the job had cost by the end of each.
#include "analytics/trial_choice.hpp"

#include <gmock/gmock.h>

#include "tests/db/db_fixture.hpp"

namespace tuneband::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class TrialChoiceTest : public DbTest {
 protected:
  void SetUp() override {
    store_.emplace(Store::open(path()));
    commit(*store_, {running_job(1, "a")});
  }

  // The next trial, which ends after those before it.
  TrialRow trial(std::optional<double> objective, std::int64_t resource = 3) {
    const int number = trials_++;
    TrialRow row = ended_trial(1, number, TrialState::stopped, objective, resource);
    row.ended_at = kStart.plus_ms(1000 + number);
    return row;
  }
  // With its result at the resource that it came to.
  void write(const TrialRow& row) {
    std::vector<Write> rows{row};
    if (row.objective) rows.emplace_back(result(row.id.number, row.objective_resource, *row.objective, *row.ended_at));
    if (row.objective) std::get<DecisionRow>(rows.back()).violation = row.violation;
    commit(*store_, rows);
  }
  DecisionRow result(int trial, std::int64_t resource, double value, Timestamp at) {
    DecisionRow row = decision(1, trial, resource > 1 ? 1 : 0, value, Verdict::stopped, results_++);
    row.resource = resource;
    row.at = at;
    return row;
  }
  std::vector<int> raised(Goal goal = Goal::maximize) {
    std::vector<int> trials;
    for (const RaisedBest& one : cost(goal).raised) trials.push_back(one.trial);
    return trials;
  }
  void write_trials(const std::vector<std::optional<double>>& objectives) {
    for (const std::optional<double>& objective : objectives) write(trial(objective));
  }

  std::vector<int> chosen(std::size_t trials_max, const std::vector<int>& also = {}, Goal goal = Goal::maximize) {
    Connection connection = Connection::open_to_read(path());
    return choose_trials(connection, kJob, goal, trials_max, also);
  }
  CostSoFar cost(Goal goal = Goal::maximize) {
    Connection connection = Connection::open_to_read(path());
    return cost_so_far(connection, kJob, {"validation-auc", goal, std::nullopt});
  }

  std::optional<Store> store_;

 private:
  int trials_ = 0;
  int results_ = 0;
};

TEST_F(TrialChoiceTest, AQuarterIsOfTheBestAndTheRestEvenlyOfTheOthers) {
  for (int number = 0; number < 40; ++number) write(trial(number % 8 == 5 ? 10.0 - number / 8 : 0.1));
  EXPECT_THAT(chosen(20), ElementsAre(0, 2, 4, 5, 8, 10, 12, 13, 16, 18, 20, 21, 24, 26, 28, 29, 32, 34, 36, 37));
  EXPECT_THAT(chosen(40), ::testing::SizeIs(40));
  EXPECT_THAT(chosen(100), ::testing::SizeIs(40));
}

TEST_F(TrialChoiceTest, ThereAreNeverMoreThanAreAskedForAndOneIsTheBest) {
  write_trials({0.1, 0.2, 0.9, 0.4, 0.5, 0.6});
  EXPECT_THAT(chosen(1), ElementsAre(2));
  EXPECT_THAT(chosen(1, {5, 4}), ElementsAre(2));
  EXPECT_THAT(chosen(2), ElementsAre(0, 2));
}

TEST_F(TrialChoiceTest, TheBestAreTheLowestWhereTheGoalIsToMinimizeAndHaveAFiniteValue) {
  write_trials({-kInfinity, kNan, 7.0, -3.0, std::nullopt, 8.0, kInfinity, 5.0});
  EXPECT_THAT(chosen(1, {}, Goal::minimize), ElementsAre(3));
  EXPECT_THAT(chosen(1, {}, Goal::maximize), ElementsAre(5));
}

TEST_F(TrialChoiceTest, ThoseThatAreNamedAreAmongThemAsFarAsThereIsRoom) {
  write_trials({0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8});
  EXPECT_THAT(chosen(4, {5}), ElementsAre(0, 3, 5, 7));
  EXPECT_THAT(chosen(4, {7, 6, 5, 4, 3}), ElementsAre(4, 5, 6, 7)) << "7 is the best as well";
}

TEST_F(TrialChoiceTest, WhatHadBeenSpentIsOfAllThatEndedBeforeAndThoseUnderWayComeLast) {
  TrialRow last = trial(0.1);
  last.ended_at = kStart.plus_ms(9000);
  write(last);
  TrialRow wide = trial(0.2, 9);
  wide.peers = {WorkerId{"w1"}, WorkerId{"w2"}};
  write(wide);
  write(trial(std::nullopt, 1));
  TrialRow under_way = running_trial(1, 3);
  under_way.resource = 27;
  under_way.training_ms = 1000;
  write(under_way);
  write(pending_trial(1, 4));
  const std::unordered_map<int, Spent> until = cost().until;
  const auto spent = [&](int number) { return std::pair(until.at(number).resource, until.at(number).worker_ms); };
  EXPECT_THAT(spent(1), Pair(9, 900)) << "by all of its workers";
  EXPECT_THAT(spent(2), Pair(9 + 1, 900 + 300));
  EXPECT_THAT(spent(0), Pair(9 + 1 + 3, 900 + 300 + 300));
  EXPECT_THAT(spent(3), Pair(9 + 1 + 3 + 27, 900 + 300 + 300 + 1000));
  EXPECT_FALSE(until.contains(4)) << "it was not started";
}

// Of rungs at 1 and 3 that begin anew: 0 comes to 1, then 1, then 0 to 3, and 1 waits until the job ends.
TEST_F(TrialChoiceTest, WhatHadBeenSpentIsOfAllSegmentsThatWereOverWhenAValueCame) {
  const auto segment = [&](int trial, int epoch, std::int64_t resource, std::int64_t from_ms, std::int64_t until_ms) {
    SegmentRow row;
    row.trial = {kJob, trial};
    row.epoch = Epoch{epoch};
    row.attempt = 1;
    row.worker = WorkerId{"w"};
    row.resource = row.until_resource = resource;
    row.began_at = kStart.plus_ms(from_ms);
    row.ended_at = kStart.plus_ms(until_ms);
    row.outcome = resource == 1 ? "reached_rung" : "completed";
    return row;
  };
  TrialRow first = trial(0.9, 3);
  first.training_ms = 3000;  // of 4000 that it was with a worker
  TrialRow second = trial(0.5, 1);
  second.ended_at = kStart.plus_ms(9000);
  second.training_ms = 500;
  const Timestamp later = kStart.plus_ms(9000);  // of the verdicts: values count from when they came
  commit(*store_, {first, second, segment(0, 1, 1, 0, 1000), segment(1, 2, 1, 1000, 2000), segment(0, 3, 3, 2000, 5000),
                   result(0, 1, 0.4, later), result(1, 1, 0.5, later), result(0, 3, 0.9, later)});
  const CostSoFar found = cost();
  EXPECT_EQ(found.until.at(1).resource, 1 + 1);
  EXPECT_EQ(found.until.at(1).worker_ms, 750 + 500);
  EXPECT_EQ(found.until.at(0).resource, 1 + 1 + 3);
  EXPECT_EQ(found.until.at(0).worker_ms, 3000 + 500);
  EXPECT_THAT(raised(), ElementsAre(0, 1, 0)) << "a trial raises it with each of its results";
  EXPECT_EQ(found.raised[0].at, kStart.plus_ms(1000));
  EXPECT_EQ(found.raised[0].spent.resource, 1);
  EXPECT_EQ(found.raised[1].spent.resource, 1 + 1);
  EXPECT_EQ(found.raised[2].spent.resource, 1 + 1 + 3);
  EXPECT_EQ(found.raised[2].spent.worker_ms, 3000 + 500);
  EXPECT_EQ(found.raised[2].value, 0.9);
  EXPECT_EQ(found.arrived.at(0), kStart.plus_ms(5000));
}

TEST_F(TrialChoiceTest, ATrialThatIsEndedOnItsWayAndCountsHasArrivedThen) {
  TrialRow ended = trial(0.9, 3);
  SegmentRow segment;
  segment.trial = {kJob, 0};
  segment.epoch = Epoch{1};
  segment.attempt = 1;
  segment.worker = WorkerId{"w"};
  segment.until_resource = 3;
  segment.resource = 2;
  segment.ended_at = kStart.plus_ms(700);
  segment.outcome = "cancelled";
  commit(*store_, {ended, segment, result(0, 3, 0.9, kStart.plus_ms(900))});
  EXPECT_EQ(cost().arrived.at(0), kStart.plus_ms(700));
}

TEST_F(TrialChoiceTest, RaisedAreThoseBetterThanAllBeforeOrThanThoseOfThemThatCameAsFar) {
  write(trial(0.5));      // the first of all
  write(trial(0.4));      // worse
  write(trial(0.45, 9));  // the first that came so far
  write(trial(0.7));      // better than all before
  write(trial(0.6, 9));   // than those that came so far
  write(trial(0.55, 9));  // better than the first of them alone
  write(trial(0.6, 9));   // as good
  write(trial(0.8, 9));   // better than all
  EXPECT_THAT(raised(), ElementsAre(0, 2, 3, 4, 7));
  EXPECT_THAT(raised(Goal::minimize), ElementsAre(0, 1, 2));
}

TEST_F(TrialChoiceTest, AResultAtTheSameLevelIsHeldAgainstThoseFurtherOnToo) {
  write(trial(0.5, 9));
  write(trial(0.6, 3));  // better than what came further
  write(trial(0.55, 3));
  write(trial(0.55, 9));  // better than what came so far, though not than one of 3
  write(trial(0.58, 3));
  EXPECT_THAT(raised(), ElementsAre(0, 1, 3));
}

TEST_F(TrialChoiceTest, WhatViolatesAConstraintOrIsNotFiniteRaisesNothing) {
  for (const std::optional<double> objective : {std::optional(kNan), std::optional(kInfinity), std::optional<double>()})
    write(trial(objective, 27));
  TrialRow infeasible = trial(0.9, 27);
  infeasible.violation = 0.5;
  write(infeasible);
  EXPECT_THAT(raised(), IsEmpty());
  EXPECT_EQ(cost().until.at(3).resource, 4 * 27) << "but was spent";
  write_trials({0.5, -0.5});
  write(trial(0.25, 9));
  EXPECT_THAT(raised(), ElementsAre(4, 6)) << "of those with a value one came to 9";
}

}  // namespace
}  // namespace tuneband::testing

// Which results of a job are its best ones.
#include "scheduler/bests.hpp"

#include <gtest/gtest.h>

namespace tuneband {
namespace {

class BestsTest : public testing::Test {
 protected:
  BestsTest() {
    spec_.objective.goal = Goal::maximize;
    spec_.scheduler.max_resource = 81;
    spec_.keeps_best = true;
  }

  bool take(int trial, std::int64_t resource, double value, double violation = 0, std::vector<double> more_values = {}) {
    DecisionRow result;
    result.trial = {JobId{1}, trial};
    result.resource = resource;
    result.value = value;
    result.violation = violation;
    result.more_values = std::move(more_values);
    decisions_.push_back(result);
    return Bests(spec_, decisions_, row_).take(decisions_.back());
  }

  JobSpec spec_;
  std::vector<DecisionRow> decisions_;
  JobRow row_;
};

TEST_F(BestsTest, WhatBreaksTheConstraintsLaterIsNoLongerTheBest) {
  EXPECT_TRUE(take(0, 9, 0.9));
  EXPECT_FALSE(take(1, 9, 0.8));
  EXPECT_FALSE(take(2, 9, 0.7, 1)) << "another's";
  EXPECT_EQ(row_.best, (BestRow{0, 9, 0.9}));
  EXPECT_FALSE(take(0, 27, 0.95, 1));
  EXPECT_EQ(row_.best, (BestRow{1, 9, 0.8}));
  EXPECT_EQ(row_.best_anywhere, (BestRow{1, 9, 0.8}));
  EXPECT_FALSE(take(1, 27, 0.85, 1));
  EXPECT_EQ(row_.best, std::nullopt);
  EXPECT_EQ(row_.best_anywhere, std::nullopt);
}

TEST_F(BestsTest, WhereRungsDoNotCompareTheOneAtTheTopStays) {
  spec_.keeps_best = false;
  take(0, 81, 0.6);
  take(1, 9, 0.9);
  EXPECT_EQ(row_.best, (BestRow{0, 81, 0.6}));
  EXPECT_EQ(row_.best_anywhere, (BestRow{1, 9, 0.9}));
  take(1, 27, 0.95, 1);
  EXPECT_EQ(row_.best, (BestRow{0, 81, 0.6}));
  EXPECT_EQ(row_.best_anywhere, (BestRow{0, 81, 0.6}));
}

TEST_F(BestsTest, WhereFullTrainingsAloneCountTheOneAtTheTopStays) {
  spec_.best_of_full = true;
  take(1, 9, 0.9);
  EXPECT_EQ(row_.best, std::nullopt);
  take(0, 81, 0.6);
  take(2, 27, 0.95);
  EXPECT_EQ(row_.best, (BestRow{0, 81, 0.6}));
  EXPECT_EQ(row_.best_anywhere, (BestRow{2, 27, 0.95}));
}

TEST_F(BestsTest, OfEqualValuesTheOtherObjectivesDecideAndThenTheLowerNumber) {
  spec_.more_objectives.emplace_back().goal = Goal::minimize;
  take(3, 81, 0.9, 0, {5});
  EXPECT_FALSE(take(4, 81, 0.9, 0, {6})) << "slower";
  EXPECT_EQ(row_.best->trial, 3);
  EXPECT_FALSE(take(5, 81, 0.9, 0, {4})) << "equal in what is told as better";
  EXPECT_EQ(row_.best->trial, 5);
  take(6, 81, 0.9, 0, {4});
  EXPECT_EQ(row_.best->trial, 5);
  take(2, 81, 0.9, 0, {4});
  EXPECT_EQ(row_.best->trial, 2);
  take(2, 27, 0.9, 0, {4});
  EXPECT_EQ(row_.best->resource, 81) << "the same once more";
}

}  // namespace
}  // namespace tuneband

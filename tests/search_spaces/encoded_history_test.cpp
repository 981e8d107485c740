// What samplers make of a job's history and of earlier jobs'.
#include "search_spaces/encoded_history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "search_spaces/surrogate.hpp"
#include "spaces.hpp"

namespace tuneband {
namespace {

using testing::ElementsAre;

constexpr double kDiverged = std::numeric_limits<double>::quiet_NaN();

class EarlierJob : public testing::Test {
 protected:
  void add_trial(double x, std::vector<Loss> by_level, bool failed = false) {
    const int trial = static_cast<int>(earlier_.trials().size());
    earlier_.add_trial({{"x", Value(x)}});
    for (std::size_t level = 0; level < by_level.size(); ++level) {
      earlier_.add_result(trial, earlier_.levels()[level], by_level[level]);
    }
    earlier_.end_trial(trial, failed);
  }
  void follow() {
    history_.add_priors(priors_of(earlier_));
    encoded_.follow(history_);
  }
  static std::vector<double> coordinates(const std::vector<RankedTrial>& ranked) {
    std::vector<double> xs;
    for (const RankedTrial& one : ranked) xs.push_back(one.point->front());
    return xs;
  }

  History earlier_{{1, 3, 9}};
  History history_{{1, 3, 9}};
  SearchSpace space_ = testing_spaces::space_of(R"({"x": {"type": "float", "min": 0, "max": 1}})");
  EncodedHistory encoded_{space_};
};

TEST_F(EarlierJob, ATrialRanksOnceByItsHighestLevel) {
  add_trial(0.25, {3, 2});
  add_trial(0.5, {1});
  add_trial(0.75, {2, 1, 1});
  follow();
  EXPECT_THAT(coordinates(encoded_.ranked(history_)), ElementsAre(0.75, 0.25, 0.5));
}

TEST_F(EarlierJob, WhatFailedDivergedOrBrokeAConstraintIsNeverAmongTheGood) {
  add_trial(0.125, {1, 1, kDiverged});
  add_trial(0.25, {1, 1}, true);
  add_trial(0.375, {1, 1, Loss{1, 0.5}});
  add_trial(0.5, {9});
  follow();
  const std::vector<RankedTrial> ranked = encoded_.ranked(history_);
  EXPECT_EQ(ranked.size(), 4u);
  EXPECT_EQ(finite_count(ranked), 1u);
  EXPECT_EQ(ranked.front().point->front(), 0.5);
  EXPECT_EQ(finite_count(encoded_.at_level(history_, 2)), 0u);
  EXPECT_EQ(finite_count(encoded_.at_level(history_, 0)), 4u);
}

TEST_F(EarlierJob, AConfigurationIsSearchedAroundOnceHoweverManyLevelsItReached) {
  add_trial(0.25, {1, 1, 1});
  add_trial(0.5, {2, 2, 2});
  follow();
  std::vector<double> xs;
  for (const Point* point : most_promising(encoded_.scored_points(history_), 5)) xs.push_back(point->front());
  EXPECT_THAT(xs, ElementsAre(0.25, 0.5));
}

}  // namespace
}  // namespace tuneband

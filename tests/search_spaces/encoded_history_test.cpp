// What samplers make of a job's history and of earlier jobs'.
#include "search_spaces/encoded_history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "core/text.hpp"
#include "search_spaces/draws.hpp"
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

TEST_F(EarlierJob, WhatATrialHadCountsAsThatOfTheConfigurationThatItGoesOnWith) {
  history_.add_trial({{"x", Value(0.25)}});
  history_.add_result(0, 1, 5.0);
  follow();
  history_.reconfigure(0, {{"x", Value(0.75)}});
  history_.add_trial({{"x", Value(0.5)}});
  history_.reconfigure(1, {{"x", Value(0.125)}});  // before it was looked at
  follow();
  EXPECT_THAT(encoded_.points(), ElementsAre(Point{0.75}, Point{0.125}));
  ASSERT_EQ(encoded_.scored_points(history_).size(), 1U);
  EXPECT_EQ(*encoded_.scored_points(history_).front().point, Point{0.75});
}

TEST(PriorsOf, AreTheBestResultsOfAnEarlierJobWithTheScoresAmongAllAndAtTheirLevel) {
  History earlier({1, 4});
  for (const double x : {0.25, 0.5, 0.75, 0.875}) earlier.add_trial({{"x", Value(x)}});
  earlier.add_result(0, 1, 3);
  earlier.add_result(1, 1, 2);
  earlier.add_result(1, 4, 1);
  earlier.end_trial(0, true);  // on the way to the higher level
  earlier.end_trial(2, true);  // at once
  const std::vector<PriorObservation> priors = priors_of(earlier);
  std::string text;
  for (const PriorObservation& one : priors) {
    text += to_string(one.configuration.at("x")) + "@" + format_number(one.resource_share) + (one.counts ? " " : "! ");
  }
  EXPECT_EQ(text, "0.5@1 0.5@0.25 0.25@0.25 0.25@1! 0.75@0.25! ");
  const auto quantile = [](double place, double of) { return normal_quantile((place - 0.5) / of); };
  const double worst = normal_quantile(0.8);  // two of five alike
  const std::vector<double> scores{quantile(1, 5), quantile(2, 5), quantile(3, 5), worst, worst};
  const std::vector<double> level_scores{quantile(1, 2), quantile(1, 3), quantile(2, 3), quantile(2, 2), quantile(3, 3)};
  for (std::size_t i = 0; i < priors.size(); ++i) {
    EXPECT_NEAR(priors[i].score, scores[i], 1e-12) << i;
    EXPECT_NEAR(priors[i].level_score, level_scores[i], 1e-12) << i;
  }
}

TEST(PriorsOf, AreNoMoreThanAThousandTheBestAndOfAJobWithoutLevelsWholeTrainings) {
  History earlier;
  for (int trial = 0; trial < 1'002; ++trial) {
    earlier.add_trial({{"x", Value(static_cast<double>(trial))}});
    earlier.add_result(trial, 1, 1'002 - trial);
  }
  const std::vector<PriorObservation> priors = priors_of(earlier);
  ASSERT_EQ(priors.size(), kPriorsMax);
  EXPECT_EQ(priors.front().configuration.at("x"), Value(1'001.0));
  EXPECT_EQ(priors.back().configuration.at("x"), Value(2.0));
  EXPECT_EQ(priors.front().resource_share, 1);
}

// ---- one level, and what is not of this job's ladder
// ---------------------------------------------------------------------------

const SearchSpace& unit_space() {
  static const SearchSpace space = testing_spaces::space_of(R"({"x": {"type": "float", "min": 0, "max": 1}})");
  return space;
}

PriorObservation prior_at(double x, double share, double level_score = 0, bool counts = true) {
  return {{{"x", Value(x)}}, share, level_score, level_score, counts};
}

// "0.25:-3@0 ...": x, age and level; with `scores` also those.
std::string text_of(const std::vector<RankedTrial>& ranked) {
  std::string text;
  for (const RankedTrial& one : ranked) {
    text += format_number(one.point->front()) + ":" + std::to_string(one.age) + "@" + format_number(one.level) + " ";
  }
  return text;
}

// By trial what each level gave: nothing below the first of them that is missing.
History history_of(std::vector<std::int64_t> levels, const std::vector<std::vector<Loss>>& trials, const std::set<int>& failed) {
  History history(std::move(levels));
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const auto trial = static_cast<int>(i);
    history.add_trial({{"x", Value(static_cast<double>(i) / 16)}});
    for (std::size_t level = 0; level < trials[i].size(); ++level)
      history.add_result(trial, history.levels()[level], trials[i][level]);
    if (failed.contains(trial)) history.end_trial(trial, true);
  }
  return history;
}

TEST(AtLevel, AreItsResultsByScoreThenAgeAndAtTheLowestThoseThatFailedWithoutAny) {
  // 0 and 3 are equal; 1 failed at once, 2 above the first level; 4 diverged above; 5 is under way.
  const History history = history_of({1, 3}, {{2, 5}, {}, {1}, {2, 4}, {3, kDiverged}, {}}, {1, 2});
  EncodedHistory encoded(unit_space());
  encoded.follow(history);
  EXPECT_EQ(text_of(encoded.at_level(history, 0)), "0:0@0 0.1875:3@0 0.125:2@-2 0.25:4@-2 0.0625:1@-2 ");
  EXPECT_EQ(text_of(encoded.at_level(history, 1)), "0.1875:3@1 0:0@1 0.25:4@-2 ");
  const auto scores = encoded.at_level(history, 1);
  EXPECT_NEAR(scores[0].score, normal_quantile(1.0 / 6), 1e-12);
  EXPECT_NEAR(scores[1].score, 0, 1e-12);
  EXPECT_NEAR(encoded.at_level(history, 0).back().score, normal_quantile(0.9), 1e-12) << "the worst of five";
}

TEST(Ranked, AreByTheLastLevelThenScoreThenAgeWithViolationsBehindAndFailuresLast) {
  const History history =
      history_of({1, 3}, {{2, 5}, {}, {1}, {2, 5}, {3, kDiverged}, {}, {1, Loss{0, 0.5}}, {1, Loss{9, 0.25}}, {7}}, {1, 2});
  EncodedHistory encoded(unit_space());
  encoded.follow(history);
  EXPECT_EQ(text_of(encoded.ranked(history)),
            "0:0@1 0.1875:3@1 0.5:8@0 0.4375:7@-1 0.375:6@-1 0.0625:1@-2 0.125:2@-2 0.25:4@-2 ");
  for (const RankedTrial& one : encoded.ranked(history)) {
    EXPECT_TRUE(one.level != kFailedLevel || one.score == 0);
  }
}

TEST(EarlierJobsShare, LiesOnTheLadderByItsLogarithm) {
  const auto levels_of = [](const std::vector<std::int64_t>& ladder) {
    History history(ladder);
    std::vector<PriorObservation> priors;
    for (const double share : {1.0, 1 / std::sqrt(3.0), 1.0 / 3, 0.1, 0.01, 0.001}) priors.push_back(prior_at(0.5, share));
    history.add_priors(priors);
    EncodedHistory encoded(unit_space());
    encoded.follow(history);
    std::vector<double> levels;
    for (const ScoredPoint& one : encoded.scored_points(history)) levels.push_back(std::round(one.level * 1e6) / 1e6);
    return levels;
  };
  EXPECT_THAT(levels_of({1, 3, 9}), ElementsAre(1, 0.75, 0.5, 0, 0, 0));
  EXPECT_THAT(levels_of({1, 9}), ElementsAre(1, 0.75, 0.5, 0, 0, 0));
  // Of a job of one level: a hundredth of a training is the lowest.
  EXPECT_THAT(levels_of({9}), ElementsAre(1, 0.88072, 0.761439, 0.5, 0, 0));
}

TEST(EarlierJobsTrials, StandByTheHighestLevelAndThereByTheBestScoreUnlessOneFailed) {
  History history({1, 3, 9});
  history.add_priors({prior_at(0.25, 1, 0.5), prior_at(0.25, 1, -0.5), prior_at(0.25, 1.0 / 9, -2),  // the second
                      prior_at(0.5, 1, -1), prior_at(0.5, 1.0 / 9, 0, false),                        // failed
                      prior_at(0.75, 1, 0)});
  EncodedHistory encoded(unit_space());
  encoded.follow(history);
  EXPECT_EQ(text_of(encoded.ranked(history)), "0.25:-5@1 0.75:-1@1 0.5:-2@-2 ");
  EXPECT_EQ(text_of(encoded.at_level(history, 0)), "0.25:-4@0 0.5:-2@-2 ");
  EXPECT_EQ(text_of(encoded.at_level(history, 2)), "0.5:-3@1 0.25:-5@1 0.75:-1@1 0.25:-6@1 ");
}

TEST(JobOfOneLevel, LearnsFromFullTrainingsOfEarlierJobsAndFromOthersOnlyWhereThereAreNone) {
  const std::vector<PriorObservation> parts{prior_at(0.25, 0.5), prior_at(0.5, 0.1)};
  std::vector<PriorObservation> with_full = parts;
  with_full.push_back(prior_at(0.75, std::pow(0.01, 0.05)));  // level 0.95
  const auto learned = [](const std::vector<PriorObservation>& priors) {
    History history({9});
    history.add_priors(priors);
    EncodedHistory encoded(unit_space());
    encoded.follow(history);
    return text_of(encoded.at_level(history, 0));
  };
  EXPECT_EQ(learned(parts), "0.25:-2@1 0.5:-1@1 ");
  EXPECT_EQ(learned(with_full), "0.75:-1@1 ");
}

TEST(ScoredPoints, HaveAFailedTrialAsTheWorstAtTheLevelThatItDidNotComeTo) {
  const History history = history_of({1, 3, 9}, {{2, 5}, {}, {1}, {2, 4, 3}}, {1, 2, 3});
  EncodedHistory encoded(unit_space());
  encoded.follow(history);
  std::string text;
  for (const ScoredPoint& one : encoded.scored_points(history)) {
    text += std::to_string(one.trial) + "@" + format_number(one.level) + (one.loss.finite() ? " " : "! ");
  }
  EXPECT_EQ(text, "0@0 0@0.5 1@0! 2@0 2@0.5! 3@0 3@0.5 3@1 3@1! ");
  EXPECT_EQ(encoded.first_scored_points(history, 3).size(), 3u);
}

}  // namespace
}  // namespace tuneband

#include "scheduler/early_end.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tuneband {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kMost = 64;  // two to a part
constexpr int kTrial = 20;          // that is judged

// Flat at `first` but for the last quarter, in whose middle it rises to `last`.
std::vector<double> values_of(double first, double last) {
  std::vector<double> values(kMost, first);
  for (std::size_t i = kMost - kMost / 8; i < values.size(); ++i) values[i] = last;
  return values;
}

std::vector<double> curve_of(const EarlyEnd& early, const std::vector<double>& values) {
  std::vector<double> curve;
  for (std::size_t i = 0; i < values.size(); ++i) early.note(curve, static_cast<std::int64_t>(i) + 1, values[i]);
  return curve;
}

std::vector<double> flat(const EarlyEnd& early, double value, std::int64_t until) {
  return curve_of(early, std::vector<double>(static_cast<std::size_t>(until), value));
}

// Of five trainings, the fourth of which gained the most late: 0.25.
EarlyEnd with_five(Goal goal = Goal::maximize) {
  const double sign = goal == Goal::maximize ? 1 : -1;
  EarlyEnd early(kMost, goal);
  for (int trial = 0; trial < 5; ++trial) {
    const double gain = trial == 3 ? 0.25 : 0.125;
    early.learn(trial, curve_of(early, values_of(sign * 0.5, sign * (0.5 + gain))));
  }
  return early;
}

constexpr double kForecast = 0.5 + EarlyEnd::kGainFactor * 0.25;  // of one that is flat at 0.5

TEST(EarlyEnd, WhatCannotComeUpToTheBestByAnyGainSeenIsEnded) {
  const EarlyEnd early = with_five();
  const auto word = early.judge(kTrial, flat(early, 0.5, 32), 32, kForecast + 1e-9);
  ASSERT_TRUE(word);
  EXPECT_EQ(*word, (EarlyEnd::Word{0.5, 0.25, 3, kForecast}));
}

TEST(EarlyEnd, WhatMayStillBeAsGoodAsTheBestGoesOn) {
  const EarlyEnd early = with_five();
  EXPECT_FALSE(early.judge(kTrial, flat(early, 0.5, 32), 32, kForecast));
  EXPECT_FALSE(early.judge(kTrial, flat(early, 0.5, 32), 32, kForecast - 1e-9));
}

TEST(EarlyEnd, LessIsBetterWhereTheMetricIsMinimized) {
  const EarlyEnd early = with_five(Goal::minimize);
  const auto word = early.judge(kTrial, flat(early, -0.5, 32), 32, -kForecast - 1e-9);
  ASSERT_TRUE(word);
  EXPECT_EQ(*word, (EarlyEnd::Word{-0.5, 0.25, 3, -kForecast}));
  EXPECT_FALSE(early.judge(kTrial, flat(early, -0.5, 32), 32, -kForecast));
}

TEST(EarlyEnd, NothingIsEndedBeforeFiveTrainingsHaveFinished) {
  EarlyEnd early(kMost, Goal::maximize);
  for (int trial = 0; trial < 4; ++trial) early.learn(trial, curve_of(early, values_of(0.5, 0.5)));
  EXPECT_FALSE(early.judge(kTrial, flat(early, 0.1, 32), 32, 0.5));
  early.learn(4, flat(early, 0.5, 60));                    // which has not come to its end
  early.learn(5, std::vector<double>(kCurveParts, kNan));  // or never had a value
  EXPECT_FALSE(early.judge(kTrial, flat(early, 0.1, 32), 32, 0.5));
  early.learn(6, curve_of(early, values_of(0.5, 0.5)));
  EXPECT_TRUE(early.judge(kTrial, flat(early, 0.1, 32), 32, 0.5));
}

TEST(EarlyEnd, NothingIsEndedInItsFirstPartsOrInItsLast) {
  const EarlyEnd early = with_five();
  const auto ends = [&](std::int64_t resource) {
    return early.judge(kTrial, flat(early, -9, resource), resource, 1).has_value();
  };
  const std::int64_t first = EarlyEnd::kPartsMin * kMost / static_cast<std::int64_t>(kCurveParts);
  const std::int64_t last = EarlyEnd::kPartsMax * kMost / static_cast<std::int64_t>(kCurveParts);
  EXPECT_FALSE(ends(first - 1));
  EXPECT_TRUE(ends(first));
  EXPECT_TRUE(ends(last));
  EXPECT_TRUE(ends(last + 1));  // of the part under way
  EXPECT_FALSE(ends(last + 2));
  EXPECT_FALSE(ends(kMost));
}

TEST(EarlyEnd, WhatStillImprovesGoesOnAsFarAsThatWouldLead) {
  const EarlyEnd early = with_five();
  std::vector<double> rising;
  for (int i = 1; i <= 32; ++i) rising.push_back(i / 64.0);
  EXPECT_FALSE(early.judge(kTrial, curve_of(early, rising), 32, 1));
  const auto word = early.judge(kTrial, curve_of(early, rising), 32, 1 + 1e-9);
  ASSERT_TRUE(word);
  EXPECT_EQ(word->best, 0.5);
  EXPECT_DOUBLE_EQ(word->forecast, 1);
}

TEST(EarlyEnd, OnlyTheLastQuarterOfItsWaySaysHowItGoesOn) {
  const EarlyEnd early = with_five();
  std::vector<double> values(24, 0.25);
  values.resize(32, 0.25 + 0.125);
  EXPECT_DOUBLE_EQ(early.judge(kTrial, curve_of(early, values), 32, 9)->forecast, 0.375 + 0.125 / 8 * 32);
  values.assign(23, 0.25);
  values.resize(32, 0.25 + 0.125);
  EXPECT_DOUBLE_EQ(early.judge(kTrial, curve_of(early, values), 32, 9)->forecast, 0.375 + EarlyEnd::kGainFactor * 0.25);
}

TEST(EarlyEnd, GainsAreCountedFromWhereTheTrainingIs) {
  const EarlyEnd early = with_five();
  EXPECT_EQ(early.judge(kTrial, flat(early, 0, 54), 54, 9)->gain, 0.25);  // they came after 56
  EXPECT_EQ(early.judge(kTrial, flat(early, 0, 57), 57, 9)->gain, 0.25);  // within a part: from its beginning
  EXPECT_EQ(early.judge(kTrial, flat(early, 0, 20), 20, 9)->gain_of, 3);
}

TEST(EarlyEnd, OfEqualGainsTheLowestTrialIsNamedWhateverTheOrder) {
  EarlyEnd early(kMost, Goal::maximize);
  for (const int trial : {7, 2, 9, 4, 3}) early.learn(trial, curve_of(early, values_of(0.5, 0.75)));
  EXPECT_EQ(early.judge(kTrial, flat(early, 0, 32), 32, 9)->gain_of, 2);
}

TEST(EarlyEnd, OneTrialInEightGoesOnHoweverBadItIs) {
  const EarlyEnd early = with_five();
  std::vector<int> spared;
  for (int trial = 0; trial < 24; ++trial) {
    if (!early.judge(trial, flat(early, 0, 32), 32, 9)) spared.push_back(trial);
  }
  EXPECT_EQ(spared, (std::vector<int>{7, 15, 23}));
}

TEST(EarlyEnd, ValuesThatAreNotFiniteAreNone) {
  const EarlyEnd early = with_five();
  std::vector<double> values(32, 0.25);
  values[10] = kNan;
  values[20] = kInfinity;
  values[31] = kNan;
  EXPECT_EQ(curve_of(early, values), flat(early, 0.25, 32));
  EXPECT_FALSE(early.judge(kTrial, curve_of(early, std::vector<double>(32, kNan)), 32, 9));
}

TEST(EarlyEnd, WhatHasNoValueYetWhereItsSlopeBeginsGoesOn) {
  const EarlyEnd early = with_five();
  std::vector<double> values(24, kNan);
  values.resize(32, 0.25);
  EXPECT_FALSE(early.judge(kTrial, curve_of(early, values), 32, 9));
  values[23] = 0.25;
  EXPECT_TRUE(early.judge(kTrial, curve_of(early, values), 32, 9));
}

TEST(EarlyEnd, TheCurveIsTheBestValueSoFarAtTheEndOfEachPart) {
  const EarlyEnd early(kMost, Goal::maximize);
  const std::vector<double> curve = curve_of(early, {0.1, 0.3, 0.2, 0.2, 0.4});
  EXPECT_EQ(curve, (std::vector<double>{0.3, 0.3, 0.4}));
  EXPECT_EQ(curve_of(EarlyEnd(kMost, Goal::minimize), {0.3, 0.1, 0.2, 0.2, 0.05}), (std::vector<double>{0.1, 0.1, 0.05}));
}

TEST(EarlyEnd, WhereLittleIsReportedTheBestHoldsOn) {
  const EarlyEnd early(kMost, Goal::maximize);
  std::vector<double> curve;
  early.note(curve, 2, 0.3);
  early.note(curve, 8, 0.2);
  EXPECT_EQ(curve, (std::vector<double>{0.3, 0.3, 0.3, 0.3}));
  early.note(curve, 4, 0.4);  // again, after a loss
  EXPECT_EQ(curve, (std::vector<double>{0.3, 0.4, 0.4, 0.4}));
  EXPECT_EQ(curve_of(EarlyEnd(3, Goal::maximize), {0.1, 0.2, 0.3}).size(), kCurveParts);
  EXPECT_EQ(curve_of(EarlyEnd(3, Goal::maximize), {0.1, 0.2}).size(), 22U);  // two thirds of 32 are 21 parts and some
}

// It is told again from its checkpoint on what it has told before.
TEST(EarlyEnd, OneThatIsTrainedAgainGoesOnUntilItIsWhereItWas) {
  const EarlyEnd early = with_five();
  EXPECT_FALSE(early.judge(kTrial, flat(early, 0, 40), 32, 9));
  EXPECT_TRUE(early.judge(kTrial, flat(early, 0, 40), 40, 9));
}

}  // namespace
}  // namespace tuneband

// How long trials take to begin, and their units, from how long their short and their long stretches took.
#include "analytics/pace.hpp"

#include <gtest/gtest.h>

namespace tuneband::testing {
namespace {

TrialTimes of(std::vector<Stretch> stretches, std::int64_t left = 0) { return {std::move(stretches), false, left, 0}; }

TrialTimes cold(TrialTimes trial) {
  trial.cold = true;
  return trial;
}

double ms_left(const std::vector<TrialTimes>& trials, double begin_ms) {
  return ms_of_units(trials, &TrialTimes::left, begin_ms, 1000);
}

TEST(PaceTest, WhatAStretchTakesToBeginIsWhatItWouldTakeWithoutAUnit) {
  EXPECT_EQ(ms_to_begin({of({{1, 110}, {2, 120}, {6, 160}})}), 100) << "100 to begin and 10 a unit";
  EXPECT_EQ(ms_to_begin({of({{6, 160}, {1, 110}})}), 100) << "in whichever order";
}

TEST(PaceTest, TrialsOfOneStretchOrOfTwoOfALengthDoNotSayWhatItTakesToBegin) {
  EXPECT_EQ(ms_to_begin({of({{1, 5000}}), of({{1, 110}, {3, 130}}), of({{2, 10}, {2, 9000}}), of({})}), 100);
  EXPECT_EQ(ms_to_begin({of({{1, 5000}}), of({{2, 10}, {2, 9000}})}), 0) << "unknown";
  EXPECT_EQ(ms_to_begin({}), 0);
}

TEST(PaceTest, TheMedianOfTheTrialsIsWhatItTakesToBegin) {
  const TrialTimes ten = of({{1, 11}, {3, 13}});
  const TrialTimes twenty = of({{1, 120}, {2, 220}});  // 100 a unit
  const TrialTimes far = of({{1, 5000}, {2, 5100}});
  EXPECT_EQ(ms_to_begin({far, ten, twenty}), 20);
  EXPECT_EQ(ms_to_begin({twenty, ten}), 15) << "of two the mean";
  EXPECT_EQ(ms_to_begin({far, twenty, ten, ten}), 15);
}

TEST(PaceTest, ToBeginNeverTakesLessThanNothing) {
  EXPECT_EQ(ms_to_begin({of({{1, 10}, {9, 900}})}), 0) << "its later units were slower";
}

TEST(PaceTest, ATrialThatAWorkerBeganWithSaysOnlyWhereThereIsNoOtherWhatItTakesToBegin) {
  const TrialTimes loads = cold(of({{1, 5000}, {2, 10}}));
  EXPECT_EQ(ms_to_begin({loads, of({{1, 30}, {2, 40}})}), 20);
  EXPECT_EQ(ms_to_begin({cold(of({{1, 30}, {2, 40}})), of({{2, 7}})}), 20);
}

TEST(PaceTest, AUnitOfATrialTakesWhatItTookItself) {
  const TrialTimes dear = of({{1, 120}}, 8);           // 100 a unit
  const TrialTimes cheap = of({{1, 30}, {2, 40}}, 6);  // 30 - 20 + 40 - 20 in 3
  EXPECT_EQ(ms_left({dear, cheap, of({{1, 9999}}, 0)}, 20), 8 * 100 + 6 * 10);
}

TEST(PaceTest, ATrialOfUnknownPaceOrThatAWorkerBeganWithIsAsTheOthersOnAverage) {
  const TrialTimes dear = of({{1, 120}}, 8);
  const TrialTimes cheap = of({{3, 50}}, 2);
  const double usual = (8 * 100 + 2 * 10) / 10.0;
  EXPECT_DOUBLE_EQ(ms_left({dear, cheap, of({}, 4)}, 20), 14 * usual);
  EXPECT_DOUBLE_EQ(ms_left({cold(of({{1, 9999}}, 4)), dear, cheap}, 20), 14 * usual);
  EXPECT_EQ(ms_left({cold(of({{1, 120}}, 4)), of({}, 1), of({{1, 7}}, 0)}, 20), 5 * 100) << "there is no other";
  EXPECT_EQ(ms_left({of({}, 4)}, 20), 4 * 1000) << "none is known";
}

TEST(PaceTest, AllThatIsLeftTakesNoLessThanNothing) {
  EXPECT_EQ(ms_left({of({{1, 10}}, 8)}, 20), 0);
  EXPECT_EQ(ms_left({of({{1, 10}}, 8), of({{1, 40}}, 8)}, 20), 80) << "one that began faster than most counts as it is";
  EXPECT_EQ(ms_left({}, 20), 0);
}

TEST(PaceTest, WhatWasTrainedInVainIsReckonedInTheSameWay) {
  TrialTimes trial = of({{1, 30}, {3, 50}}, 100);
  trial.in_vain = 1;
  EXPECT_EQ(ms_of_units({trial}, &TrialTimes::in_vain, 20, 1000), 10);
}

}  // namespace
}  // namespace tuneband::testing

// How long a unit takes, from how long the short and the long segments of trials took.
#include "analytics/pace.hpp"

#include <gtest/gtest.h>

namespace tuneband::testing {
namespace {

TEST(PaceTest, WhatASegmentTakesToBeginIsNoPartOfIt) {
  EXPECT_EQ(ms_per_unit({{0, 1, 110}, {0, 2, 120}, {0, 6, 160}}), 10) << "100 to begin and 10 a unit";
}

TEST(PaceTest, TrialsWithOneSegmentHaveNoSay) {
  EXPECT_EQ(ms_per_unit({{0, 1, 5000}, {1, 1, 110}, {1, 3, 130}, {2, 9, 7000}}), 10);
}

TEST(PaceTest, LongSegmentsWeighMore) { EXPECT_EQ(ms_per_unit({{0, 1, 1}, {0, 2, 3}, {1, 1, 1}, {1, 10, 9}}), 1); }

TEST(PaceTest, ATrialWhoseLaterSegmentWasTheShorterCountsAsAnyOther) {
  EXPECT_EQ(ms_per_unit({{0, 6, 160}, {0, 1, 110}, {1, 1, 110}, {1, 6, 160}}), 10);
}

TEST(PaceTest, TwoSegmentsOfALengthHaveNoSay) {
  EXPECT_EQ(ms_per_unit({{0, 3, 10}, {0, 3, 5000}, {1, 1, 110}, {1, 3, 130}}), 10);
}

TEST(PaceTest, AMillisecondAndAUnitMoreAreEnough) { EXPECT_EQ(ms_per_unit({{0, 1, 1}, {0, 2, 2}}), 1); }

TEST(PaceTest, IsUnknownWhereNoTrialTells) {
  EXPECT_FALSE(ms_per_unit({}));
  EXPECT_FALSE(ms_per_unit({{0, 1, 10}, {1, 9, 10}, {2, 3, 10}, {2, 3, 20}})) << "one segment, or two of a length";
  EXPECT_FALSE(ms_per_unit({{0, 1, 10}, {0, 9, 10}})) << "the longer one took no longer";
}

}  // namespace
}  // namespace tuneband::testing

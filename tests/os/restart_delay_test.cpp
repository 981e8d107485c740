#include "os/restart_delay.hpp"

#include <gtest/gtest.h>

namespace tuneband::os {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kShort{10};
constexpr milliseconds kLong{10'001};

TEST(RestartDelay, DoublesFromTheSecondEarlyDeathInARowUpToTheMaximum) {
  RestartDelay delay;
  for (const int expected : {0, 250, 500, 1'000, 2'000, 4'000, 8'000, 16'000, 30'000, 30'000})
    EXPECT_EQ(delay.after(kShort), milliseconds(expected));
  EXPECT_EQ(delay.early_deaths(), 10);
}

TEST(RestartDelay, BeginsAnewAfterOneThatRanForLongOrWasAskedToEnd) {
  RestartDelay delay(1, 4);
  for (int death = 0; death < 3; ++death) delay.after(kShort);
  EXPECT_EQ(delay.after(kLong), milliseconds(0));
  EXPECT_EQ(delay.after(kShort), milliseconds(0));
  EXPECT_EQ(delay.after(seconds(0)), milliseconds(1));
  EXPECT_EQ(delay.after(kShort, true), milliseconds(0));
  EXPECT_EQ(delay.early_deaths(), 0);
}

TEST(RestartDelay, StaysAtTheMaximumHoweverOften) {
  RestartDelay delay;
  for (int death = 0; death < 100; ++death) delay.after(kShort);
  EXPECT_EQ(delay.after(kShort), seconds(30));
}

}  // namespace

}  // namespace tuneband::os

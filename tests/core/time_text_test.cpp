#include "core/time_text.hpp"

#include <gtest/gtest.h>

#include "core/json_writer.hpp"

namespace tuneband {
namespace {

TEST(Milliseconds, AreTheNearestToTheSeconds) {
  for (std::int64_t ms = 0; ms < 20'000; ++ms) ASSERT_EQ(ms_of(seconds_of(ms)), ms);
  EXPECT_EQ(ms_of(2.007), 2007);
  EXPECT_EQ(ms_of(1.001), 1001);
}

TEST(TimeText, IsReadAsItIsWritten) {
  for (const std::int64_t ms : {0L, 1'500L, 1'772'366'400'999L, 951'782'400'000L}) {
    std::string text;
    append_time(text, Timestamp{ms});
    EXPECT_EQ(parse_time(text), Timestamp{ms}) << text;
  }
  EXPECT_EQ(parse_time("2026-03-01T12:00:00Z"), Timestamp{1'772'366'400'000});
}

TEST(TimeText, WhatNoCalendarHasIsNoTime) {
  for (const char* bad :
       {"", "Z", "2026-03-01", "2026-03-01T12:00:00", "2026-03-01 12:00:00Z", "2026-13-01T12:00:00Z", "2026-02-29T12:00:00Z",
        "2026-03-00T12:00:00Z", "2026-03-01T24:00:00Z", "2026-03-01T12:60:00Z", "2026-03-01T12:00:60Z", "2026-03-01T12:00:00.5Z",
        "2026-03-01T12:00:00.5000Z", "2026-03-01T12:00:00+01:00", "+026-03-01T12:00:00Z"}) {
    EXPECT_FALSE(parse_time(bad)) << bad;
  }
}

}  // namespace
}  // namespace tuneband

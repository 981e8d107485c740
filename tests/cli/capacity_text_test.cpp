#include "cli/terminal/capacity_text.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

#include <algorithm>
#include <sstream>

namespace tuneband::cli {
namespace {

Json capacity_with(const Json& wall_seconds, const Json& beside = nullptr) {
  return {{"workers", 2},       {"starts", "at once"},          {"seconds_per_unit", 0.5},
          {"measured_in", "a"}, {"wall_seconds", wall_seconds}, {"wall_seconds_beside_others", beside}};
}

class EndText : public testing::Test {
 protected:
  EndText() {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
  ~EndText() override {
    ::unsetenv("TZ");
    ::tzset();
  }
};

TEST_F(EndText, IsWhatTheClockSaysWhenAJobHasEnded) {
  constexpr std::int64_t kNoon = 1'772'366'400'000;  // 2026-03-01T12:00:00Z
  EXPECT_EQ(end_text(capacity_with(90), kNoon), "about 12:01");
  EXPECT_EQ(end_text(capacity_with(59), kNoon), "") << "soon";
  EXPECT_EQ(end_text(capacity_with(60), kNoon), "about 12:01");
  EXPECT_EQ(end_text(capacity_with(60, 7'200), kNoon), "about 14:00") << "beside the others";
  Json later = capacity_with(50);
  later["starts_in_seconds"] = 70;
  EXPECT_EQ(end_text(later, kNoon), "about 12:02") << "it takes its time from its start";
  EXPECT_EQ(end_text(capacity_with(86'400), kNoon), "about 2026-03-02 12:00");
  EXPECT_EQ(end_text(capacity_with(1e12), kNoon), "");
  EXPECT_EQ(end_text(capacity_with(nullptr), kNoon), "");
}

TEST(PrintCapacity, NamesStartAndLength) {
  std::ostringstream out;
  std::ostringstream err;
  Console console(Terminal{}, out, err, false);
  print_capacity(console, capacity_with(10), "rounds", 0);
  EXPECT_EQ(out.str(), "starts\tat once\ntakes\tabout 10 s with 2 workers (0.5 s a unit of rounds, measured in a)\n");
  EXPECT_EQ(takes_text(capacity_with(10), "units"), "about 10 s with 2 workers (0.5 s a unit, measured in a)");
  print_capacity(console, nullptr, "rounds", 0);
  const std::string text = out.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << "nothing of an older server";
}

}  // namespace
}  // namespace tuneband::cli

#include "cli/format.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "core/text.hpp"

namespace tuneband::cli {

TEST(Format, DurationsAreShort) {
  EXPECT_EQ(format_duration(0.412), "0.41 s");
  EXPECT_EQ(format_duration(3.14), "3.1 s");
  EXPECT_EQ(format_duration(59.4), "59 s");
  EXPECT_EQ(format_duration(312), "5 min 12 s");
  EXPECT_EQ(format_duration(7500), "2 h 05 min");
  EXPECT_EQ(format_duration(-1), "-");
  EXPECT_EQ(format_duration(std::numeric_limits<double>::quiet_NaN()), "-");
}

TEST(Format, ClocksCountUp) {
  EXPECT_EQ(format_clock(0), "0:00");
  EXPECT_EQ(format_clock(62.9), "1:02");
  EXPECT_EQ(format_clock(3723), "1:02:03");
  EXPECT_EQ(format_clock(-5), "0:00");
}

TEST(Format, ValuesAreReadableInATerminalAndExactInAPipe) {
  EXPECT_EQ(format_value(0.791234567, Precision::readable), "0.791235");
  EXPECT_EQ(format_value(0.791234567, Precision::exact), "0.791234567");
  EXPECT_EQ(format_value(std::nullopt, Precision::exact), "-");
  EXPECT_EQ(format_value(std::numeric_limits<double>::quiet_NaN(), Precision::readable), "nan");
}

TEST(Format, ConfigurationsAreWords) {
  const Json configuration = {{"booster", "dart"}, {"eta", 0.2134567}, {"max_depth", 6}, {"shuffle", true}};
  EXPECT_EQ(format_configuration(configuration, Precision::readable),
            (std::vector<std::string>{"booster=dart", "eta=0.2135", "max_depth=6", "shuffle=true"}));
  EXPECT_EQ(format_configuration(configuration, Precision::exact)[1], "eta=0.2134567");
  EXPECT_TRUE(format_configuration(Json(3), Precision::exact).empty());
}

TEST(Format, ListsEndWithAnd) {
  EXPECT_EQ(join_and({}), "");
  EXPECT_EQ(join_and({"4"}), "4");
  EXPECT_EQ(join_and({"4", "7"}), "4 and 7");
  EXPECT_EQ(join_and({"4", "7", "9"}), "4, 7 and 9");
}

TEST(Format, TimesAreReadInUtcWithAndWithoutMilliseconds) {
  EXPECT_EQ(parse_time("1970-01-01T00:00:01.500Z"), 1500);
  EXPECT_EQ(parse_time("2026-03-01T12:00:00Z"), 1'772'366'400'000);
  for (const char* bad :
       {"", "yesterday", "2026-03-01 12:00:00.000Z", "2026-03-01T12:00:00.000+01:00", "2026-xx-01T12:00:00.000Z"}) {
    EXPECT_FALSE(parse_time(bad)) << bad;
  }
}

}  // namespace tuneband::cli

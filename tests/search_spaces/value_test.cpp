#include "search_spaces/value.hpp"

#include <gtest/gtest.h>

namespace tuneband {
namespace {

TEST(Values, LookLikeArguments) {
  EXPECT_EQ(to_string(Value(std::int64_t{3})), "3");
  EXPECT_EQ(to_string(Value(0.1)), "0.1");
  EXPECT_EQ(to_string(Value(true)), "true");
  EXPECT_EQ(to_string(Value(std::string("gbtree"))), "gbtree");
}

TEST(Values, SurviveJsonExactly) {
  const Configuration configuration{{"a", 0.1 + 0.2}, {"b", std::int64_t{-3}}, {"c", true}, {"d", std::string("é")}, {"e", 1.0},
                                    {"f", 5e-324}};
  const Json reread = Json::parse(to_json(configuration).dump());
  EXPECT_EQ(configuration_from_json(reread), configuration);
}

TEST(Values, AreScalarsThatAnArgumentCanCarry) {
  EXPECT_EQ(value_from_json(3), Value(std::int64_t{3}));
  EXPECT_EQ(value_from_json(3.0), Value(3.0));
  EXPECT_EQ(value_from_json(Json::parse("9223372036854775807")), Value(std::int64_t{9223372036854775807}));
  for (const char* text : {"null", "[]", "{}", "9223372036854775808", "\"a\\u0000b\""}) {
    EXPECT_EQ(value_from_json(Json::parse(text)), std::nullopt) << text;
  }
  EXPECT_NE(value_from_json(std::string(kValueTextSizeMax, 'x')), std::nullopt);
  EXPECT_EQ(value_from_json(std::string(kValueTextSizeMax + 1, 'x')), std::nullopt);
}

TEST(SameValue, TakesNumbersByTheirSize) {
  EXPECT_TRUE(same(std::int64_t{1}, 1.0));
  EXPECT_TRUE(same(1.0, std::int64_t{1}));
  EXPECT_FALSE(same(std::int64_t{1}, true));
  EXPECT_FALSE(same(std::int64_t{1}, std::string("1")));
  EXPECT_FALSE(same(0.5, std::int64_t{0}));
}

TEST(ConfigurationFromJsonDeathTest, AbortsOnWhatWeNeverWrite) {
  EXPECT_DEATH(configuration_from_json(Json::array()), "stored configuration");
  EXPECT_DEATH(configuration_from_json({{"a", nullptr}}), "stored value");
}

}  // namespace
}  // namespace tuneband

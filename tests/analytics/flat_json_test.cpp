// Flat objects are handed on as they stand; everything else is refused, and never read past its end.
#include "analytics/flat_json.hpp"

#include <gmock/gmock.h>

#include "core/json.hpp"

namespace tuneband::testing {
namespace {

TEST(FlatJson, MembersAreAsTheyStand) {
  std::vector<FlatMember> members;
  ASSERT_TRUE(
      read_flat_json(R"({"a":-0.5e-7,"b \" }":"x,\\","c":true,"d":0,"e":0.5,"f":19,"g":1e+5,"h":9,"i":-0.9,"j":0e1})", members));
  EXPECT_THAT(members, ::testing::ElementsAre(FlatMember{"\"a\"", "-0.5e-7"}, FlatMember{R"("b \" }")", R"("x,\\")"},
                                              FlatMember{"\"c\"", "true"}, FlatMember{"\"d\"", "0"}, FlatMember{"\"e\"", "0.5"},
                                              FlatMember{"\"f\"", "19"}, FlatMember{"\"g\"", "1e+5"}, FlatMember{"\"h\"", "9"},
                                              FlatMember{"\"i\"", "-0.9"}, FlatMember{"\"j\"", "0e1"}));
  EXPECT_TRUE(read_flat_json("{}", members));
  EXPECT_TRUE(members.empty());
}

TEST(FlatJson, WhatIsNotFlatOrNoJsonIsRefused) {
  std::vector<FlatMember> members;
  for (const std::string_view text : {"",
                                      "{",
                                      "}",
                                      "[]",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{\"a\":1,}",
                                      "{\"a\":1}}",
                                      "{\"a\":1",
                                      "{\"a\":\"}",
                                      "{\"a:1}",
                                      "{a:1}",
                                      "{\"a\":null}",
                                      "{\"a\":[1]}",
                                      "{\"a\":{}}",
                                      "{\"a\":nan}",
                                      "{\"a\":inf}",
                                      "{\"a\":.5}",
                                      "{\"a\":5.}",
                                      "{\"a\":05}",
                                      "{\"a\":1 }",
                                      "{\"a\":1e}",
                                      "{\"a\":\"\\\"}",
                                      "{\"a\":-}",
                                      "{\"a\":1;\"b\":2}",
                                      "{\"a\":\"x\";\"b\":2}",
                                      "{\"a\":5.e3}",
                                      "[\"a\":1}",
                                      "{\"a\":truex}",
                                      "{\"a\":+1}",
                                      "{\"a\":-05}",
                                      "{:1}",
                                      "{\"a\";1}"})
    EXPECT_FALSE(read_flat_json(text, members)) << text;
}

TEST(FlatJson, WhatFollowsTheTextInMemoryIsNotRead) {
  std::vector<FlatMember> members;
  const std::string_view value = R"({"a":"x}"})";
  EXPECT_TRUE(read_flat_json(value, members));
  EXPECT_FALSE(read_flat_json(value.substr(0, 8), members));
  const std::string_view name = R"({"a}":1})";
  EXPECT_TRUE(read_flat_json(name, members));
  EXPECT_FALSE(read_flat_json(name.substr(0, 4), members));
}

// Whatever is taken, the reader of JSON takes too.
TEST(FlatJson, EveryPrefixAndEveryChangedByteIsJsonOrRefused) {
  const std::string whole = R"({"a":-12.5e+3,"b\n":"x\"y","c":false})";
  std::vector<FlatMember> members;
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(read_flat_json(whole.substr(0, size), members)) << size;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char sign : {'"', '\\', ',', ':', '}', '{', '0', '.', 'e', '-', 'x'}) {
      std::string changed = whole;
      changed[at] = sign;
      if (!read_flat_json(changed, members)) continue;
      for (const FlatMember& member : members) {
        EXPECT_TRUE(member.value.front() == '"' || Json::accept(member.value)) << changed;
      }
    }
  }
}

}  // namespace
}  // namespace tuneband::testing

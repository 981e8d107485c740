#include "core/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tuneband {
namespace {

using testing::HasSubstr;

std::string fault(std::string_view text) {
  const auto parsed = parse_json(text);
  return parsed ? "" : parsed.error().message;
}

std::string nested(int depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(ParseJson, AcceptsADocument) {
  const auto parsed = parse_json(R"({"a": [1, 2.5, true, null, "é"]})");
  ASSERT_TRUE(parsed);
  EXPECT_EQ((*parsed)["a"][1], 2.5);
}

TEST(ParseJson, NamesLineAndColumnOfASyntaxError) { EXPECT_THAT(fault("{\"a\": 1,\n \"b\" 2}"), HasSubstr("line 2, column")); }

TEST(ParseJson, RefusesNumbersThatJsonDoesNotHave) {
  for (const char* text : {"NaN", "nan", "Infinity", "-Infinity", "[1, NaN]", "01", "1.", ".5", "+1", "0x10"}) {
    EXPECT_THAT(fault(text), HasSubstr("not valid JSON")) << text;
  }
}

TEST(ParseJson, RefusesANumberThatNoDoubleHolds) {
  EXPECT_THAT(fault("1e999"), HasSubstr("1e999"));
  EXPECT_THAT(fault(R"({"target": -1e999})"), HasSubstr("not valid JSON"));
}

TEST(ParseJson, RefusesCommentsTrailingCommasAndMoreThanOneValue) {
  for (const char* text : {"", " ", "{} {}", "[1,]", "{\"a\":1,}", "// no\n{}", "/* no */ {}", "{'a': 1}", "{a: 1}"}) {
    EXPECT_THAT(fault(text), HasSubstr("not valid JSON")) << text;
  }
}

TEST(ParseJson, RefusesInvalidUtf8WithAMessageThatIsValidUtf8) {
  for (const std::string text : {"\"\xff\"", "\"\xc3\"", "\"\xed\xa0\x80\"", "\"\\ud800\"", "\xfe\xff"}) {
    const auto message = fault(text);
    EXPECT_THAT(message, HasSubstr("not valid JSON"));
    EXPECT_NO_THROW(Json(message).dump());
  }
}

TEST(ParseJson, QuotesNoMoreOfADocumentThanAnyoneReads) {
  for (const std::string& text : {"{\"weight\": " + std::string(8'000'000, '9') + "}", std::string(8'000'000, 'x'),
                                  "[\"" + std::string(8'000'000, 'x'), "[\"" + std::string(8'000'000, '\xE4') + "\"]",
                                  "{\"" + std::string(100'000, 'k') + "\": 1, \"" + std::string(100'000, 'k') + "\": 2}"}) {
    const std::string message = fault(text);
    EXPECT_NE(message, "");
    EXPECT_LT(message.size(), 1'000u);
    EXPECT_NO_THROW(Json(message).dump());
  }
}

TEST(ParseJson, BoundsTheKeysOfAnObject) {
  const auto object = [](std::size_t keys) {
    std::string text = "{";
    for (std::size_t i = 0; i < keys; ++i) text += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":1";
    return text + "}";
  };
  EXPECT_EQ(fault(object(kJsonKeysMax)), "");
  EXPECT_THAT(fault(object(kJsonKeysMax + 1)), HasSubstr("more than 10000 keys"));
}

TEST(ParseJson, CanBeToldHowManyValuesAreTooMany) {
  EXPECT_TRUE(parse_json(R"({"a": [1, 2, 3]})", {.values_max = 5}));
  EXPECT_FALSE(parse_json(R"({"a": [1, 2, 3, 4]})", {.values_max = 5}));
  EXPECT_FALSE(parse_json(R"([{}, [], {}, [], {}])", {.values_max = 5}));
}

TEST(ParseJson, BoundsTheDepth) {
  EXPECT_EQ(fault(nested(kJsonDepthMax)), "");
  EXPECT_THAT(fault(nested(kJsonDepthMax + 2)), HasSubstr("nested deeper than 32"));
  EXPECT_THAT(fault(nested(200'000)), HasSubstr("nested deeper than 32"));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_NE(fault(objects), "");
}

TEST(ParseJson, RefusesAKeyGivenTwiceAtAnyDepth) {
  EXPECT_THAT(fault(R"({"a": 1, "a": 1})"), HasSubstr("`a` is given twice"));
  EXPECT_THAT(fault(R"({"x": [{"eta": 1, "b": {}, "eta": 2}]})"), HasSubstr("`eta` is given twice"));
  EXPECT_THAT(fault(R"({"a": 1, "\u0061": 2})"), HasSubstr("`a` is given twice"));
  EXPECT_EQ(fault(R"({"a": {"a": {"a": 1}}, "b": [{"a": 1}, {"a": 1}]})"), "");
}

TEST(NumberToJson, CarriesWhatJsonHasNoNumberFor) {
  EXPECT_EQ(number_to_json(std::nan("")), "nan");
  EXPECT_EQ(number_to_json(HUGE_VAL), "inf");
  EXPECT_EQ(number_to_json(-HUGE_VAL), "-inf");
  EXPECT_EQ(number_to_json(0.1), 0.1);
  for (const double value : {0.1, -3.5, HUGE_VAL, -HUGE_VAL, 5e-324, 1.7976931348623157e308}) {
    EXPECT_EQ(number_from_json(number_to_json(value)), value);
  }
  EXPECT_TRUE(std::isnan(*number_from_json("nan")));
  EXPECT_EQ(number_from_json("1"), std::nullopt);
  EXPECT_EQ(number_from_json(Json(true)), std::nullopt);
}

TEST(Excerpt, IsShortAndValidUtf8) {
  const std::string long_text = std::string(59, 'x') + "\xc3\xa9\xc3\xa9\xc3\xa9";
  EXPECT_LT(excerpt(Json(long_text)).size(), 80u);
  EXPECT_NO_THROW(Json(excerpt(Json(long_text))).dump());
  EXPECT_NO_THROW(Json(excerpt(Json("\xff\xfe"))).dump());
  EXPECT_EQ(excerpt(Json("a")), "\"a\"");
}

TEST(JoinPath, WritesFieldsAndIndexes) {
  EXPECT_EQ(join_path("", "eta"), "eta");
  EXPECT_EQ(join_path("search_space", "eta"), "search_space.eta");
  EXPECT_EQ(join_path("enqueue", std::size_t{3}), "enqueue[3]");
}

struct ObjectReading : testing::Test {
  Diagnostics diagnostics;

  std::string only_fault() {
    EXPECT_EQ(diagnostics.errors().size(), 1u);
    return diagnostics.errors().empty() ? "" : describe(diagnostics.errors().front());
  }
};

TEST_F(ObjectReading, GivesWhatIsThereAndFallbacksForTheRest) {
  const Json json = Json::parse(R"({"n": 1.5, "i": 3, "b": true, "t": "x"})");
  ObjectReader reader(json, "", diagnostics);
  EXPECT_EQ(reader.number("n"), 1.5);
  EXPECT_EQ(reader.integer("i"), 3);
  EXPECT_EQ(reader.boolean("b"), true);
  EXPECT_EQ(reader.text("t"), "x");
  EXPECT_EQ(reader.number_or("none", 7.0), 7.0);
  EXPECT_EQ(reader.integer_or("none", 7), 7);
  EXPECT_EQ(reader.boolean_or("none", true), true);
  EXPECT_EQ(reader.text_or("none", "y"), "y");
  reader.finish();
  EXPECT_TRUE(diagnostics.ok());
}

TEST_F(ObjectReading, NamesPathRangeAndWhatCame) {
  const Json json = Json::parse(R"({"max": 3})");
  ObjectReader reader(json, "search_space.eta", diagnostics);
  EXPECT_EQ(reader.number("max", {.min = 0, .max = 1}), std::nullopt);
  EXPECT_EQ(only_fault(), "search_space.eta.max: expected a number between 0 and 1, got 3");
}

TEST_F(ObjectReading, HonoursExcludedEnds) {
  const Json json = Json::parse(R"({"low": 0, "high": 1})");
  ObjectReader reader(json, "", diagnostics);
  const NumberRange open{.min = 0, .max = 1, .min_excluded = true, .max_excluded = true};
  EXPECT_EQ(reader.number("low", open), std::nullopt);
  EXPECT_EQ(reader.number("high", open), std::nullopt);
  EXPECT_EQ(diagnostics.errors().size(), 2u);
}

TEST_F(ObjectReading, TakesOnlyIntegersForAnInteger) {
  const Json json =
      Json::parse(R"({"a": 1.5, "b": "1", "c": true, "d": 18446744073709551615, "e": 1e16, "f": -9223372036854775808})");
  ObjectReader reader(json, "", diagnostics);
  for (const char* field : {"a", "b", "c", "d", "e"}) EXPECT_EQ(reader.integer(field), std::nullopt) << field;
  EXPECT_EQ(reader.integer("f"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(diagnostics.errors().size(), 5u);
}

TEST_F(ObjectReading, TakesAFloatThatIsWholeForAnInteger) {
  const Json json = Json::parse(R"({"a": 27.0, "b": -1e3, "c": -0.0, "d": 9007199254740992.0, "e": 28.0})");
  ObjectReader reader(json, "", diagnostics);
  EXPECT_EQ(reader.integer("a"), 27);
  EXPECT_EQ(reader.integer("b"), -1000);
  EXPECT_EQ(reader.integer("c"), 0);
  EXPECT_EQ(reader.integer("d"), 9007199254740992);
  EXPECT_EQ(integer_of(json, "a"), 27);
  EXPECT_EQ(reader.integer("e", {.max = 27}), std::nullopt);
  EXPECT_EQ(only_fault(), "e: expected an integer of at most 27, got 28.0");
}

TEST_F(ObjectReading, DoesNotTakeABooleanForANumber) {
  const Json json = Json::parse(R"({"a": true, "b": 0, "c": 1})");
  ObjectReader reader(json, "", diagnostics);
  EXPECT_EQ(reader.number("a"), std::nullopt);
  EXPECT_EQ(reader.boolean("b"), std::nullopt);
  EXPECT_EQ(reader.text("c"), std::nullopt);
  EXPECT_EQ(diagnostics.errors().size(), 3u);
}

TEST_F(ObjectReading, BoundsTextsInBytes) {
  const Json json = {{"empty", ""}, {"long", std::string(11, 'x')}};
  ObjectReader reader(json, "", diagnostics);
  EXPECT_EQ(reader.text("empty"), std::nullopt);
  EXPECT_EQ(reader.text("long", {1, 10}), std::nullopt);
  EXPECT_EQ(diagnostics.errors().size(), 2u);
}

TEST_F(ObjectReading, SuggestsTheWordThatWasMeant) {
  const Json json = {{"goal", "maximise"}};
  ObjectReader reader(json, "objective", diagnostics);
  EXPECT_EQ(reader.word("goal", {"maximize", "minimize"}), std::nullopt);
  EXPECT_EQ(only_fault(), "objective.goal: expected maximize or minimize, got \"maximise\" (did you mean `maximize`?)");
}

TEST_F(ObjectReading, ReportsUnknownFieldsWithTheOneThatWasMeant) {
  const Json json = {{"max_trial", 3}};
  ObjectReader reader(json, "limits", diagnostics);
  reader.integer("max_trials");
  reader.integer("max_attempts");
  reader.finish();
  EXPECT_EQ(only_fault(), "limits.max_trial: unknown field (did you mean `max_trials`?)");
}

TEST_F(ObjectReading, TellsWhatANameOfOtherToolsIsHere) {
  const Json json = {{"cmd", {"ls"}}};
  ObjectReader reader(json, "trainer", diagnostics);
  reader.also_called("argv", {"command", "cmd"});
  reader.also_called("environment", {"env"});
  EXPECT_EQ(reader.require("argv", "texts"), nullptr);
  reader.finish();
  EXPECT_EQ(only_fault(), "trainer.cmd: is written as `argv` here");
}

TEST_F(ObjectReading, AFieldIsMissingWhereAnotherOneGoesByAnotherName) {
  const Json json = {{"env", {"ls"}}};
  ObjectReader reader(json, "trainer", diagnostics);
  reader.also_called("argv", {"command", "cmd"});
  reader.also_called("environment", {"env"});
  EXPECT_EQ(reader.require("argv", "texts"), nullptr);
  EXPECT_EQ(only_fault(), "trainer.argv: is missing (expected texts)");
}

TEST_F(ObjectReading, NamesSomeOfManyUnknownFieldsAndCountsTheRest) {
  Json json;
  for (std::size_t i = 0; i < kJsonKeysMax; ++i) json["k" + std::to_string(i)] = 1;
  ObjectReader reader(json, "", diagnostics);
  reader.integer("known");
  reader.finish();
  EXPECT_EQ(diagnostics.errors().size(), kFaultsMax + 1);
  EXPECT_EQ(diagnostics.error_count(), kJsonKeysMax);
}

TEST_F(ObjectReading, ReportsAMissingFieldOnce) {
  const Json json = Json::object();
  ObjectReader reader(json, "objective", diagnostics);
  EXPECT_EQ(reader.require("metric", "a name"), nullptr);
  EXPECT_EQ(reader.text("metric"), std::nullopt);
  EXPECT_EQ(only_fault(), "objective.metric: is missing (expected a name)");
}

TEST_F(ObjectReading, SaysOfAMissingFieldWhatItsReadExpects) {
  const Json json = Json::object();
  ObjectReader reader(json, "", diagnostics);
  for (const char* field : {"number", "integer", "boolean", "text", "word"}) reader.require_present(field);
  EXPECT_TRUE(diagnostics.ok()) << "it is the read that tells";
  reader.number("number", {.min = 0, .max = 1, .max_excluded = true});
  reader.integer("integer", {.min = 1});
  reader.boolean("boolean");
  reader.text("text");
  reader.word("word", {"log", "linear"});
  reader.number("optional");
  std::vector<std::string> faults;
  for (const Error& fault : diagnostics.errors()) faults.push_back(describe(fault));
  EXPECT_EQ(faults, (std::vector<std::string>{
                        "number: is missing (expected a number between 0 and 1 (excluded))",
                        "integer: is missing (expected an integer of at least 1)",
                        "boolean: is missing (expected true or false)",
                        "text: is missing (expected a text)",
                        "word: is missing (expected log or linear)",
                    }));
}

TEST_F(ObjectReading, SaysOnlyOnceThatItIsNotAnObject) {
  const Json json = 3;
  ObjectReader reader(json, "limits", diagnostics);
  reader.require("a", "anything");
  reader.require_present("b");
  EXPECT_EQ(reader.integer("c"), std::nullopt);
  reader.finish();
  EXPECT_EQ(only_fault(), "limits: expected an object, got 3");
}

}  // namespace
}  // namespace tuneband

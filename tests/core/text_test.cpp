#include "core/text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/code_points.hpp"
#include "core/decimal.hpp"
#include "core/shell_word.hpp"

namespace tuneband {
namespace {

TEST(ShortNumber, HasSixDigitsAtMost) {
  EXPECT_EQ(short_number(0.2000000000000001), "0.2");
  EXPECT_EQ(short_number(1.0 / 3), "0.333333");
  EXPECT_EQ(short_number(1e11), "1e+11");
}

TEST(ShellWord, IsQuotedWhereAShellWouldMakeSomethingElseOfIt) {
  EXPECT_EQ(shell_word("/var/lib/tune_band-1.x"), "/var/lib/tune_band-1.x");
  EXPECT_EQ(shell_word("l\u00e4ufe"), "l\u00e4ufe");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's $HOME"), "'it'\\''s $HOME'");
  for (const char* text : {"~", "a;b", "*", "a\tb", "#", "`", "\\", "!", "="}) EXPECT_EQ(shell_word(text), shell_quoted(text));
}

TEST(FormatNumber, IsShortAndReadsBackTheSame) {
  EXPECT_EQ(format_number(0.1), "0.1");
  EXPECT_EQ(format_number(3), "3");
  EXPECT_EQ(format_number(-0.0), "-0");
  EXPECT_EQ(format_number(std::nan("")), "nan");
  EXPECT_EQ(format_number(-std::nan("")), "nan");
  EXPECT_EQ(format_number(HUGE_VAL), "inf");
  EXPECT_EQ(format_number(-HUGE_VAL), "-inf");
  for (const double value : {0.1 + 0.2, 1e-300, 5e-324, -1.7976931348623157e308, 123456789.123}) {
    EXPECT_EQ(parse_number(format_number(value)), value);
  }
}

TEST(ParseNumber, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(parse_number("0.5"), 0.5);
  EXPECT_EQ(parse_number("+0.5"), 0.5);
  EXPECT_EQ(parse_number("-1e3"), -1000.0);
  EXPECT_TRUE(std::isnan(parse_number("nan").value()));
  EXPECT_TRUE(std::isnan(parse_number("NaN").value()));
  EXPECT_EQ(parse_number("inf"), HUGE_VAL);
  EXPECT_EQ(parse_number("-Infinity"), -HUGE_VAL);
  for (const char* text : {"", "+", "-", "x", "1x", " 1", "1 ", "1,5", "0x10", "--1", "+-1", "++1"})
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
}

TEST(ParseNumber, ReadsWhatIsBeyondADoubleAsInfinityOrZero) {
  EXPECT_EQ(parse_number("1e999"), HUGE_VAL);
  EXPECT_EQ(parse_number("-1e999"), -HUGE_VAL);
  EXPECT_EQ(parse_number("1e-999"), 0.0);
}

TEST(WholeNumber, HasOneTextOnly) {
  EXPECT_EQ(whole_number("0"), 0);
  EXPECT_EQ(whole_number("-7"), -7);
  EXPECT_EQ(whole_number("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  for (const char* text : {"", "-", "-0", "00", "01", "-01", "+1", "1.0", "1e3", " 1", "1 ", "0x1", "9223372036854775808"}) {
    EXPECT_EQ(whole_number(text), std::nullopt) << text;
  }
}

TEST(Nearest, FindsASlipOfThePenAndNothingElse) {
  const std::vector<std::string> words{"max_trials", "max_attempts", "eta"};
  EXPECT_EQ(nearest("max_trial", words), "max_trials");
  EXPECT_EQ(nearest("etaa", words), "eta");
  EXPECT_EQ(nearest("MAX_TRIALS", words), "max_trials");
  EXPECT_EQ(nearest("something_else", words), std::nullopt);
  EXPECT_EQ(nearest(std::string(5000, 'x'), words), std::nullopt);
  EXPECT_EQ(did_you_mean("max_atempts", words), "did you mean `max_attempts`?");
  EXPECT_EQ(did_you_mean("unrelated", words), "");
}

TEST(Nearest, TakesTheOnlyOneThatBeginsSo) {
  const std::vector<std::string> goals{"maximize", "minimize"};
  EXPECT_EQ(nearest("max", goals), "maximize");
  EXPECT_EQ(nearest("m", goals), std::nullopt);
  EXPECT_EQ(nearest("mi", goals), std::nullopt) << "too short to say anything";
  EXPECT_EQ(nearest("trial", std::vector<std::string>{"trials_started", "trials_completed"}), std::nullopt);
}

TEST(Nearest, TakesWhatGoesOnFromAWholeWordBeforeASlipOfThePen) {
  const std::vector<std::string> types{"pasha", "asha_promotion", "asha_stopping"};
  EXPECT_EQ(nearest("asha", types), "asha_promotion");
  EXPECT_EQ(nearest("pash", types), "pasha") << "no whole word ends there";
}

TEST(Nearest, OfAFileNothingIsToldThatWasNotSaid) {
  const std::vector<std::string> words{"root_hunter2", "maximize", "weight"};
  EXPECT_EQ(did_you_mistype("root", words), "");
  EXPECT_EQ(did_you_mistype("max", words), "");
  EXPECT_EQ(did_you_mistype("wieght", words), "did you mean `weight`?");
}

TEST(Nearest, IsNothingForAWordThatSharesNothing) {
  const std::vector<std::string> parameters{"lr", "opt"};
  EXPECT_EQ(nearest("", parameters), std::nullopt);
  EXPECT_EQ(nearest("x", parameters), std::nullopt);
  EXPECT_EQ(nearest("l", parameters), "lr");
}

TEST(OneOf, ReadsAsASentence) {
  EXPECT_EQ(one_of(std::vector<std::string>{"a"}), "a");
  EXPECT_EQ(one_of(std::vector<std::string>{"a", "b"}), "a or b");
  EXPECT_EQ(one_of(std::vector<std::string>{"a", "b", "c"}), "a, b or c");
}

TEST(ValidUtf8, ReplacesOnlyWhatIsInvalid) {
  EXPECT_EQ(valid_utf8("plain \"text\" \\ with é and \n"), "plain \"text\" \\ with é and \n");
  for (const std::string text : {"\xff", "a\xc3", "\xed\xa0\x80", "\xf8\x88\x80\x80\x80"}) {
    EXPECT_NO_THROW(nlohmann::json(valid_utf8(text)).dump());
    EXPECT_NE(valid_utf8(text), text);
  }
  EXPECT_EQ(valid_utf8("a\xff"
                       "b\xe2\x82"),
            "a\ufffdb\ufffd");
  EXPECT_EQ(valid_utf8(std::string("\0\ufffe\U0010ffff", 8)), std::string("\0\ufffe\U0010ffff", 8));
  EXPECT_EQ(valid_utf8("\ufeff"), "\ufeff");
}

std::vector<std::uint32_t> points_of(std::string_view text) {
  std::vector<std::uint32_t> points;
  while (!text.empty()) points.push_back(next_code_point(text));
  return points;
}

TEST(CodePoints, AreReadToTheEndWhateverTheBytes) {
  EXPECT_EQ(points_of("a\u00e9\u20ac\U0001f600"), (std::vector<std::uint32_t>{'a', 0xe9, 0x20ac, 0x1f600}));
  EXPECT_EQ(points_of("\xff"
                      "b\xc3"),
            (std::vector<std::uint32_t>{0xfffd, 'b', 0xfffd}));
  EXPECT_EQ(points_of("\xed\xa0\x80"), (std::vector<std::uint32_t>{0xfffd, 0xfffd, 0xfffd}));
}

TEST(Resource, IsSaidInTheJobsOwnUnit) {
  EXPECT_EQ(format_resource(81, "rounds"), "81 rounds");
  EXPECT_EQ(format_resource(1, "rounds"), "1 round");
  EXPECT_EQ(format_resource(1, "s"), "1 s");
}

TEST(Worker, HasTheNameOfItsIdWithoutTheRandomPart) {
  EXPECT_EQ(short_worker("local-1-a63184a1292cb8c6"), "local-1");
  EXPECT_EQ(short_worker("local-1"), "local-1");
  EXPECT_EQ(short_worker("a-machine-with-a-long-name"), "a-machine-with-a-long-name");
  EXPECT_EQ(short_worker(""), "");
}

TEST(Split, GivesWhatStandsBetweenTheSeparators) {
  EXPECT_EQ(split("a,b", ','), (std::vector<std::string_view>{"a", "b"}));
  EXPECT_EQ(split("a,,b,", ','), (std::vector<std::string_view>{"a", "", "b", ""}));
  EXPECT_EQ(split("", ','), std::vector<std::string_view>{""});
  EXPECT_EQ(split(",", ','), (std::vector<std::string_view>{"", ""}));
}

TEST(Text, IsReplacedWhereverItStoodAndNotInWhatTookItsPlace) {
  EXPECT_EQ(replaced("null,1,null", "null", "Infinity"), "Infinity,1,Infinity");
  EXPECT_EQ(replaced("a\\b", "\\", "\\\\"), "a\\\\b");
  EXPECT_EQ(replaced("aaa", "aa", "a"), "aa");
  EXPECT_EQ(replaced("", "a", "b"), "");
}

}  // namespace
}  // namespace tuneband

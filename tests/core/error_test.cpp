#include "core/error.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <unordered_set>

#include "core/check.hpp"
#include "core/ids.hpp"
#include "core/time.hpp"

namespace tuneband {
namespace {

TEST(Describe, LeavesOutWhatIsNotThere) {
  EXPECT_EQ(describe({ErrorCode::invalid_argument, "is missing", "", ""}), "is missing");
  EXPECT_EQ(describe({ErrorCode::invalid_argument, "is missing", "name", ""}), "name: is missing");
  EXPECT_EQ(describe({ErrorCode::invalid_argument, "is missing", "name", "give one"}), "name: is missing (give one)");
}

TEST(ErrorCodes, HaveDifferentWords) {
  std::set<std::string_view> words;
  for (const auto code : {ErrorCode::invalid_argument, ErrorCode::not_found, ErrorCode::conflict, ErrorCode::too_large,
                          ErrorCode::unavailable, ErrorCode::internal}) {
    words.insert(to_string(code));
  }
  EXPECT_EQ(words.size(), 6u);
}

TEST(Result, ThrowsTheSentenceWhenAValueIsTakenThatIsNotThere) {
  const Result<int> result = Error{ErrorCode::not_found, "no such job", "", ""};
  try {
    static_cast<void>(result.value());
    FAIL() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "no such job");
  }
}

TEST(Diagnostics, AreFineWithWarningsAlone) {
  Diagnostics diagnostics;
  diagnostics.warning("a", "odd");
  EXPECT_TRUE(diagnostics.ok());
  diagnostics.error("b", "wrong");
  EXPECT_FALSE(diagnostics.ok());
  EXPECT_EQ(diagnostics.errors().size(), 1u);
  EXPECT_EQ(diagnostics.warnings().size(), 1u);
}

TEST(Diagnostics, KeepSoManyFaultsAndCountTheRest) {
  Diagnostics diagnostics;
  for (std::size_t i = 0; i < kFaultsMax; ++i) diagnostics.error(std::to_string(i), "wrong");
  EXPECT_TRUE(diagnostics.full());
  EXPECT_EQ(diagnostics.errors().size(), kFaultsMax);
  for (int i = 0; i < 1234; ++i) diagnostics.error("x", "wrong");
  diagnostics.one_more_error();
  ASSERT_EQ(diagnostics.errors().size(), kFaultsMax + 1);
  EXPECT_EQ(diagnostics.errors().front().path, "0");
  EXPECT_EQ(describe(diagnostics.errors().back()), "... and 1235 more");
  EXPECT_EQ(diagnostics.error_count(), kFaultsMax + 1235);
  for (std::size_t i = 0; i < 2 * kFaultsMax; ++i) diagnostics.warning("x", "odd");
  EXPECT_EQ(diagnostics.warnings().size(), kFaultsMax + 1);
}

TEST(Diagnostics, TakeThoseOfOthersAndCountWhatTheseDidNotKeep) {
  Diagnostics others;
  for (std::size_t i = 0; i < kFaultsMax + 5; ++i) others.error(std::to_string(i), "wrong", "mend it");
  others.warning("w", "odd");
  Diagnostics diagnostics;
  diagnostics.error("own", "wrong");
  diagnostics.add(others);
  EXPECT_EQ(diagnostics.error_count(), kFaultsMax + 6);
  EXPECT_EQ(diagnostics.errors()[0].path, "own");
  EXPECT_EQ(describe(diagnostics.errors()[1]), "0: wrong (mend it)");
  EXPECT_EQ(describe(diagnostics.errors().back()), "... and 6 more");
  EXPECT_EQ(describe(diagnostics.warnings().back()), "w: odd");
}

TEST(Diagnostics, CutWhatIsTooLongToRead) {
  std::string long_text;
  for (int i = 0; i < 1'000'000; ++i) long_text += "\xC3\xA4";
  Diagnostics diagnostics;
  diagnostics.error(long_text, long_text, long_text);
  const Error& error = diagnostics.errors().front();
  for (const std::string& part : {error.path, error.message, error.hint}) {
    EXPECT_LE(part.size(), kFaultTextSizeMax + 3);
    EXPECT_TRUE(part.ends_with("\xC3\xA4...")) << "no letter is cut in two";
  }
}

TEST(Ids, OrderAndHashByTheirValue) {
  EXPECT_LT(JobId{1}, JobId{2});
  EXPECT_LT((TrialId{JobId{1}, 9}), (TrialId{JobId{2}, 0}));
  static_assert(!std::is_convertible_v<JobId, Epoch>);
  EXPECT_EQ((std::unordered_set<WorkerId>{{"a"}, {"a"}, {"b"}}).size(), 2u);
}

TEST(Timestamps, DifferInMilliseconds) { EXPECT_EQ(Timestamp{1500}.plus_ms(500) - Timestamp{1000}, 1000); }

TEST(CheckDeathTest, SaysWhereAndWhy) {
  EXPECT_DEATH(TUNEBAND_CHECK(1 > 2, "numbers are ordered"), "error_test.cpp.*numbers are ordered");
}

}  // namespace
}  // namespace tuneband

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

#include "core/csv_rows.hpp"

#include <gtest/gtest.h>

#include "core/text.hpp"

namespace tuneband::test {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// Fed in pieces of `size` bytes.
Result<Rows> rows_of(std::string_view text, std::size_t size, const CsvFormat& format = {}) {
  Rows rows;
  CsvRows parser(format, [&rows](const CsvRow& row) -> Result<void> {
    rows.emplace_back(row.cells.begin(), row.cells.end());
    return {};
  });
  for (std::size_t at = 0; at < text.size(); at += size) {
    if (auto fed = parser.feed(text.substr(at, size)); !fed) return fed.error();
  }
  if (auto finished = parser.finish(); !finished) return finished.error();
  return rows;
}

std::string fault_of(std::string_view text) {
  const auto rows = rows_of(text, text.size());
  return rows ? "" : rows.error().message;
}

TEST(CsvRows, AreTheSameHoweverTheTextIsCut) {
  using namespace std::string_literals;
  const std::string text = "a,\"b \"\"q\"\", \r\n\",c\r\n\r\n,\"\",nan\n\xff\xfe,\0,-inf\rlast,\"\",é"s;
  const Rows expected = {{"a", "b \"q\", \r\n", "c"}, {"", "", "nan"}, {"\xff\xfe", "\0"s, "-inf"}, {"last", "", "é"}};
  for (std::size_t size = 1; size <= text.size(); ++size) {
    const auto rows = rows_of(text, size);
    ASSERT_TRUE(rows) << describe(rows.error());
    EXPECT_EQ(*rows, expected) << size;
  }
}

TEST(CsvRows, BlanksOutsideOfQuotesAreDroppedUnlessTheyAreKept) {
  const std::string text = " a ;\t b c;\" d \"\n";
  EXPECT_EQ(*rows_of(text, 100, {.delimiter = ';'}), (Rows{{"a", "b c", " d "}}));
  EXPECT_EQ(*rows_of(text, 100, {.delimiter = ';', .keeps_blanks = true}), (Rows{{" a ", "\t b c", " d "}}));
}

TEST(CsvRows, AQuoteWhereNoneBelongsIsAnErrorThatNamesTheLine) {
  EXPECT_EQ(fault_of("a\n\n5\",b\n"), "line 3 has a quote in the middle of a cell");
  EXPECT_EQ(fault_of("a\n\"5\"b\n"), "line 2 has a quote in the middle of a cell");
  EXPECT_EQ(fault_of("a\n\"b\n\"\nc,\"d\n"), "the quote that line 4 opens is never closed");
  EXPECT_EQ(fault_of("\"a\n" + std::string(kCsvCellSizeMax, 'x')), "line 1 begins a cell of more than 1048576 bytes");
}

TEST(CsvRows, OfOneCellMayNotHaveAnEmptyLineBetweenThem) {
  EXPECT_EQ(fault_of("a\n1\n\n3\n"), "line 3 is empty, in a file of one column");
  EXPECT_EQ(fault_of("a\r\n \r\n1"), "line 2 is empty, in a file of one column");
  EXPECT_EQ(*rows_of("\n\na\n\"x\n\ny\"\n\"\"\n3\n\n\n", 100), (Rows{{"a"}, {"x\n\ny"}, {""}, {"3"}}));
  EXPECT_EQ(*rows_of("a,b\n\n1,2\n\n3\n", 100), (Rows{{"a", "b"}, {"1", "2"}, {"3"}}));
}

TEST(CsvRows, EndWithTheFirstErrorOfTheirReader) {
  std::vector<std::int64_t> lines;
  CsvRows rows({}, [&lines](const CsvRow& row) -> Result<void> {
    lines.push_back(row.line);
    if (row.line == 3) return Error{ErrorCode::conflict, "enough", "", ""};
    return {};
  });
  const auto fed = rows.feed("a\n\"b\n\"\nc\nd\n");
  ASSERT_FALSE(fed);
  EXPECT_EQ(fed.error().message, "enough");
  EXPECT_EQ(lines, (std::vector<std::int64_t>{1, 3}));
}

}  // namespace
}  // namespace tuneband::test

#include "core/csv_cell.hpp"

#include <gtest/gtest.h>

#include "core/csv_rows.hpp"

namespace tuneband::test {
namespace {

// What the reader of CSV makes of a cell before it is a text.
std::string unquoted(const std::string& cell) {
  std::string text;
  CsvRows rows({.keeps_blanks = true}, [&text](const CsvRow& row) -> Result<void> {
    text = row.cells.at(0);
    return {};
  });
  EXPECT_TRUE(rows.feed(cell + "\n") && rows.finish());
  return text;
}

TEST(CsvCell, ATextThatBeginsLikeAFormulaIsNone) {
  EXPECT_EQ(csv_cell("=1+1"), "'=1+1");
  EXPECT_EQ(csv_cell("+cmd|' /C calc'!A0"), "'+cmd|' /C calc'!A0");
  EXPECT_EQ(csv_cell("-2+3"), "'-2+3");
  EXPECT_EQ(csv_cell("@SUM(A1)"), "'@SUM(A1)");
  EXPECT_EQ(csv_cell("\t=1"), "'\t=1");
  EXPECT_EQ(csv_cell("\r=1"), "\"'\r=1\"");
  EXPECT_EQ(csv_cell("=HYPERLINK(\"x\",\"y\")"), "\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\"");
}

TEST(CsvCell, NumbersAndPlainTextsStayAsTheyAre) {
  for (const char* text : {"", "a", "-0.5", "+3", "-1e-9", "-inf", "nan", "1=2", "a-b", "'", "'a", "mail@example.org"}) {
    EXPECT_EQ(csv_cell(text), text);
  }
}

TEST(CsvCell, EveryTextComesBack) {
  for (const std::string text : {"", "=", "'=", "''=1", "-", "-1", "'-1", "@", "'", "''", "'a", "=\"a,b\"\n", "\t", "\r\n",
                                 "a\"b", " a ", " \"", "\xff"}) {
    EXPECT_EQ(text_of_csv_cell(unquoted(csv_cell(text))), text) << csv_cell(text);
  }
}

}  // namespace
}  // namespace tuneband::test

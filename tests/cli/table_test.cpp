#include "cli/terminal/table.hpp"

#include <gtest/gtest.h>

namespace tuneband::cli {

namespace {

Table example_table() {
  Table table({{"id", Align::right}, {"name"}, {"best", Align::right}});
  table.add_row({"7", "direct-marketing", "0.79"});
  table.add_row({"12", "x", "0.8123"});
  return table;
}

std::vector<std::string> lines_of(const Table& table, std::size_t width) {
  const Terminal terminal{.interactive = true, .color = false, .utf8 = false, .width = width, .height = 24};
  std::vector<std::string> lines;
  for (const Line& line : table.aligned(terminal)) lines.push_back(render(line, terminal));
  return lines;
}

}  // namespace

TEST(Table, ColumnsAreAlignedUnderTheirTitles) {
  EXPECT_EQ(lines_of(example_table(), 80), (std::vector<std::string>{
                                               "id  name                best",
                                               " 7  direct-marketing    0.79",
                                               "12  x                 0.8123",
                                           }));
}

TEST(Table, ColumnsThatDoNotFitAreLeftOutAndSaidSo) {
  EXPECT_EQ(lines_of(example_table(), 25), (std::vector<std::string>{
                                               "id  name",
                                               " 7  direct-marketing",
                                               "12  x",
                                               "(1 more column: widen the",
                                               "terminal, or use --json)",
                                           }));
}

TEST(Table, APipeGetsTabsAndWholeCellsOnOneLine) {
  Table table({{"name"}, {"message"}});
  table.add_row({"a", "tab\there\nand there"});
  EXPECT_EQ(table.tab_separated(), "name\tmessage\na\ttab here and there\n");
}

TEST(Table, ALongCellDoesNotPushTheOthersAway) {
  Table table({{"message"}, {"trial"}});
  table.add_row({std::string(200, 'x'), "7"});
  EXPECT_EQ(lines_of(table, 80)[1], std::string(59, 'x') + "~  7");
}

}  // namespace tuneband::cli

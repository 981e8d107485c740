// What can be checked of the style by reading lines.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/style/source_tree.hpp"

namespace tuneband::style {

namespace {

constexpr std::size_t kColumnsMax = 130;
constexpr std::size_t kFunctionLinesMax = 70;

// Written in two parts, so that this file does not find itself.
const std::string kUnfinishedWords[] = {std::string("TO") + "DO", std::string("FIX") + "ME"};
const std::string kCoroutineWords[] = {std::string("co_") + "await", std::string("co_") + "return", std::string("co_") + "yield"};

std::size_t columns_of(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

// What stands in braces after something with parameters: a function, wherever it is, or a lambda or a loop in one.
struct Block {
  std::size_t begin;  // 1 + the index of its first line
  std::size_t lines;  // between that and its last
};

// Of formatted code: a block ends with a "}" that is indented as the line is with which it began.
std::vector<Block> blocks_of(const std::vector<std::string>& lines) {
  std::vector<Block> blocks;
  std::map<std::size_t, std::size_t> begun;  // by indentation
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    const std::size_t indentation = line.find_first_not_of(' ');
    if (indentation == std::string::npos || line[indentation] == '#' || line.compare(indentation, 2, "//") == 0) continue;
    const bool ends = line[indentation] == '}';
    const auto begin = begun.find(indentation);
    if (ends && begin != begun.end()) {
      blocks.push_back({begin->second + 1, i - begin->second - 1});
      begun.erase(begin);
    }
    const bool begins = line.find('(') != std::string::npos && (line.ends_with('{') || (!ends && !line.ends_with(';')));
    if (begins && !line.ends_with('}')) {
      begun[indentation] = i;
    } else if (line.ends_with('{')) {
      begun.erase(indentation);
    }
  }
  return blocks;
}

template <class Check>
void for_each_line(const Check& check) {
  for (const SourceFile& file : source_tree()) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) check(file, file.lines[i], file.path + ":" + std::to_string(i + 1));
  }
}

}  // namespace

TEST(Text, NoLineIsLongerThan130Columns) {
  for_each_line([](const SourceFile&, const std::string& line, const std::string& place) {
    EXPECT_LE(columns_of(line), kColumnsMax) << place;
  });
}

TEST(Text, NoFunctionIsLongerThan70Lines) {
  std::vector<SourceFile> files = dashboard_sources();
  EXPECT_FALSE(files.empty());
  for (SourceFile& file : source_tree()) {
    if (is_cpp(file)) files.push_back(std::move(file));
  }
  for (const SourceFile& file : files) {
    for (const auto& [begin, lines] : blocks_of(file.lines)) {
      EXPECT_LE(lines, kFunctionLinesMax) << file.path << ":" << begin << ": " << file.lines[begin - 1];
    }
  }
}

TEST(Text, AFunctionIsMeasuredInAClassAndWithItsParametersOnTwoLines) {
  const std::vector<std::string> lines = {"void f(int a,", "       int b) {", "  a += b;",  "}",     "struct S {",
                                          "  void g() {",  "    if (x) {",    "      h();", "    }", "    // (",
                                          "  }",           "  int i = 0;",    "};"};
  std::vector<std::pair<std::size_t, std::size_t>> blocks;
  for (const auto& [begin, count] : blocks_of(lines)) blocks.emplace_back(begin, count);
  EXPECT_EQ(blocks, (std::vector<std::pair<std::size_t, std::size_t>>{{1, 2}, {7, 1}, {6, 4}}));
}

TEST(Text, NoTabsNoTrailingSpacesNoCarriageReturns) {
  for_each_line([](const SourceFile& file, const std::string& line, const std::string& place) {
    const bool tab_is_meant = file.path.starts_with("scripts/");  // sed on tab-separated output
    EXPECT_TRUE(tab_is_meant || line.find('\t') == std::string::npos) << place << ": a tab";
    EXPECT_EQ(line.find('\r'), std::string::npos) << place << ": a carriage return";
    EXPECT_TRUE(line.empty() || line.back() != ' ') << place << ": a space at the end";
  });
}

TEST(Text, NothingIsLeftForLater) {
  for_each_line([](const SourceFile&, const std::string& line, const std::string& place) {
    for (const std::string& word : kUnfinishedWords) EXPECT_EQ(line.find(word), std::string::npos) << place << ": " << word;
  });
}

// g++ 12.2 destroys some temporaries of such expressions twice; asynchronous code here uses callbacks.
TEST(Text, NoCoroutines) {
  for_each_line([](const SourceFile& file, const std::string& line, const std::string& place) {
    if (!is_cpp(file)) return;
    for (const std::string& word : kCoroutineWords) EXPECT_EQ(line.find(word), std::string::npos) << place << ": " << word;
  });
}

// Files of a folder are compiled together in unity builds; a benchmark is a program of one file.
TEST(Text, NoNamespaceIsImportedAtFileLevel) {
  for_each_line([](const SourceFile& file, const std::string& line, const std::string& place) {
    const bool alone = file.path.starts_with("benchmarks/");
    EXPECT_FALSE(!alone && is_cpp(file) && line.starts_with("using namespace ")) << place;
  });
}

}  // namespace tuneband::style

// What can be checked of the style by reading lines.
#include <gtest/gtest.h>

#include <algorithm>

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

// A definition that is not indented begins with a line that ends in "{" and closes with a line that begins with "}".
bool opens_function(const std::string& line) {
  const bool not_indented = !line.empty() && line.front() != ' ' && line.front() != '}';
  return not_indented && line.ends_with('{') && line.find('(') != std::string::npos;
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
  for (const SourceFile& file : source_tree()) {
    std::size_t begin = 0;  // 1 + the index of the line that opened a function; 0 outside
    for (std::size_t i = 0; is_cpp(file) && i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      if (begin == 0 && opens_function(line)) begin = i + 1;
      if (begin == 0 || !line.starts_with('}')) continue;
      EXPECT_LE(i - begin, kFunctionLinesMax) << file.path << ":" << begin << ": " << file.lines[begin - 1];
      begin = 0;
    }
  }
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

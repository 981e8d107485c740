// What the documents name is there: files, links, tests.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "tests/style/source_tree.hpp"

namespace tuneband::style {

namespace {

namespace fs = std::filesystem;

struct Document {
  fs::path path;
  std::string text;
};

std::vector<Document> documents() {
  const fs::path root = TUNEBAND_SOURCE_DIR;
  std::vector<fs::path> paths{root / "README.md", root / "ARCHITECTURE.md", root / "CONTRIBUTING.md"};
  for (const auto& entry : fs::directory_iterator(root / "docs")) {
    if (entry.path().extension() == ".md") paths.push_back(entry.path());
  }
  std::vector<Document> all;
  for (const fs::path& path : paths) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    all.push_back({path, text.str()});
  }
  return all;
}

// The first group of each match of `pattern`.
std::vector<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), expression), end; match != end; ++match) found.push_back((*match)[1]);
  return found;
}

// "Suite" and "Suite.Name" of every test.
std::set<std::string> names_of_tests() {
  static const std::regex kDefinition(R"(^(?:TYPED_)?TEST(?:_[FP])?\((\w+), *(\w+)\))");
  std::set<std::string> names;
  for (const SourceFile& file : source_tree()) {
    if (!file.path.starts_with("tests/")) continue;
    for (const std::string& line : file.lines) {
      std::smatch match;
      if (!line.starts_with("T") || !std::regex_search(line, match, kDefinition)) continue;
      names.insert(match[1]);
      names.insert(match[1].str() + "." + match[2].str());
    }
  }
  return names;
}

}  // namespace

TEST(Docs, LinksLeadToFilesThatAreThere) {
  for (const Document& document : documents()) {
    for (const std::string& link : matches(document.text, R"(\]\(([^)#:]+)(?:#[^)]*)?\))")) {
      EXPECT_TRUE(fs::exists(document.path.parent_path() / link)) << document.path << ": " << link;
    }
  }
}

TEST(Docs, ScriptsAndTestFoldersThatAreNamedAreThere) {
  for (const Document& document : documents()) {
    for (const std::string& named : matches(document.text, R"([` ./]((?:scripts|tests|examples)/[a-z0-9_./-]*[a-z0-9]))")) {
      EXPECT_TRUE(fs::exists(fs::path(TUNEBAND_SOURCE_DIR) / named)) << document.path << ": " << named;
    }
  }
}

TEST(Docs, TestsThatAreNamedExist) {
  const std::set<std::string> names = names_of_tests();
  for (const Document& document : documents()) {
    for (const std::string& test : matches(document.text, R"(`([A-Z]\w*Test(?:\.\w+)?|[A-Z]\w+\.[A-Z]\w+)`)")) {
      EXPECT_TRUE(names.contains(test)) << document.path << ": there is no test " << test;
    }
    for (const std::string& suite : matches(document.text, R"(`([A-Z]\w+)` tests)")) {
      EXPECT_TRUE(names.contains(suite)) << document.path << ": there are no tests " << suite;
    }
  }
}

}  // namespace tuneband::style

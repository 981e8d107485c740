// What the documents name is there: files, links, tests.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "tests/style/source_tree.hpp"
#include "tests/text_files.hpp"

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
  for (const fs::path& path : paths) all.push_back({path, test::read_text(path)});
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

// The code spans in the last column of the tables whose heading for it is one of these.
std::vector<std::string> spans_of_column(const std::string& text, const std::set<std::string>& headings) {
  std::istringstream lines(text);
  std::vector<std::string> spans;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| ") || !line.ends_with(" |")) {
      inside = inside && line.starts_with("|---");
      continue;
    }
    const std::size_t bar = line.rfind(" | ");
    const std::string last = line.substr(bar + 3, line.size() - bar - 5);
    if (headings.contains(last)) {
      inside = true;
    } else if (inside) {
      for (const std::string& span : matches(last, "`([^`]+)`")) spans.push_back(span);
    }
  }
  return spans;
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

// A test, a script of the scheduler's or a program of the repository.
TEST(Docs, WhatATableNamesAsItsProofIsThere) {
  const std::set<std::string> names = names_of_tests();
  const fs::path root = TUNEBAND_SOURCE_DIR;
  int proofs = 0;
  for (const Document& document : documents()) {
    for (const std::string& named : spans_of_column(document.text, {"proved by", "shown by"})) {
      ++proofs;
      const bool there = names.contains(named) || fs::exists(root / "tests/scheduler/scripts" / named) ||
                         (named.find('/') != std::string::npos && fs::exists(root / named));
      EXPECT_TRUE(there) << document.path << ": there is no " << named;
    }
  }
  EXPECT_GT(proofs, 50);
}

}  // namespace tuneband::style

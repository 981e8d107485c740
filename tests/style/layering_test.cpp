// Reads the includes of every file and holds them against the table of ARCHITECTURE.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/style/source_tree.hpp"

namespace tuneband::style {

namespace {

// Folder -> folders that it may include from, itself aside.
const std::map<std::string, std::set<std::string>> kMayUse = {
    {"core", {}},
    {"os", {"core"}},
    {"net", {"core"}},
    {"command_line", {"core"}},
    {"search_spaces", {"core"}},
    {"debugger", {"core"}},
    {"debugger/rules", {"debugger", "core"}},
    {"debugger/files", {"debugger", "os", "core"}},
    {"scheduler", {"scheduler/policies", "search_spaces", "debugger", "core"}},
    {"scheduler/policies", {"scheduler", "core"}},
    {"jobs", {"scheduler", "search_spaces", "core"}},
    {"simulator", {"jobs", "scheduler", "debugger", "search_spaces", "core"}},
    {"db", {"scheduler", "os", "core"}},
    {"analytics", {"db", "jobs", "scheduler", "search_spaces", "core"}},
    {"workers/protocol", {"debugger", "os", "core"}},
    {"workers",
     {"jobs", "scheduler", "debugger", "debugger/files", "workers/protocol", "workers/command", "workers/data",
      "workers/preflight", "command_line", "net", "os", "core"}},
    {"workers/command", {"workers", "jobs", "workers/protocol", "debugger", "debugger/files", "net", "os", "core"}},
    {"workers/data", {"workers", "jobs", "workers/xgboost", "workers/protocol", "os", "core"}},
    {"workers/preflight", {"jobs", "workers/command", "workers/data", "net", "os", "core"}},
    {"workers/xgboost", {"workers", "jobs", "scheduler", "workers/data", "workers/protocol", "os", "core"}},
    {"server",
     {"server/api", "server/data", "server/http", "server/local", "jobs", "scheduler", "db", "workers/protocol", "command_line",
      "net", "os", "core"}},
    {"server/api",
     {"server", "server/data", "server/http", "server/local", "analytics", "db", "jobs", "scheduler", "debugger",
      "debugger/files", "workers/protocol", "net", "os", "core"}},
    {"server/data", {"server", "db", "scheduler", "workers/protocol", "command_line", "os", "core"}},
    {"server/http", {"server", "net", "core"}},
    {"server/local", {"server", "server/data", "workers/protocol", "os", "core"}},
    {"cli", {"cli/program", "command_line", "os", "core"}},
    {"cli/client", {"cli", "net", "os", "core"}},
    {"cli/commands",
     {"cli", "cli/client", "cli/doctor", "cli/report", "cli/terminal", "debugger", "debugger/files", "simulator", "jobs",
      "scheduler", "os", "core"}},
    {"cli/doctor", {"cli", "cli/client", "net", "os", "core"}},
    {"cli/program", {"cli/client", "cli/commands", "scheduler", "simulator", "command_line", "core"}},
    {"cli/report", {"cli", "core"}},
    {"cli/terminal", {"cli", "cli/client", "core"}},
};

const std::set<std::string> kPureFolders = {"core",      "search_spaces",      "debugger", "debugger/rules",
                                            "scheduler", "scheduler/policies", "jobs"};

// Files that are pure, of folders that are not: without ".hpp" and ".cpp".
const std::set<std::string> kPureFiles = {"server/http/access", "server/http/request_rules", "server/tracker_machine"};

bool is_pure(const SourceFile& file) {
  return is_cpp(file) &&
         (kPureFolders.contains(folder_of(file.path)) || kPureFiles.contains(file.path.substr(0, file.path.rfind('.'))));
}

// What a pure folder has no use for: sockets, files, clocks, threads, the library's random numbers. <chrono> has the calendar
// too, so its clocks are looked for in the text.
const std::vector<std::string> kImpure = {
    "boost/asio", "boost/beast", "sqlite3.h", "thread",  "mutex",   "shared_mutex", "condition_variable",
    "future",     "atomic",      "random",    "fstream", "ctime",   "time.h",       "filesystem",
    "unistd.h",   "sys/",        "netinet/",  "fcntl.h", "spawn.h", "csignal",      "signal.h",
    "iostream",   "spdlog",      "xgboost",
};
constexpr std::string_view kClock = "_clock::";

// A path as a text is pure; what asks the disk is not.
bool is_impure(const std::string& include, const std::string& folder) {
  if (folder == "jobs" && include == "filesystem") return false;
  return std::any_of(kImpure.begin(), kImpure.end(), [&](const std::string& banned) {
    if (include == banned) return true;
    const bool whole_folder =
        banned.ends_with('/') || banned.find('/') != std::string::npos || banned == "spdlog" || banned == "xgboost";
    return whole_folder && include.starts_with(banned);
  });
}

std::string place(const SourceFile& file, const Include& include) { return file.path + ":" + std::to_string(include.line); }

}  // namespace

TEST(Layering, IncludesPointOnlyWhereTheArchitectureAllows) {
  for (const SourceFile& file : source_tree()) {
    const auto rule = kMayUse.find(folder_of(file.path));
    if (!is_cpp(file) || rule == kMayUse.end()) continue;
    for (const Include& include : includes_of(file)) {
      if (include.angled) continue;
      const std::string folder = folder_of(include.path);
      const bool allowed = folder == rule->first || rule->second.contains(folder);
      EXPECT_TRUE(allowed) << place(file, include) << ": " << rule->first << " may not include " << include.path;
    }
  }
}

TEST(Layering, WhatTheArchitectureAllowsIsUsed) {
  std::map<std::string, std::set<std::string>> used;
  for (const SourceFile& file : source_tree()) {
    if (!is_cpp(file)) continue;
    for (const Include& include : includes_of(file)) {
      if (!include.angled) used[folder_of(file.path)].insert(folder_of(include.path));
    }
  }
  for (const auto& [folder, others] : kMayUse) {
    for (const std::string& other : others)
      EXPECT_TRUE(used[folder].contains(other)) << folder << " includes nothing from " << other << ": take it out";
  }
}

TEST(Layering, EveryFolderOfCodeHasARule) {
  for (const SourceFile& file : source_tree()) {
    const std::string folder = folder_of(file.path);
    const bool ruled_elsewhere =
        folder.starts_with("tests") || folder.starts_with("benchmarks") || folder.starts_with("examples");
    if (!is_cpp(file) || ruled_elsewhere) continue;
    EXPECT_TRUE(kMayUse.contains(folder)) << file.path << ": give " << folder << " a row in ARCHITECTURE.md and here";
  }
}

TEST(Layering, PureFoldersAndFilesKnowNoSocketFileClockThreadOrRandomDevice) {
  for (const SourceFile& file : source_tree()) {
    if (!is_pure(file)) continue;
    for (const Include& include : includes_of(file)) {
      EXPECT_FALSE(is_impure(include.path, folder_of(file.path)))
          << place(file, include) << ": it is pure, but includes " << include.path;
    }
    for (std::size_t line = 0; line < file.lines.size(); ++line) {
      const bool reads_a_clock = file.lines[line].find(kClock) != std::string::npos;
      const auto disk = file.lines[line].find("filesystem::");
      EXPECT_TRUE(disk == std::string::npos || file.lines[line].compare(disk, 16, "filesystem::path") == 0)
          << file.path << ":" << line + 1 << ": it is pure, but asks the disk";
      EXPECT_FALSE(reads_a_clock) << file.path << ":" << line + 1 << ": it is pure, but has a clock";
    }
  }
}

TEST(Layering, OnlyTheWorkersKnowXgboostAndOnlyTheDatabaseKnowsSqlite) {
  for (const SourceFile& file : source_tree()) {
    const std::string folder = folder_of(file.path);
    if (!is_cpp(file) || !kMayUse.contains(folder)) continue;
    for (const Include& include : includes_of(file)) {
      const bool xgboost = include.path.starts_with("xgboost/");
      EXPECT_TRUE(!xgboost || folder == "workers/xgboost")
          << place(file, include) << ": only workers/xgboost may include " << include.path;
      const bool sqlite = include.path == "sqlite3.h";
      EXPECT_TRUE(!sqlite || folder == "db") << place(file, include) << ": only db may include " << include.path;
    }
  }
}

TEST(Layering, OwnFilesAreIncludedFromTheRootAndHeadersOnce) {
  for (const SourceFile& file : source_tree()) {
    if (!is_cpp(file)) continue;
    const bool may_be_local = !kMayUse.contains(folder_of(file.path));  // a helper beside a test
    for (const Include& include : includes_of(file)) {
      if (include.angled || may_be_local) continue;
      EXPECT_NE(include.path.find('/'), std::string::npos)
          << place(file, include) << ": include " << include.path << " from the root";
    }
    if (file.path.ends_with(".hpp")) {
      const bool once = std::find(file.lines.begin(), file.lines.end(), "#pragma once") != file.lines.end();
      EXPECT_TRUE(once) << file.path << ": #pragma once is missing";
    }
  }
}

}  // namespace tuneband::style

// The repository's own files, as the style tests read them.
#pragma once

#include <string>
#include <vector>

namespace tuneband::style {

struct SourceFile {
  std::string path;                // from the root, "scheduler/plan.cpp"
  std::vector<std::string> lines;  // without line ends
};

struct Include {
  std::string path;  // as written
  bool angled = false;
  std::size_t line = 0;  // from 1
};

// Below every folder but docs, scripts among them; nothing that a build made.
std::vector<SourceFile> source_tree();

// The dashboard's, in TypeScript.
std::vector<SourceFile> dashboard_sources();

std::vector<Include> includes_of(const SourceFile& file);

// The folder that a file or an include belongs to: "core", "scheduler", "workers/protocol", "tests/cli"...
std::string folder_of(const std::string& path);

bool is_cpp(const SourceFile& file);

}  // namespace tuneband::style

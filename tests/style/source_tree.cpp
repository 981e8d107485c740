#include "tests/style/source_tree.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace tuneband::style {

namespace fs = std::filesystem;

namespace {

const char* const kExtensions[] = {".cpp", ".hpp", ".cmake", ".sql", ".py", ".sh", ".txt", ".in", ""};
const char* const kDashboardExtensions[] = {".ts", ".tsx"};

template <std::size_t size>
bool is_one_of(const std::string& extension, const char* const (&extensions)[size]) {
  return std::find(std::begin(extensions), std::end(extensions), extension) != std::end(extensions);
}

bool is_source(const fs::path& path) {
  return is_one_of(path.extension().string(), kExtensions) &&
         (path.extension() != ".txt" || path.filename() == "CMakeLists.txt") && path.filename().string().front() != '.';
}

std::vector<std::string> read_lines(const fs::path& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(std::move(line));
  return lines;
}

// All but what a build made, texts for people, and what is not of the sources: a new room of the house is seen without being
// listed.
bool holds_sources(const fs::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  return entry.is_directory() && name.front() != '.' && name != "docs" && !name.starts_with("build");
}

}  // namespace

std::vector<SourceFile> dashboard_sources() {
  const fs::path root = TUNEBAND_SOURCE_DIR;
  std::vector<SourceFile> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "dashboard/src")) {
    const fs::path& path = entry.path();
    if (!is_one_of(path.extension().string(), kDashboardExtensions)) continue;
    files.push_back({path.lexically_relative(root).string(), read_lines(path)});
  }
  return files;
}

std::vector<SourceFile> source_tree() {
  const fs::path root = TUNEBAND_SOURCE_DIR;
  std::vector<SourceFile> files{{"CMakeLists.txt", read_lines(root / "CMakeLists.txt")}};
  for (const fs::directory_entry& folder : fs::directory_iterator(root)) {
    if (!holds_sources(folder)) continue;
    for (fs::recursive_directory_iterator entry(folder.path()), end; entry != end; ++entry) {
      const fs::path& path = entry->path();
      if (path.filename() == "node_modules") entry.disable_recursion_pending();  // others' sources
      if (!entry->is_regular_file() || !is_source(path)) continue;
      files.push_back({path.lexically_relative(root).string(), read_lines(path)});
    }
  }
  return files;
}

std::vector<Include> includes_of(const SourceFile& file) {
  std::vector<Include> includes;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const std::string& line = file.lines[i];
    if (!line.starts_with("#include")) continue;
    const auto begin = line.find_first_of("<\"");
    if (begin == std::string::npos) continue;
    const auto end = line.find(line[begin] == '<' ? '>' : '"', begin + 1);
    if (end == std::string::npos) continue;
    includes.push_back({line.substr(begin + 1, end - begin - 1), line[begin] == '<', i + 1});
  }
  return includes;
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

bool is_cpp(const SourceFile& file) { return file.path.ends_with(".cpp") || file.path.ends_with(".hpp"); }

}  // namespace tuneband::style

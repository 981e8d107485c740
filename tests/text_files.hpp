// Files that are written and read whole.
#pragma once

#include <fstream>
#include <sstream>
#include <string>

namespace tuneband::test {

inline std::string read_text(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void write_text(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

}  // namespace tuneband::test

// A directory for the time of a command, gone with all that is in it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "os/tree.hpp"

namespace tuneband::os {

class TemporaryDir {
 public:
  // Below $TMPDIR or /tmp; `name` begins its name.
  explicit TemporaryDir(const std::string& name) {
    std::error_code error;
    std::string pattern = (std::filesystem::temp_directory_path(error) / (name + "-XXXXXX")).string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~TemporaryDir() {
    std::error_code ignored;
    if (!path_.empty()) remove_tree(path_, ignored);
  }
  TemporaryDir(const TemporaryDir&) = delete;
  TemporaryDir& operator=(const TemporaryDir&) = delete;
  const std::string& path() const { return path_; }  // "": none could be made

 private:
  std::string path_;
};

}  // namespace tuneband::os

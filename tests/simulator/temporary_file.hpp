// Files that are there as long as the test that wrote them.
#pragma once

#include <zlib.h>

#include <string>

#include "tests/temporary_directory.hpp"

namespace tuneband::test {

class TemporaryFiles : public TemporaryDirectory {
 public:
  std::string write_gzip(const std::string& name, const std::string& text) const {
    const std::string path = *this / name;
    gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    return path;
  }
};

}  // namespace tuneband::test

// Runs a Python program as a user of the files in clients/python has it.
#pragma once

#include <fstream>
#include <string>

#include "tests/run_program.hpp"

namespace tuneband::test {

// What it printed, errors included. `path`: where it is written.
inline std::string run_python(const std::string& path, const std::string& script) {
  std::ofstream(path) << "import sys\nsys.path.insert(0, '" TUNEBAND_SOURCE_DIR
                         "/clients/python')\nsys.dont_write_bytecode = True\n"
                      << script;
  return run_program("/usr/bin/python3 " + path + " 2>&1").output;
}

}  // namespace tuneband::test

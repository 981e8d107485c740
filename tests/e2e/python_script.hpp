// Runs a Python program as a user of the files in clients/python has it.
#pragma once

#include <cstdio>
#include <fstream>
#include <string>

namespace tuneband::test {

// What it printed, errors included. `path`: where it is written.
inline std::string run_python(const std::string& path, const std::string& script) {
  std::ofstream(path) << "import sys\nsys.path.insert(0, '" TUNEBAND_SOURCE_DIR
                         "/clients/python')\nsys.dont_write_bytecode = True\n"
                      << script;
  std::string printed;
  FILE* pipe = ::popen(("/usr/bin/python3 " + path + " 2>&1").c_str(), "r");
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) printed += static_cast<char>(c);
  ::pclose(pipe);
  return printed;
}

}  // namespace tuneband::test

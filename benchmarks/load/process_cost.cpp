#include "benchmarks/load/process_cost.hpp"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace tuneband::bench {

namespace {

double status_mb(std::int64_t pid, const std::string& field) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(field)) return std::stod(line.substr(field.size())) / 1024;
  }
  return 0;
}

}  // namespace

double cpu_seconds_of(std::int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  std::istringstream words(text.substr(text.rfind(')') + 2));
  std::string ignored;
  for (int field = 3; field < 14; ++field) words >> ignored;
  double user = 0;
  double system = 0;
  words >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double memory_mb_of(std::int64_t pid) { return status_mb(pid, "VmRSS:"); }
double memory_peak_mb_of(std::int64_t pid) { return status_mb(pid, "VmHWM:"); }

}  // namespace tuneband::bench

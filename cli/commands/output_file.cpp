#include "cli/commands/output_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace tuneband::cli {

Outcome<void> write_file(const std::string& path, const std::function<Outcome<void>(const Sink&)>& write) {
  const std::string unfinished = path + ".part";
  std::ofstream file(unfinished, std::ios::binary | std::ios::trunc);
  if (!file) return bad_input("cannot be written: " + std::string(std::strerror(errno)), path, "is its directory there?");
  const auto written = write([&](std::string_view piece) { return (file << piece).good(); });
  file.close();
  if (!written) {
    std::remove(unfinished.c_str());
    return written.error();
  }
  if (file.fail() || std::rename(unfinished.c_str(), path.c_str()) != 0) {
    const std::string reason = std::strerror(errno);
    std::remove(unfinished.c_str());
    return bad_input("cannot be written: " + reason, path);
  }
  return {};
}

}  // namespace tuneband::cli

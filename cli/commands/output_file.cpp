#include "cli/commands/output_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "os/atomic_file.hpp"

namespace tuneband::cli {

namespace {

namespace fs = std::filesystem;

// A device or a pipe is written to as it stands.
bool is_to_be_kept(const std::string& path) {
  std::error_code none;
  const fs::file_status there = fs::status(path, none);
  return fs::exists(there) && !fs::is_regular_file(there) && !fs::is_directory(there);
}

Outcome<void> write_into(const std::string& path, const std::function<Outcome<void>(const Sink&)>& write) {
  std::ofstream file(path, std::ios::binary);
  const auto written = write([&](std::string_view piece) { return static_cast<bool>(file << piece); });
  if (!written) return written.error();
  if (file << std::flush) return {};
  return bad_input("cannot be written: " + std::string(std::strerror(errno)), path);
}

// The file that a link leads to, so that the link stays.
std::string behind_links(const std::string& path) {
  std::error_code none;
  const fs::path found = fs::is_symlink(path, none) ? fs::canonical(path, none) : fs::path();
  return found.empty() ? path : found.string();
}

}  // namespace

Outcome<void> apart_from_inputs(const std::string& output, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code none;
    if (!fs::is_regular_file(input, none) || !fs::equivalent(output, input, none)) continue;
    return bad_input((output == input ? "is also read" : "is " + input + ", which is read") + ": it would be written over",
                     output, "write another file");
  }
  return {};
}

// A file's other name by a hard link is another output: each is given a file of its own.
Outcome<void> apart_from_output(const std::string& output, const std::string& other) {
  std::error_code none;
  const auto place = [&none](const std::string& path) { return fs::weakly_canonical(fs::absolute(path, none), none); };
  if (output.empty() || is_to_be_kept(output) || place(output) != place(other)) return {};
  return bad_input("is written twice: what is written first would be lost", output, "name two files");
}

Outcome<void> write_file(const std::string& path, const std::function<Outcome<void>(const Sink&)>& write) {
  if (is_to_be_kept(path)) return write_into(path, write);
  os::AtomicFile file(behind_links(path));
  if (!file.is_open())
    return bad_input("cannot be written: " + std::string(std::strerror(errno)), path, "is its directory there?");
  int why = 0;
  const auto written = write([&](std::string_view piece) {
    const bool taken = file.write(piece);
    if (!taken) why = errno;
    return taken;
  });
  if (!written) return written.error();
  if (why == 0 && file.commit()) return {};
  return bad_input("cannot be written: " + std::string(std::strerror(why != 0 ? why : errno)), path);
}

Outcome<void> write_file(const std::string& path, std::string_view text) {
  return write_file(path, [text](const Sink& sink) {
    sink(text);  // what is wrong with the file is told when it ends
    return Outcome<void>();
  });
}

}  // namespace tuneband::cli

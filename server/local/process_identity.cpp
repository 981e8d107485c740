#include "server/local/process_identity.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "core/json.hpp"
#include "os/file_text.hpp"
#include "os/pidfd.hpp"

namespace tuneband::server {
namespace {

constexpr int kStartTimeField = 22;  // of /proc/<pid>/stat, counted from 1 (proc(5))
constexpr int kFieldAfterName = 3;

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The second field is the program's name in brackets and may itself hold blanks and brackets: the rest starts after the last ')'.
std::optional<std::uint64_t> start_ticks(std::int64_t pid) {
  const std::string line = first_line("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(name_end + 1));
  std::string skipped;
  for (int field = kFieldAfterName; field < kStartTimeField; ++field) fields >> skipped;
  std::uint64_t ticks = 0;
  return fields >> ticks ? std::optional(ticks) : std::nullopt;
}

std::string boot_id() { return first_line("/proc/sys/kernel/random/boot_id"); }

// A program that was replaced on disk while it runs shows as "name (deleted)".
std::string program_of(std::int64_t pid) {
  std::error_code error;
  std::string name = std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", error).filename().string();
  const std::size_t deleted = name.find(" (deleted)");
  return deleted == std::string::npos ? name : name.substr(0, deleted);
}

}  // namespace

RecordedProcess identify_process(pid_t pid, std::vector<std::string> arguments) {
  return {pid, start_ticks(pid).value_or(0), boot_id(), program_of(pid), std::move(arguments), "", TUNEBAND_VERSION};
}

Result<void> write_recorded_process(const std::string& file, const RecordedProcess& recorded) {
  const Json json = {{"pid", recorded.pid},         {"start_ticks", recorded.start_ticks}, {"boot_id", recorded.boot_id},
                     {"program", recorded.program}, {"arguments", recorded.arguments},     {"worker_id", recorded.worker_id},
                     {"version", recorded.version}};
  return os::replace_file(file, json.dump() + "\n");
}

std::optional<RecordedProcess> read_recorded_process(const std::string& file) {
  const std::optional<std::string> text = os::read_small_file(file);
  if (!text) return std::nullopt;
  const Result<Json> json = parse_json(*text);
  if (!json) return std::nullopt;
  Diagnostics faults;
  ObjectReader reader(*json, "", faults);
  RecordedProcess recorded;
  recorded.pid = reader.integer_or("pid", 0, {1, 1LL << 31});
  recorded.start_ticks = static_cast<std::uint64_t>(reader.integer_or("start_ticks", 0, {0}));
  recorded.boot_id = reader.text_or("boot_id", "");
  recorded.program = reader.text_or("program", "");
  recorded.worker_id = reader.text_or("worker_id", "", {0, 1000});
  recorded.version = reader.text_or("version", "");
  if (const Json* arguments = reader.require("arguments"); arguments != nullptr && arguments->is_array()) {
    for (const Json& argument : *arguments) recorded.arguments.push_back(argument.is_string() ? argument.get<std::string>() : "");
  }
  return faults.ok() && recorded.pid > 0 ? std::optional(recorded) : std::nullopt;
}

// The pidfd is taken first: what is compared after that is the process it stands for, or that process is gone and the comparison
// fails or the pidfd reports its end at once.
int open_if_same_process(const RecordedProcess& recorded) {
  const int pidfd = ::pidfd_open(static_cast<pid_t>(recorded.pid), 0);
  if (pidfd < 0) return -1;
  const bool same = boot_id() == recorded.boot_id && start_ticks(recorded.pid) == recorded.start_ticks &&
                    program_of(recorded.pid) == recorded.program;
  if (same) return pidfd;
  ::close(pidfd);
  return -1;
}

}  // namespace tuneband::server

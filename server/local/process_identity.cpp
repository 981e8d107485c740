#include "server/local/process_identity.hpp"

#include <filesystem>
#include <utility>

#include "core/json.hpp"
#include "os/file_text.hpp"
#include "os/pidfd.hpp"
#include "os/process_table.hpp"

namespace tuneband::server {
namespace {

std::uint64_t start_ticks(std::int64_t pid) {
  const auto process = os::read_process(static_cast<pid_t>(pid));
  return process ? process->started : 0;
}

std::string boot_id() {
  const std::string text = os::read_small_file("/proc/sys/kernel/random/boot_id").value_or("");
  return text.substr(0, text.find('\n'));
}

std::string program_name(std::int64_t pid) {
  return std::filesystem::path(os::program_of(static_cast<pid_t>(pid))).filename().string();
}

}  // namespace

RecordedProcess identify_process(pid_t pid, std::vector<std::string> arguments) {
  return {pid, start_ticks(pid), boot_id(), program_name(pid), std::move(arguments), "", TUNEBAND_VERSION};
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
  if (const Json* arguments = reader.require("arguments", "an array of texts"); arguments != nullptr && arguments->is_array()) {
    for (const Json& argument : *arguments) recorded.arguments.push_back(argument.is_string() ? argument.get<std::string>() : "");
  }
  return faults.ok() && recorded.pid > 0 ? std::optional(recorded) : std::nullopt;
}

// The pidfd is taken first: what is compared after that is the process it stands for, or that process is gone and the comparison
// fails or the pidfd reports its end at once.
os::UniqueFd open_if_same_process(const RecordedProcess& recorded) {
  os::UniqueFd pidfd = os::open_pidfd(static_cast<pid_t>(recorded.pid));
  const bool same = pidfd && boot_id() == recorded.boot_id && start_ticks(recorded.pid) == recorded.start_ticks &&
                    program_name(recorded.pid) == recorded.program;
  return same ? std::move(pidfd) : os::UniqueFd();
}

}  // namespace tuneband::server

// Finding a process again that an earlier run of this program started, without mistaking another that got its pid.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "os/unique_fd.hpp"

namespace tuneband::server {

struct RecordedProcess {
  std::int64_t pid = 0;
  std::uint64_t start_ticks = 0;  // since boot, as in /proc/<pid>/stat
  std::string boot_id;            // ticks count from there
  std::string program;            // file name
  std::vector<std::string> arguments;
  std::string worker_id;  // under which it syncs; "": not known yet
  std::string version;    // of the server that started it
};

// Of a process that runs now. Its program's name comes from the system: for a script it is the interpreter's.
RecordedProcess identify_process(pid_t pid, std::vector<std::string> arguments);

Result<void> write_recorded_process(const std::string& file, const RecordedProcess& recorded);
std::optional<RecordedProcess> read_recorded_process(const std::string& file);

// A pidfd when the recorded process still runs; else empty.
os::UniqueFd open_if_same_process(const RecordedProcess& recorded);

}  // namespace tuneband::server

// The checks of `tuneband doctor`: each looks at one thing and says what it found, and what to do where that is not right. Each
// is over in seconds, whatever it meets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.hpp"

namespace tuneband::cli {

struct CheckResult {
  enum class Level { ok, note, problem };
  Level level = Level::ok;
  std::string what;    // "XGBoost"
  std::string found;   // "a job of two trials trained in 0.4 s"
  std::string advice;  // what to do; "" when all is well
};

std::string_view to_string(CheckResult::Level level);

// `program` is there, starts, and is of this version.
CheckResult check_program(const std::string& program);

// Cores and memory, as the machine and the control group give them, against `workers` of `threads` each.
struct Machine {
  double cores = 0;
  double memory_mb = 0;  // of all that may be used; 0: unknown
};
Machine this_machine();
CheckResult check_machine(const Machine& machine, int workers, int threads);

// OMP_* variables that the workers would inherit.
CheckResult check_openmp(const Machine& machine);

// Writable, with room, on a file system that SQLite's log works on. Also one that is not there yet.
CheckResult check_data_dir(const std::string& data_dir);
// What is known of a file system by its magic number (statfs(2)).
struct FileSystem {
  enum class Kind {
    local,
    memory,
    network,  // SQLite's log does not work there
    unsure,   // it may not
  };
  std::string name;
  Kind kind = Kind::unsure;
};
FileSystem file_system_of(std::uint64_t magic);
// What is left of it.
struct Room {
  double bytes = 0;
  std::optional<double> files;  // nothing: as many as there are bytes for
};
CheckResult check_room(const std::string& directory, const FileSystem& system, const Room& room);

// What `tuneband-server --check` says of the database in the data directory, if there is one. Reads all of it.
CheckResult check_database(const std::string& server_program, const std::string& data_dir);

CheckResult check_open_files();

// Whether a tuneband-server answers at `url`, to whom shows `token`, and of which version; else whether its port is free.
CheckResult check_server(const std::string& url, const std::string& token = "");

// A job of two trials on a private server, from the file to the model.
CheckResult check_training(const std::string& server_program);

// Instead of a check that needs a program which is not well.
CheckResult not_looked_at(const std::string& what, const std::string& without);

Json to_json(const std::vector<CheckResult>& results);

}  // namespace tuneband::cli

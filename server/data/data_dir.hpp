// The server's directory: what is where, and the lock that keeps a second server out.
//
//   <root>/tuneband.db             SQLite (with -wal and -shm)
//   <root>/lock                    flock'ed while a server runs
//   <root>/server.json             {"url", "pid", "port"} of the server that runs, or ran last
//   <root>/jobs/<id>/trials/<n>/   a trial's log, checkpoints and model (workers/protocol/sync.hpp names them)
//   <root>/workers/local-<i>.log   what a local worker printed; .json: its pid and start time
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/ids.hpp"
#include "os/unique_fd.hpp"

namespace tuneband::server {

struct ServerAddress {
  std::string url;
  std::int64_t pid = 0;
  std::uint16_t port = 0;
};

inline constexpr const char* kTrialsDir = "trials";  // in a job's directory: its trials', by number

class DataDir {
 public:
  // Makes the directory (mode 0700) where it is missing and takes its lock. Errors: not a directory, not writable, `unavailable`
  // when there is no room for it, or `conflict` when another server holds the lock.
  static Result<DataDir> open(const std::string& path);
  // Neither makes nor locks anything: for looking only. `database`: a copy to read instead of its own; "": none. Error:
  // `not_found`.
  static Result<DataDir> look_at(const std::string& path, std::string database = {});

  // Takes the lock anew when its file was removed or replaced meanwhile. Errors: `conflict` when another server holds it by now,
  // or the file cannot be made.
  Result<void> keep_lock();

  // Whether a server holds its lock now.
  bool is_served() const;

  const std::string& root() const { return root_; }  // absolute
  std::string database_file() const;
  std::string unfinished_database_file() const;  // of a backup until all of it is there
  std::string jobs_dir() const;
  std::vector<JobId> job_dirs() const;  // those that are there, in no order
  std::string job_dir(JobId job) const;
  std::string trial_dir(TrialId trial) const;
  std::string worker_log(const std::string& worker_name) const;
  std::string worker_file(const std::string& worker_name) const;
  std::string server_file() const;

  std::optional<ServerAddress> read_server_address() const;
  Result<void> write_server_address(const ServerAddress& address) const;

 private:
  DataDir(std::string root, os::UniqueFd lock) : root_(std::move(root)), lock_(std::move(lock)) {}

  std::string root_;
  os::UniqueFd lock_;           // held as long as this lives
  std::string other_database_;  // "": root_ has it
};

}  // namespace tuneband::server

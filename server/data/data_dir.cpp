#include "server/data/data_dir.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "core/decimal.hpp"
#include "core/json.hpp"
#include "core/port_number.hpp"
#include "os/file_text.hpp"

namespace tuneband::server {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kLockPatience{500};
constexpr std::chrono::milliseconds kLockRetry{10};

constexpr const char* kOfAnotherUser =
    "the data directory and all in it must be of the user that the server runs as: start it as that user, or chown -R";

Error cannot(const std::string& what, const std::string& path, const std::string& why, std::string hint = {}) {
  return {ErrorCode::invalid_argument, "cannot " + what + " " + path + ": " + why, "", std::move(hint)};
}

// What the system refused.
Error cannot(const std::string& what, const std::string& path, int why, std::string hint = {}) {
  Error error = cannot(what, path, std::strerror(why), std::move(hint));
  if (os::is_want_of_room(why)) error = {ErrorCode::unavailable, std::move(error.message), "", "make room on the disk"};
  return error;
}

Result<void> make_private_dir(const std::string& path) {
  std::error_code error;
  const fs::path parent = fs::path(path).parent_path();
  if (!parent.empty()) fs::create_directories(parent, error);
  if (error) return cannot("make the directory", parent.string(), error.value());
  if (::mkdir(path.c_str(), 0700) == 0) return {};
  if (errno != EEXIST) return cannot("make the directory", path, errno);
  if (!fs::is_directory(path, error)) return cannot("use", path, "it is not a directory");
  if (::faccessat(AT_FDCWD, path.c_str(), R_OK | W_OK | X_OK, AT_EACCESS) == 0) return {};
  return cannot("write in", path, errno, errno == EACCES ? kOfAnotherUser : "the data directory must be writable");
}

// A server that was killed a moment ago may still hold it: that is waited for.
int lock_with_patience(int fd) {
  const auto end = std::chrono::steady_clock::now() + kLockPatience;
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK || std::chrono::steady_clock::now() > end) return errno;
    std::this_thread::sleep_for(kLockRetry);
  }
  return 0;
}

Result<os::UniqueFd> take_lock(const std::string& file, const std::string& root) {
  os::UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) return cannot("open", file, errno, "the data directory must be writable");
  const int why = lock_with_patience(fd.get());
  if (why == 0) return fd;
  if (why != EWOULDBLOCK) return cannot("lock", file, why);
  return Error{ErrorCode::conflict, "another tuneband-server is running on " + root, "",
               "end it, or name another directory with --data-dir"};
}

std::optional<JobId> job_of_directory(const std::string& name) {
  const auto number = whole_number(name);
  return number && *number > 0 ? std::optional(JobId{*number}) : std::nullopt;
}

std::string absolute_path(const std::string& path) {
  std::error_code error;
  fs::path absolute = fs::absolute(path, error).lexically_normal();
  if (!absolute.has_filename()) absolute = absolute.parent_path();
  return error ? path : absolute.string();
}

}  // namespace

Result<DataDir> DataDir::open(const std::string& path) {
  const std::string root = absolute_path(path);
  for (const std::string& dir : {root, root + "/jobs", root + "/workers"}) {
    if (const Result<void> made = make_private_dir(dir); !made) return made.error();
  }
  Result<os::UniqueFd> lock = take_lock(root + "/lock", root);
  if (!lock) return lock.error();
  return DataDir(root, std::move(*lock));
}

Result<DataDir> DataDir::look_at(const std::string& path, std::string database) {
  const std::string root = absolute_path(path);
  std::error_code error;
  if (!fs::is_directory(root, error))
    return Error{ErrorCode::not_found, "there is no directory " + root, "", "--data-dir names the one that a server has"};
  DataDir found(root, {});
  found.other_database_ = std::move(database);
  return found;
}

bool DataDir::is_served() const {
  const os::UniqueFd fd(::open((root_ + "/lock").c_str(), O_RDONLY | O_CLOEXEC));
  return fd && ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

Result<void> DataDir::keep_lock() {
  struct stat held {};
  struct stat named {};
  const std::string file = root_ + "/lock";
  const bool there = ::fstat(lock_.get(), &held) == 0 && ::stat(file.c_str(), &named) == 0;
  if (there && held.st_dev == named.st_dev && held.st_ino == named.st_ino) return {};
  Result<os::UniqueFd> lock = take_lock(file, root_);
  if (!lock) return lock.error();
  lock_ = std::move(*lock);
  return {};
}

std::string DataDir::database_file() const { return other_database_.empty() ? root_ + "/tuneband.db" : other_database_; }
std::string DataDir::unfinished_database_file() const { return database_file() + ".unfinished"; }
std::string DataDir::jobs_dir() const { return root_ + "/jobs"; }
std::vector<JobId> DataDir::job_dirs() const {
  std::vector<JobId> jobs;
  std::error_code error;
  for (fs::directory_iterator entry(jobs_dir(), error), end; !error && entry != end; entry.increment(error)) {
    if (const std::optional<JobId> job = job_of_directory(entry->path().filename().string())) jobs.push_back(*job);
  }
  return jobs;
}
std::string DataDir::job_dir(JobId job) const { return jobs_dir() + "/" + std::to_string(job.value); }
std::string DataDir::trial_dir(TrialId trial) const {
  return job_dir(trial.job) + "/" + kTrialsDir + "/" + std::to_string(trial.number);
}
std::string DataDir::worker_log(const std::string& worker_name) const { return root_ + "/workers/" + worker_name + ".log"; }
std::string DataDir::worker_file(const std::string& worker_name) const { return root_ + "/workers/" + worker_name + ".json"; }
std::string DataDir::server_file() const { return root_ + "/server.json"; }

std::optional<ServerAddress> DataDir::read_server_address() const {
  const std::optional<std::string> text = os::read_small_file(server_file());
  if (!text) return std::nullopt;
  const Result<Json> json = parse_json(*text);
  if (!json) return std::nullopt;
  Diagnostics faults;
  ObjectReader reader(*json, "", faults);
  ServerAddress address;
  address.url = reader.text_or("url", "");
  address.pid = reader.integer_or("pid", 0);
  address.port = static_cast<std::uint16_t>(reader.integer_or("port", 0, {0, kPortMax}));
  return faults.ok() ? std::optional(address) : std::nullopt;
}

Result<void> DataDir::write_server_address(const ServerAddress& address) const {
  return os::replace_file(server_file(), Json{{"url", address.url}, {"pid", address.pid}, {"port", address.port}}.dump() + "\n");
}

}  // namespace tuneband::server

#include <cstdio>
#include <filesystem>
#include <string>

#include "db/connection.hpp"
#include "db/row_columns.hpp"
#include "server/app.hpp"
#include "server/data_dir.hpp"

namespace tuneband::server {
namespace {

namespace fs = std::filesystem;

struct Copied {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

// What is removed meanwhile was not needed any more: those trials have ended. Other failures are told.
void copy_file(const fs::path& from, const fs::path& to, Copied& copied) {
  std::error_code error;
  fs::copy_file(from, to, error);
  if (error && fs::exists(from)) throw fs::filesystem_error("cannot copy", from, to, error);
  if (error) return;
  ++copied.files;
  copied.bytes += fs::file_size(to, error);
}

// Logs, checkpoints and models, beside the workers that write them.
Copied copy_files(const fs::path& from, const fs::path& to) {
  Copied copied;
  fs::create_directory(to);
  std::error_code gone;
  fs::recursive_directory_iterator entry(from, gone);
  while (!gone && entry != fs::recursive_directory_iterator()) {
    const fs::path target = to / fs::relative(entry->path(), from);
    std::error_code vanished;
    const fs::file_status status = entry->symlink_status(vanished);
    if (fs::is_directory(status)) fs::create_directories(target);
    if (fs::is_regular_file(status)) copy_file(entry->path(), target, copied);
    entry.increment(gone);
  }
  return copied;
}

// A new directory, or one with nothing in it.
Result<void> make_empty_dir(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return Error{ErrorCode::invalid_argument, "cannot make the directory " + path + ": " + error.message(), "", ""};
  if (!fs::is_empty(path, error) || error) {
    return Error{ErrorCode::conflict, path + " has something in it: nothing is overwritten", "", "name a new directory"};
  }
  fs::permissions(path, fs::perms::owner_all, error);
  return {};
}

int refuse(const Error& error) {
  std::fprintf(stderr, "tuneband-server: %s\n", describe(error).c_str());
  return 1;
}

}  // namespace

// The database first: a file may be newer than what its row says, never older.
int back_up_data_dir(const ServerConfig& config) {
  const Result<DataDir> source = DataDir::look_at(config.data_dir);
  if (!source) return refuse(source.error());
  try {
    Connection database = Connection::open_to_read(source->database_file());
    if (const Result<void> made = make_empty_dir(config.backup_to); !made) return refuse(made.error());
    database.copy_to(config.backup_to + "/" + fs::path(source->database_file()).filename().string());
    const Copied copied = copy_files(source->jobs_dir(), config.backup_to + "/jobs");
    std::printf("backed up %lld jobs and %llu files (%.1f MB) to %s\nstart it with: tuneband-server --data-dir %s\n",
                static_cast<long long>(database.integer("SELECT count(*) FROM jobs WHERE " + std::string(kNotDeleted))),
                static_cast<unsigned long long>(copied.files), static_cast<double>(copied.bytes) / 1e6, config.backup_to.c_str(),
                config.backup_to.c_str());
    return 0;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "tuneband-server: no backup: %s\n", failure.what());
    return 1;
  }
}

}  // namespace tuneband::server

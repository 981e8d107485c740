#include "server/data/database_there.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/database_words.hpp"
#include "core/text.hpp"
#include "db/connection.hpp"
#include "db/database_file.hpp"
#include "db/log_index.hpp"
#include "db/store.hpp"

namespace tuneband::server {
namespace {

namespace fs = std::filesystem;

bool exists(const std::string& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

// "jobs/3", "directories of 4 jobs".
std::string named(const std::vector<JobId>& jobs) {
  if (jobs.size() == 1) return "jobs/" + std::to_string(jobs.front().value);
  return "directories of " + std::to_string(jobs.size()) + " jobs";
}

// What a database leaves beside it, as words.
std::vector<std::string> signs_of_use(const DataDir& data_dir, const DatabaseFile& file) {
  std::vector<std::string> signs;
  std::error_code error;
  for (const std::string& log : file.logs) {
    signs.push_back(fs::path(log).filename().string() + " of " + std::to_string(fs::file_size(log, error)) + " bytes");
  }
  if (const std::vector<JobId> jobs = data_dir.job_dirs(); !jobs.empty()) signs.push_back(named(jobs));
  if (exists(data_dir.server_file())) signs.emplace_back("server.json of the server that ran here");
  return signs;
}

Error unfinished_backup(const DataDir& data_dir) {
  return {ErrorCode::conflict, data_dir.root() + " is a backup that was not finished: some of it is missing", "",
          "make it again, into a new directory"};
}

Error lost(const DataDir& data_dir, DatabaseFile::Kind kind, const std::vector<std::string>& signs) {
  return {ErrorCode::conflict,
          "the database is lost: " + data_dir.database_file() + " " + std::string(what_is_wrong_with(kind)) +
              ", but this is there: " + join_and(signs) + "; all is left as it is",
          "", "restore a backup, or move the directory away to begin anew"};
}

// A job is in the database before anything makes a directory for it.
std::vector<JobId> jobs_after(std::int64_t last, std::vector<JobId> jobs) {
  std::erase_if(jobs, [last](JobId job) { return job.value <= last; });
  std::sort(jobs.begin(), jobs.end());
  return jobs;
}

Error older_than_its_jobs(const DataDir& data_dir, std::int64_t last, const std::vector<JobId>& jobs) {
  const std::string known = last == 0 ? " never had a job" : " had job " + std::to_string(last) + " last";
  const std::string first = data_dir.job_dir(jobs.front());
  return {ErrorCode::conflict,
          "the database has lost jobs: " + data_dir.database_file() + known + ", but there is " +
              (jobs.size() == 1 ? first : first + " and " + std::to_string(jobs.size() - 1) + " more") +
              " (is it an old copy, or was its -wal lost?); all is left as it is",
          "", "restore a backup, or move what is too new away to go on without it"};
}

std::int64_t last_job_in(const std::string& database) {
  Connection connection = Connection::open_to_read(database);
  try {
    return last_job_id(connection);
  } catch (const SqliteError& error) {
    throw SqliteError(error.code(), "cannot read the database " + database + ": " + error.what());
  }
}

Result<bool> has_its_jobs(const DataDir& data_dir) {
  const std::vector<JobId> jobs = data_dir.job_dirs();  // first: a server may run there, and take new jobs
  const std::int64_t last = last_job_in(data_dir.database_file());
  const std::vector<JobId> newer = jobs_after(last, jobs);
  if (!newer.empty()) return older_than_its_jobs(data_dir, last, newer);
  return true;
}

// Before anything of SQLite looks at it, and makes the index anew from what is left.
std::optional<Error> lost_commits(const DataDir& data_dir) {
  const std::string database = data_dir.database_file();
  std::error_code error;
  if (fs::file_size(database, error) == 0 || error) return std::nullopt;
  const std::optional<std::string> missing = what_the_log_lost(database);
  if (!missing) return std::nullopt;
  return Error{ErrorCode::conflict,
               "the database has lost commits: its log " + database + "-wal " + *missing + "; all is left as it is", "",
               "restore a backup, or remove " + database + "-shm to go on without them"};
}

}  // namespace

Result<bool> database_there(const DataDir& data_dir) {
  if (const std::optional<Error> lost = lost_commits(data_dir)) return *lost;
  const DatabaseFile file = look_at_database(data_dir.database_file());
  if (file.kind == DatabaseFile::Kind::with_tables) return has_its_jobs(data_dir);
  if (exists(data_dir.unfinished_database_file())) return unfinished_backup(data_dir);
  const std::vector<std::string> signs = signs_of_use(data_dir, file);
  if (!signs.empty()) return lost(data_dir, file.kind, signs);
  return false;
}

Result<void> require_database(const DataDir& data_dir) {
  const Result<bool> there = database_there(data_dir);
  if (!there) return there.error();
  if (*there) return {};
  return Error{ErrorCode::not_found, data_dir.root() + " " + std::string(kNoDatabaseYet) + ": no server has run on it", "", ""};
}

}  // namespace tuneband::server

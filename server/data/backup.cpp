#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>

#include "command_line/fault.hpp"
#include "core/json.hpp"
#include "core/shell_word.hpp"
#include "core/units.hpp"
#include "db/connection.hpp"
#include "db/database_file.hpp"
#include "db/store.hpp"
#include "os/fault_text.hpp"
#include "os/unique_fd.hpp"
#include "server/app.hpp"
#include "server/data/backup_checkpoints.hpp"
#include "server/data/data_dir.hpp"
#include "server/data/database_there.hpp"
#include "server/data/tree_copy.hpp"
#include "workers/protocol/sync.hpp"

namespace tuneband::server {
namespace {

namespace fs = std::filesystem;
using command_line::kExitUsage;

constexpr int kLevelsOfJobs = 2;  // <job>/trials, which may be links to another disk; what is below, a trial may have put there

void flush_to_disk(const std::string& path) {
  const os::UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory && ::syncfs(directory.get()) == 0) return;
  throw fs::filesystem_error("cannot write to disk", path, std::error_code(errno, std::generic_category()));
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

// The copy is no part of what is copied: it would be copied itself, or go when that goes.
Result<void> outside_of(const std::string& directory, const std::string& path) {
  const fs::path outer = fs::weakly_canonical(directory);
  const fs::path inner = fs::weakly_canonical(path);
  const auto [outer_end, inner_end] = std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end());
  if (outer_end != outer.end()) return {};
  const std::string where =
      inner_end == inner.end() ? " is what is to be copied" : " is inside " + directory + ", which is to be copied";
  return Error{ErrorCode::invalid_argument, path + where, "", "name a directory elsewhere"};
}

struct BackedUp {
  std::int64_t jobs = 0;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  int begun_anew = 0;  // trials
};

// Of jobs that were submitted after the database was copied. Gives the number of jobs that the copy has.
std::int64_t leave_out_newer_jobs(Connection& copy, const DataDir& target, TreeCopy& files) {
  const std::int64_t last = last_job_id(copy);
  for (const JobId job : target.job_dirs()) {
    if (job.value > last) files.leave_out(std::to_string(job.value));
  }
  return count_jobs(copy);
}

// The database first: files may be newer than what their rows say, never older. It gets its name last, when all else is on disk:
// no program takes what is there before that for a data directory.
BackedUp copy_data_dir(const DataDir& source, const DataDir& target, const std::function<void(const fs::path&)>& before_reading) {
  Connection original = Connection::open_to_read(source.database_file());
  original.copy_to(target.unfinished_database_file());
  TreeCopy files(source.jobs_dir(), target.jobs_dir(),
                 {.linked_levels = kLevelsOfJobs,
                  .left_out = protocol::kReleasedFile,
                  .steady = protocol::kCheckpointDir,
                  .before_reading = before_reading});
  files.copy_all();
  BackedUp done;
  {
    Connection copy = Connection::open_to_write(target.unfinished_database_file());
    done.begun_anew = settle_checkpoints(source, original, copy, files);
    done.jobs = leave_out_newer_jobs(copy, target, files);
    copy.checkpoint();
  }
  flush_to_disk(target.root());
  rename_database(target.unfinished_database_file(), target.database_file());
  done.files = files.files();
  done.bytes = files.bytes() + fs::file_size(target.database_file());
  return done;
}

void print(const BackedUp& done, const std::string& to) {
  std::printf("backed up %lld %s and %llu %s (%.1f MB) to %s\n", static_cast<long long>(done.jobs),
              done.jobs == 1 ? "job" : "jobs", static_cast<unsigned long long>(done.files), done.files == 1 ? "file" : "files",
              static_cast<double>(done.bytes) / kMegabyte, to.c_str());
  if (done.begun_anew > 0) {
    std::printf("%d %s went on or ended while their checkpoints were copied: in the copy they begin from nothing\n",
                done.begun_anew, done.begun_anew == 1 ? "trial" : "trials");
  }
  std::printf("start it with: tuneband-server --data-dir %s\n", shell_word(to).c_str());
}

void print_json(const BackedUp& done, const std::string& to) {
  const Json document = {{"destination", to},
                         {"jobs", done.jobs},
                         {"files", done.files},
                         {"bytes", done.bytes},
                         {"trials_begun_anew", done.begun_anew}};
  std::printf("%s\n", document.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

}  // namespace

int back_up_data_dir(const ServerConfig& config, const std::function<void(const fs::path&)>& before_reading) {
  const Result<DataDir> source = DataDir::look_at(config.data_dir);
  if (!source) return end_with(kExitUsage, describe(source.error()));
  try {
    if (const Result<void> there = require_database(*source); !there)
      return end_with(there.error().code == ErrorCode::not_found ? kExitUsage : 1, describe(there.error()));
    for (const std::string& copied : {source->root(), source->jobs_dir()}) {  // which may be a link to another disk
      if (const Result<void> apart = outside_of(copied, config.backup_to); !apart)
        return end_with(kExitUsage, describe(apart.error()));
    }
    if (const Result<void> made = make_empty_dir(config.backup_to); !made) return end_with(kExitUsage, describe(made.error()));
    const BackedUp done = copy_data_dir(*source, *DataDir::look_at(config.backup_to), before_reading);
    if (config.json) {
      print_json(done, config.backup_to);
    } else {
      print(done, config.backup_to);
    }
    return 0;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "tuneband-server: no backup: %s\n", os::fault_text(failure).c_str());
    std::error_code error;
    if (fs::exists(config.backup_to, error) && !fs::is_empty(config.backup_to, error)) {
      std::fprintf(stderr, "what is in %s is not whole: remove it\n", config.backup_to.c_str());
    }
    return 1;
  }
}

}  // namespace tuneband::server

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "db/connection.hpp"
#include "db/row_columns.hpp"
#include "server/app.hpp"
#include "server/data_dir.hpp"
#include "server/tree_copy.hpp"
#include "workers/protocol/sync.hpp"

namespace tuneband::server {
namespace {

namespace fs = std::filesystem;

constexpr int kLevelsOfTrials = 3;  // <job>/trials/<number>, which may be links to another disk
constexpr int kCopiesMax = 3;       // of a checkpoint that is replaced meanwhile

// A trial that has not ended, as the copied database has it.
struct LiveTrial {
  TrialId id;
  std::int64_t checkpoint_resource = 0;
  std::int64_t until_resource = 0;
};

std::vector<LiveTrial> live_trials(Connection& database) {
  std::vector<LiveTrial> trials;
  Statement rows = database.prepare("SELECT job, number, checkpoint_resource, until_resource FROM trials WHERE ended_at IS NULL");
  while (rows.step()) {
    trials.push_back({{JobId{rows.integer(0)}, rows.small_integer(1)}, rows.integer(2), rows.integer(3)});
  }
  return trials;
}

// Whether a trial's checkpoint has served while its files were copied: it was cut or deleted, and what was copied may be a part;
// or it is past the target that it has in the copy, and would have nothing left to report there.
bool has_left(const LiveTrial& trial, Statement& rows_now) {
  rows_now.query(trial.id.job.value, trial.id.number);
  if (!rows_now.step()) return true;
  const std::int64_t checkpoint_now = rows_now.integer(1);
  const bool cut = rows_now.integer(0) != 0;
  return cut || (checkpoint_now > trial.checkpoint_resource && checkpoint_now >= trial.until_resource);
}

bool make_whole(TreeCopy& files, const fs::path& checkpoint) {
  for (int copies = 1; !files.whole(checkpoint) && copies < kCopiesMax; ++copies) files.copy_again(checkpoint);
  return files.whole(checkpoint);
}

// A row of the copied database that names a checkpoint has it, whole; else its trial begins from nothing. Gives their number.
int settle_checkpoints(const DataDir& source, Connection& original, Connection& copy, TreeCopy& files) {
  Statement rows_now = original.prepare(
      "SELECT ended_at IS NOT NULL AND state <> 'completed', checkpoint_resource FROM trials WHERE job = ? AND number = ?");
  Statement begin_anew = copy.prepare("UPDATE trials SET checkpoint_resource = 0 WHERE job = ? AND number = ?");
  int begun_anew = 0;
  Transaction transaction(copy, Transaction::Kind::write);
  for (const LiveTrial& trial : live_trials(copy)) {
    const fs::path checkpoint =
        fs::path(source.trial_dir(trial.id)).lexically_relative(source.jobs_dir()) / protocol::kCheckpointDir;
    const bool left = has_left(trial, rows_now);
    if (!left && (trial.checkpoint_resource == 0 || make_whole(files, checkpoint))) continue;
    files.leave_out(checkpoint);
    if (trial.checkpoint_resource == 0) continue;
    begin_anew.run(trial.id.job.value, trial.id.number);
    ++begun_anew;
  }
  transaction.commit();
  return begun_anew;
}

void flush_to_disk(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool flushed = fd >= 0 && ::syncfs(fd) == 0;
  const std::error_code error(errno, std::generic_category());
  if (fd >= 0) ::close(fd);
  if (!flushed) throw fs::filesystem_error("cannot write to disk", path, error);
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

// The copy must not become a part of what is copied.
Result<void> outside_of(const fs::path& directory, const fs::path& path) {
  const fs::path outer = fs::weakly_canonical(directory);
  const fs::path inner = fs::weakly_canonical(path);
  if (std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first != outer.end()) return {};
  return Error{ErrorCode::invalid_argument, path.string() + " is inside " + directory.string() + ", which is to be copied", "",
               "name a directory elsewhere"};
}

int refuse(const Error& error) {
  std::fprintf(stderr, "tuneband-server: %s\n", describe(error).c_str());
  return 1;
}

struct BackedUp {
  std::int64_t jobs = 0;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  int begun_anew = 0;  // trials
};

// The database first: a file may be newer than what its row says, never older.
BackedUp copy_data_dir(const DataDir& source, const std::string& to) {
  Connection original = Connection::open_to_read(source.database_file());
  const std::string database_file = to + "/" + fs::path(source.database_file()).filename().string();
  original.copy_to(database_file);
  TreeCopy files(source.jobs_dir(), to + "/jobs", {.linked_levels = kLevelsOfTrials, .left_out = protocol::kReleasedFile});
  files.copy_all();
  BackedUp done;
  {
    Connection copy = Connection::open_to_write(database_file);
    done.begun_anew = settle_checkpoints(source, original, copy, files);
    done.jobs = copy.integer("SELECT count(*) FROM jobs WHERE " + std::string(kNotDeleted));
  }
  flush_to_disk(to);
  done.files = files.files();
  done.bytes = files.bytes();
  return done;
}

void print(const BackedUp& done, const std::string& to) {
  std::printf("backed up %lld jobs and %llu files (%.1f MB) to %s\n", static_cast<long long>(done.jobs),
              static_cast<unsigned long long>(done.files), static_cast<double>(done.bytes) / 1e6, to.c_str());
  if (done.begun_anew > 0) {
    std::printf("%d trials went on or ended while their checkpoints were copied: in the copy they begin from nothing\n",
                done.begun_anew);
  }
  std::printf("start it with: tuneband-server --data-dir %s\n", to.c_str());
}

}  // namespace

int back_up_data_dir(const ServerConfig& config) {
  const Result<DataDir> source = DataDir::look_at(config.data_dir);
  if (!source) return refuse(source.error());
  try {
    Connection::open_to_read(source->database_file());  // nothing is made when there is nothing to copy
    if (const Result<void> apart = outside_of(source->jobs_dir(), config.backup_to); !apart) return refuse(apart.error());
    if (const Result<void> made = make_empty_dir(config.backup_to); !made) return refuse(made.error());
    print(copy_data_dir(*source, config.backup_to), config.backup_to);
    return 0;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "tuneband-server: no backup: %s\n", failure.what());
    std::error_code error;
    if (fs::exists(config.backup_to, error) && !fs::is_empty(config.backup_to, error)) {
      std::fprintf(stderr, "what is in %s is not whole: remove it\n", config.backup_to.c_str());
    }
    return 1;
  }
}

}  // namespace tuneband::server

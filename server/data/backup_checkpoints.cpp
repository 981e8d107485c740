#include "server/data/backup_checkpoints.hpp"

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/ids.hpp"
#include "workers/protocol/sync.hpp"

namespace tuneband::server {
namespace {

namespace fs = std::filesystem;

constexpr int kCopiesMax = 3;  // of a checkpoint that is replaced meanwhile

// A trial that has not ended, as the copied database has it.
struct LiveTrial {
  TrialId id;
  std::int64_t checkpoint_resource = 0;
  std::int64_t files_epoch = 0;
};

std::vector<LiveTrial> live_trials(Connection& database) {
  std::vector<LiveTrial> trials;
  Statement rows = database.prepare("SELECT job, number, checkpoint_resource, files_epoch FROM trials WHERE ended_at IS NULL");
  while (rows.step()) trials.push_back({{JobId{rows.integer(0)}, rows.small_integer(1)}, rows.integer(2), rows.integer(3)});
  return trials;
}

// Whether the checkpoint that the copied row names has served meanwhile: the trial was cut or deleted, or stored a later one.
bool has_left(const LiveTrial& trial, Statement& rows_now) {
  rows_now.query(trial.id.job.value, trial.id.number);
  if (!rows_now.step()) return true;
  const bool cut = rows_now.integer(0) != 0;
  return cut || rows_now.integer(1) > trial.checkpoint_resource || rows_now.integer(2) != trial.files_epoch;
}

bool make_whole(TreeCopy& files, const fs::path& checkpoint) {
  for (int copies = 1; !files.whole(checkpoint) && copies < kCopiesMax; ++copies) files.copy_again(checkpoint);
  return files.whole(checkpoint);
}

}  // namespace

int settle_checkpoints(const DataDir& source, Connection& original, Connection& copy, TreeCopy& files) {
  Statement rows_now = original.prepare(
      "SELECT ended_at IS NOT NULL AND state <> 'completed', checkpoint_resource, files_epoch FROM trials WHERE job = ? AND "
      "number = ?");
  Statement begin_anew = copy.prepare("UPDATE trials SET checkpoint_resource = 0, files_epoch = 0 WHERE job = ? AND number = ?");
  int begun_anew = 0;
  Transaction transaction(copy, Transaction::Kind::write);
  for (const LiveTrial& trial : live_trials(copy)) {
    const fs::path directory = fs::path(source.trial_dir(trial.id)).lexically_relative(source.jobs_dir());
    const fs::path checkpoint = protocol::checkpoint_dir(directory, trial.files_epoch);
    // Nor what a later segment began: a segment of the copy may have the same epoch.
    files.leave_out_all_but(directory / protocol::kEpochsDir, std::to_string(trial.files_epoch));
    const bool named = trial.checkpoint_resource > 0;
    // The row last: it tells of each copy that was taken.
    if ((named ? make_whole(files, checkpoint) : files.whole(checkpoint)) && !has_left(trial, rows_now)) continue;
    files.leave_out(checkpoint);
    if (!named) continue;
    begin_anew.run(trial.id.job.value, trial.id.number);
    ++begun_anew;
  }
  transaction.commit();
  return begun_anew;
}

}  // namespace tuneband::server

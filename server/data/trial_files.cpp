#include "server/data/trial_files.hpp"

#include <unistd.h>

#include <boost/asio/post.hpp>
#include <charconv>
#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include "server/log.hpp"
#include "workers/protocol/sync.hpp"
#include "workers/protocol/trial_directory.hpp"

namespace tuneband::server {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kReleasedMode = 0644;
constexpr const char* kAsideEnding = ".new";  // of a name that is about to be given

// The worker of a trial removes what it makes after its end, perhaps the same at this moment: then something was gone before its
// turn came, and what is left is to be looked at anew: as often as there may be such names, which only become fewer.
void remove_all_logged(const std::string& path) {
  constexpr int kAttemptsMax = 10'000;
  std::error_code error;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    fs::remove_all(path, error);
    if (error != std::errc::no_such_file_or_directory) break;
  }
  if (error) log_warning("cannot remove files that are no longer needed", {{"path", path}, {"reason", error.message()}});
}

// Nothing is removed: what an earlier one left aside stays there.
fs::path free_name_beside(const fs::path& dir) {
  const std::string name = dir.string() + ".orphan";
  fs::path aside = name;
  for (int count = 2; fs::exists(fs::symlink_status(aside)); ++count) aside = name + "." + std::to_string(count);
  return aside;
}

void move_aside(const fs::path& dir) {
  std::error_code error;
  const fs::path aside = free_name_beside(dir);
  fs::rename(dir, aside, error);
  if (error) {
    log_error("files of a job that the database does not know cannot be moved aside",
              {{"path", dir.string()}, {"reason", error.message()}});
  } else {
    log_warning("files of a job that the database does not know are moved aside", {{"path", aside.string()}});
  }
}

// The name is the link's from one moment to the next. What else has that name is a command's own, and stays.
void point_link(const std::string& link, const std::string& target, std::error_code& error) {
  const fs::file_type there = fs::symlink_status(link, error).type();
  error.clear();
  if (there != fs::file_type::not_found && there != fs::file_type::symlink) return;
  const std::string aside = link + kAsideEnding;
  fs::remove(aside, error);
  if (!error) fs::create_symlink(target, aside, error);
  if (!error) fs::rename(aside, link, error);
}

// As a second name of the file, where the file system can.
void show_model(const std::string& model, const std::string& shown, std::error_code& error) {
  if (!fs::is_regular_file(fs::symlink_status(model, error))) return error.clear();  // a command's, or none was stored
  const std::string aside = shown + kAsideEnding;
  fs::remove(aside, error);
  fs::create_hard_link(model, aside, error);
  if (error) fs::copy_file(model, aside, error);
  if (!error) fs::rename(aside, shown, error);
  std::error_code ignored;
  fs::remove(aside, ignored);  // still there when both were the same file already
}

// `trial_dir` again, not held open: it may be gone by now.
void remove_earlier_epochs(const std::string& trial_dir, std::int64_t epoch) {
  const auto directory = protocol::TrialDirectory::open(trial_dir);
  const auto epochs = directory ? directory->inside(protocol::kEpochsDir) : std::nullopt;
  if (!epochs) return;
  std::error_code error;
  for (fs::directory_iterator entry(epochs->path(), error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename();
    std::int64_t its = epoch;
    std::from_chars(name.data(), name.data() + name.size(), its);
    if (its < epoch) remove_all_logged(entry->path());
  }
}

bool cut(TrialState state) { return ended(state) && state != TrialState::completed; }

}  // namespace

TrialFiles::~TrialFiles() { remover_.join(); }

void TrialFiles::restore(const Snapshot& snapshot) {
  for (const JobRow& job : snapshot.jobs) {
    if (!ended(job.state) && job.best_anywhere) best_[job.id] = job.best_anywhere->trial;
  }
  show(snapshot.trials);
  for (const TrialRow& trial : snapshot.trials) {
    const auto best = best_.find(trial.id.job);
    const bool is_best = best != best_.end() && best->second == trial.id.number;
    if (is_best && cut(trial.state)) kept_[trial.id.job] = trial.id.number;
  }
  sweep(snapshot);
}

void TrialFiles::sweep(const Snapshot& snapshot) {
  std::set<JobId> known;
  for (const JobRow& job : snapshot.jobs) known.insert(job.id);
  for (const JobId job : data_dir_.job_dirs()) {
    if (known.contains(job)) continue;
    if (job.value <= snapshot.last_job_id) {
      remove(data_dir_.job_dir(job));
    } else {
      move_aside(data_dir_.job_dir(job));
    }
  }
}

// Bests first: a trial that ends in the same batch as it becomes the best keeps its files.
void TrialFiles::on_committed(std::span<const Write> writes) {
  for (const Write& write : writes) {
    const auto* job = std::get_if<JobRow>(&write);
    if (job && job->best_anywhere) best_changed(job->id, job->best_anywhere->trial);
  }
  for (const Write& write : writes) {
    if (const auto* trial = std::get_if<TrialRow>(&write)) show(*trial);
  }
  for (const Write& write : writes) {
    if (const auto* trial = std::get_if<TrialRow>(&write); trial && cut(trial->state)) trial_cut(trial->id);
    if (const auto* deleted = std::get_if<DeleteJob>(&write)) remove(data_dir_.job_dir(deleted->job));
  }
  for (const Write& write : writes) {
    const auto* job = std::get_if<JobRow>(&write);
    if (!job || !ended(job->state)) continue;
    best_.erase(job->id);
    kept_.erase(job->id);
    shown_.erase(shown_.lower_bound({job->id, 0}), shown_.lower_bound({JobId{job->id.value + 1}, 0}));
  }
}

void TrialFiles::show(std::span<const TrialRow> trials) {
  for (const TrialRow& trial : trials) show(trial);
}

void TrialFiles::show(const TrialRow& trial) {
  const Shown now{trial.files_epoch, trial.checkpoint_resource, trial.kept_resource};
  if (now == Shown{}) return;
  const Shown before = std::exchange(shown_[trial.id], now);
  if (before == now || now.epoch.value == 0) return;
  const std::string path = data_dir_.trial_dir(trial.id);
  const auto directory = protocol::TrialDirectory::open(path);
  const auto checkpoints = directory ? directory->checkpoints(now.epoch.value) : std::nullopt;
  if (!checkpoints) return;  // of a worker that keeps none, or of a trial that is gone
  const std::string link = directory->path() + "/" + protocol::kCheckpointDir;
  std::error_code error;
  const bool of_older_version = before.resource > 0 && before.epoch.value == 0;
  if (of_older_version && !fs::is_symlink(fs::symlink_status(link, error))) fs::remove_all(link, error);
  if (!error) point_link(link, fs::path(protocol::checkpoint_dir(path, now.epoch.value)).lexically_relative(path), error);
  // One that is kept may be of an earlier segment, and was shown then.
  const std::string name = now.kept > 0 ? protocol::kept_model_file(now.kept) : std::to_string(now.resource) + ".ubj";
  if (!error) show_model(checkpoints->path() + "/" + name, directory->path() + "/" + protocol::kModelFile, error);
  if (error) {
    log_warning("the files of a trial cannot be shown where they belong", {{"path", path}, {"reason", error.message()}});
    shown_.erase(trial.id);
    return;
  }
  boost::asio::post(remover_, [path, epoch = now.epoch.value] { remove_earlier_epochs(path, epoch); });
}

void TrialFiles::best_changed(JobId job, int best) {
  best_[job] = best;
  const auto kept = kept_.find(job);
  if (kept == kept_.end() || kept->second == best) return;
  release({job, kept->second});
  kept_.erase(kept);
}

void TrialFiles::trial_cut(TrialId trial) {
  const auto best = best_.find(trial.job);
  if (best != best_.end() && best->second == trial.number) {
    kept_[trial.job] = trial.number;
  } else {
    release(trial);
  }
}

// The word first: what a worker makes after it, the worker removes.
void TrialFiles::release(TrialId trial) {
  boost::asio::post(remover_, [path = data_dir_.trial_dir(trial)] {
    const auto directory = protocol::TrialDirectory::open(path);
    if (!directory) return;
    if (!directory->has(protocol::kReleasedFile)) directory->make_file(protocol::kReleasedFile, kReleasedMode);
    for (const char* name : {protocol::kCheckpointDir, protocol::kEpochsDir, protocol::kModelFile})
      remove_all_logged(directory->path() + "/" + name);
  });
}

void TrialFiles::remove(std::string path) {
  boost::asio::post(remover_, [path = std::move(path)] { remove_all_logged(path); });
}

}  // namespace tuneband::server

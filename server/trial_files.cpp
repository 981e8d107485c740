#include "server/trial_files.hpp"

#include <unistd.h>

#include <boost/asio/post.hpp>
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

void remove_all_logged(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
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

bool cut(TrialState state) { return ended(state) && state != TrialState::completed; }

}  // namespace

TrialFiles::~TrialFiles() { remover_.join(); }

void TrialFiles::restore(const Snapshot& snapshot) {
  for (const JobRow& job : snapshot.jobs) {
    if (!ended(job.state) && job.best_anywhere) best_[job.id] = job.best_anywhere->trial;
  }
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
    if (const auto* trial = std::get_if<TrialRow>(&write); trial && cut(trial->state)) trial_cut(trial->id);
    if (const auto* deleted = std::get_if<DeleteJob>(&write)) remove(data_dir_.job_dir(deleted->job));
  }
  for (const Write& write : writes) {
    const auto* job = std::get_if<JobRow>(&write);
    if (!job || !ended(job->state)) continue;
    best_.erase(job->id);
    kept_.erase(job->id);
  }
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
    if (!directory->has(protocol::kReleasedFile)) ::close(directory->make_file(protocol::kReleasedFile, kReleasedMode));
    remove_all_logged(directory->path() + "/" + protocol::kCheckpointDir);
    remove_all_logged(directory->path() + "/" + protocol::kModelFile);
  });
}

void TrialFiles::remove(std::string path) {
  boost::asio::post(remover_, [path = std::move(path)] { remove_all_logged(path); });
}

}  // namespace tuneband::server

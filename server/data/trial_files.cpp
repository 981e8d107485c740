#include "server/data/trial_files.hpp"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "core/json.hpp"
#include "core/text.hpp"
#include "os/fault_text.hpp"
#include "os/tree.hpp"
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
// `told`: how the log calls it.
void remove_all_logged(const std::string& path, const std::string& told) {
  constexpr int kAttemptsMax = 10'000;
  std::error_code error;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    os::remove_tree(path, error);
    if (error != std::errc::no_such_file_or_directory) break;
  }
  if (error) log_warning("cannot remove files that are no longer needed", {{"path", told}, {"reason", error.message()}});
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
    if (its < epoch) remove_all_logged(entry->path(), protocol::checkpoint_dir(trial_dir, its));
  }
}

// Whose models users are told of: the one at max_resource, and the one at any rung.
std::set<int> bests_of(const JobRow& job) {
  std::set<int> trials;
  for (const auto& best : {job.best, job.best_anywhere}) {
    if (best) trials.insert(best->trial);
  }
  return trials;
}

bool is_maximized(const JobRow& job) {
  const auto document = parse_json(job.spec_json);
  return document && member(member(*document, "objective"), "goal") == "maximize";
}

// Comes after all trials of the job.
TrialId after(JobId job) { return {JobId{job.value + 1}, 0}; }

template <class ByTrial>
void forget(ByTrial& trials, JobId job) {
  trials.erase(trials.lower_bound({job, 0}), trials.lower_bound(after(job)));
}

bool cut(TrialState state) { return ended(state) && state != TrialState::completed; }

}  // namespace

TrialFiles::~TrialFiles() { remover_.join(); }

void TrialFiles::restore(const Snapshot& snapshot) {
  for (const JobRow& job : snapshot.jobs) {
    if (!ended(job.state)) job_changed(job);
  }
  for (const TrialRow& trial : snapshot.trials) show(trial);
  const auto cut_of_running = [this](const TrialRow& trial) { return cut(trial.state) && needed_.contains(trial.id.job); };
  for (const TrialRow& trial : snapshot.trials) {
    if (cut_of_running(trial)) trial_cut(trial);
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
    if (const auto* job = std::get_if<JobRow>(&write)) job_changed(*job);
  }
  const bool some_wait = !shown_later_.empty();
  for (const auto& [id, trial] : std::exchange(shown_later_, {})) show(trial);
  for (const Write& write : writes) {
    if (const auto* trial = std::get_if<TrialRow>(&write)) show(*trial);
  }
  if (!some_wait && !shown_later_.empty())
    log_warning("files of trials are shown where they belong once there are file handles again",
                {{"hint", os::kMoreFileHandles}});
  for (const Write& write : writes) {
    if (const auto* trial = std::get_if<TrialRow>(&write); trial && cut(trial->state)) trial_cut(*trial);
    if (const auto* deleted = std::get_if<DeleteJob>(&write)) remove(data_dir_.job_dir(deleted->job));
  }
  for (const Write& write : writes) {
    const auto* job = std::get_if<JobRow>(&write);
    if (!job || !ended(job->state)) continue;
    needed_.erase(job->id);
    forget(kept_, job->id);
    forget(shown_, job->id);
  }
}

void TrialFiles::show(const TrialRow& trial) {
  const Shown now{trial.files_epoch, trial.checkpoint_resource, trial.kept_resource};
  if (now == Shown{}) return;
  const Shown before = std::exchange(shown_[trial.id], now);
  if (before == now || now.epoch.value == 0) return;
  const std::string path = data_dir_.trial_dir(trial.id);
  const auto directory = protocol::TrialDirectory::open(path);
  if (directory && directory->has(protocol::kReleasedFile)) return release(trial.id);  // a server before was not done with it
  const auto checkpoints = directory ? directory->checkpoints(now.epoch.value) : std::nullopt;
  if (!checkpoints && os::is_want_of_file_handles(errno)) {
    shown_.erase(trial.id);
    shown_later_.insert_or_assign(trial.id, trial);
    return;
  }
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

bool TrialFiles::is_needed(TrialId trial) const {
  const auto found = needed_.find(trial.job);
  if (found == needed_.end()) return false;
  const auto& [maximize, bests, models] = found->second;
  return bests.contains(trial.number) ||
         std::ranges::any_of(models, [number = trial.number](const auto& model) { return model.second == number; });
}

void TrialFiles::job_changed(const JobRow& job) {
  const auto [needed, is_new] = needed_.try_emplace(job.id);
  if (is_new) needed->second.maximize = is_maximized(job);
  auto bests = bests_of(job);
  if (bests == needed->second.bests) return;
  needed->second.bests = std::move(bests);
  release_what_is_not_needed(job.id);
}

void TrialFiles::rank_model(const TrialRow& trial) {
  auto& [maximize, bests, models] = needed_[trial.id.job];
  std::erase_if(models, [number = trial.id.number](const auto& model) { return model.second == number; });
  if (!trial.kept_value || !std::isfinite(*trial.kept_value)) return;
  models.emplace(maximize ? -*trial.kept_value : *trial.kept_value, trial.id.number);
  if (models.size() > kModelsKept) models.erase(std::prev(models.end()));
}

void TrialFiles::trial_cut(const TrialRow& trial) {
  rank_model(trial);
  kept_.insert(trial.id);
  release_what_is_not_needed(trial.id.job);
}

void TrialFiles::release_what_is_not_needed(JobId job) {
  const auto end = kept_.lower_bound(after(job));
  for (auto kept = kept_.lower_bound({job, 0}); kept != end;) {
    if (is_needed(*kept)) {
      ++kept;
      continue;
    }
    release(*kept);
    kept = kept_.erase(kept);
  }
}

// The word first: what a worker makes after it, the worker removes.
void TrialFiles::release(TrialId trial) {
  boost::asio::post(remover_, [path = data_dir_.trial_dir(trial)] {
    const auto directory = protocol::TrialDirectory::open(path);
    if (!directory) return;
    if (!directory->has(protocol::kReleasedFile)) directory->make_file(protocol::kReleasedFile, kReleasedMode);
    for (const char* name : {protocol::kCheckpointDir, protocol::kEpochsDir, protocol::kModelFile})
      remove_all_logged(directory->path() + "/" + name, path + "/" + name);
  });
}

void TrialFiles::remove(std::string path) {
  boost::asio::post(remover_, [this, path = std::move(path)] {
    const auto job = protocol::TrialDirectory::open(path);
    const auto trials = job ? job->inside(kTrialsDir) : std::nullopt;
    std::error_code error;
    if (trials) {
      for (fs::directory_iterator entry(trials->path(), error), end; !ends_soon_ && !error && entry != end;
           entry.increment(error))
        remove_all_logged(entry->path(), joined({path, "/", kTrialsDir, "/", entry->path().filename().string()}));
    }
    if (!ends_soon_) remove_all_logged(path, path);
  });
}

}  // namespace tuneband::server

#include "workers/released_files.hpp"

#include <filesystem>
#include <utility>

#include "os/tree.hpp"
#include "workers/protocol/sync.hpp"

namespace tuneband::workers {

namespace fs = std::filesystem;

void remove_released_files(const std::string& trial_dir) {
  const auto directory = protocol::TrialDirectory::open(trial_dir);
  if (!directory || !directory->has(protocol::kReleasedFile)) return;
  std::error_code error;
  os::remove_tree(directory->path() + "/" + protocol::kCheckpointDir, error);
  os::remove_tree(directory->path() + "/" + protocol::kEpochsDir, error);
  fs::remove(directory->path() + "/" + protocol::kModelFile, error);
}

WatchedTrialDir::WatchedTrialDir(std::string path) : path_(std::move(path)), directory_(protocol::TrialDirectory::open(path_)) {}

void WatchedTrialDir::remove_what_came_after() const {
  if (!directory_ || !directory_->removed()) return;
  std::error_code error;
  os::remove_tree(path_, error);
  const fs::path trials = fs::path(path_).parent_path();
  fs::remove(trials / protocol::kDataChecksumFile, error);
  for (const fs::path& above : {trials, trials.parent_path()}) fs::remove(above, error);  // of the job; only when empty
}

}  // namespace tuneband::workers

#include "workers/released_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <utility>

#include "workers/protocol/sync.hpp"

namespace tuneband::workers {

namespace fs = std::filesystem;

void remove_released_files(const std::string& trial_dir) {
  const fs::path directory = trial_dir;
  std::error_code error;
  if (!fs::exists(directory / protocol::kReleasedFile, error)) return;
  fs::remove_all(directory / protocol::kCheckpointDir, error);
  fs::remove(directory / protocol::kModelFile, error);
}

WatchedTrialDir::WatchedTrialDir(std::string path)
    : path_(std::move(path)), directory_(::open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

void WatchedTrialDir::remove_what_came_after() const {
  struct stat info {};
  if (!directory_ || ::fstat(directory_.get(), &info) != 0 || info.st_nlink > 0) return;
  std::error_code error;
  fs::remove_all(path_, error);
  const fs::path trials = fs::path(path_).parent_path();
  for (const fs::path& above : {trials, trials.parent_path()}) fs::remove(above, error);  // of the job; only when empty
}

}  // namespace tuneband::workers

// What is left of trials that the server is done with, while something still ran for them here: a held command that saves when it
// is told to end, a segment of a worker that was thought lost. To be used once that has ended.
#pragma once

#include <optional>
#include <string>

#include "workers/protocol/trial_directory.hpp"

namespace tuneband::workers {

// Removes the checkpoint and model of a trial that was cut: protocol::kReleasedFile says so.
void remove_released_files(const std::string& trial_dir);

// A trial's directory, looked at before a command is ended and after it.
class WatchedTrialDir {
 public:
  explicit WatchedTrialDir(std::string path);
  // When the directory was removed meanwhile, with its job, what was made in its place goes too.
  void remove_what_came_after() const;

 private:
  std::string path_;
  std::optional<protocol::TrialDirectory> directory_;
};

}  // namespace tuneband::workers

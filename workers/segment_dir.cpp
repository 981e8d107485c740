#include "workers/segment_dir.hpp"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>

#include "os/tree.hpp"
#include "workers/machine_fault.hpp"
#include "workers/protocol/trial_directory.hpp"

namespace tuneband::workers {

namespace {

namespace fs = std::filesystem;
using protocol::TrialDirectory;

// The epoch whose directory the server shows as the trial's. 0: none, or that of an older version.
std::int64_t epoch_shown(const TrialDirectory& trial) {
  std::error_code error;
  const std::string shown =
      fs::read_symlink(trial.path() + "/" + protocol::kCheckpointDir, error).parent_path().filename().string();
  std::int64_t epoch = 0;
  std::from_chars(shown.data(), shown.data() + shown.size(), epoch);
  return epoch;
}

// What the segment begins with, in a directory that nobody knows yet.
void fill(const fs::path& checkpoints, const TrialDirectory& trial, const protocol::AssignmentOrder& order, TrialLog& log,
          std::error_code& error) {
  fs::create_directories(checkpoints, error);
  if (error || (order.files_epoch == 0 && order.from_resource == 0)) return;
  if (const auto known = trial.checkpoints(order.files_epoch)) {
    os::copy_tree(known->path(), checkpoints, error);
  } else if (order.from_resource > 0) {
    log.note("the checkpoint of resource " + std::to_string(order.from_resource) + " is not there any more");
  }
}

}  // namespace

Result<void> make_checkpoint_dir(const protocol::AssignmentOrder& order, TrialLog& log) {
  const auto trial = TrialDirectory::open(order.trial_dir);
  if (trial && trial->checkpoints(order.epoch)) return {};  // another rank was first, or it is begun again
  std::error_code error;
  if (trial) fs::create_directory(trial->path() + "/" + protocol::kEpochsDir, error);
  const auto epochs = trial && !error ? trial->inside(protocol::kEpochsDir) : std::nullopt;
  if (!epochs && !error) error = std::error_code(errno, std::generic_category());
  if (epochs) {
    const std::string own = epochs->path() + "/" + std::to_string(order.epoch);
    const int rank = order.group ? order.group->rank : 0;
    const std::string aside = own + ".tmp" + std::to_string(::getpid()) + "-" + std::to_string(rank);
    os::remove_tree(aside, error);
    if (!error) fill(fs::path(aside) / protocol::kCheckpointDir, *trial, order, log, error);
    if (!error) fs::rename(aside, own, error);
    if (!error) return {};
    std::error_code ignored;
    os::remove_tree(aside, ignored);
    if (trial->checkpoints(order.epoch)) return {};
  }
  const std::string own = protocol::checkpoint_dir(order.trial_dir, order.epoch);
  return fault_of(ErrorCode::unavailable, "cannot make " + own, error.value());
}

void remove_superseded_dir(const std::string& trial_dir, std::int64_t epoch) {
  const auto trial = TrialDirectory::open(trial_dir);
  const auto epochs = trial && epoch > 0 && epoch_shown(*trial) > epoch ? trial->inside(protocol::kEpochsDir) : std::nullopt;
  std::error_code error;
  if (epochs) os::remove_tree(epochs->path() + "/" + std::to_string(epoch), error);
}

}  // namespace tuneband::workers

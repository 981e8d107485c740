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

// Beside the checkpoints of a segment that began with nothing, for all who find its directory.
constexpr const char* kWithoutCheckpointDir = ".without_checkpoint";

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
void fill(const fs::path& own, const TrialDirectory& trial, const protocol::AssignmentOrder& order, std::error_code& error) {
  const fs::path checkpoints = own / protocol::kCheckpointDir;
  fs::create_directories(checkpoints, error);
  if (error || (order.files_epoch == 0 && order.from_resource == 0)) return;
  if (const auto known = trial.checkpoints(order.files_epoch)) {
    os::copy_tree(known->path(), checkpoints, error);
  } else if (order.from_resource > 0) {
    fs::create_directory(own / kWithoutCheckpointDir, error);
  }
}

// Nothing: it is not there. Whoever made it, all have the same answer.
std::optional<BeginsWith> beginning_of(const TrialDirectory& trial, const protocol::AssignmentOrder& order) {
  const auto epochs = trial.inside(protocol::kEpochsDir);
  const auto own = epochs ? epochs->inside(std::to_string(order.epoch)) : std::nullopt;
  if (!own || !own->inside(protocol::kCheckpointDir)) return std::nullopt;
  return own->has(kWithoutCheckpointDir) ? BeginsWith::nothing : BeginsWith::what_was_ordered;
}

}  // namespace

Result<BeginsWith> make_checkpoint_dir(const protocol::AssignmentOrder& order) {
  const auto trial = TrialDirectory::open(order.trial_dir);
  if (const auto there = trial ? beginning_of(*trial, order) : std::nullopt)
    return *there;  // by another rank, or by a run before
  std::error_code error;
  if (trial) fs::create_directory(trial->path() + "/" + protocol::kEpochsDir, error);
  const auto epochs = trial && !error ? trial->inside(protocol::kEpochsDir) : std::nullopt;
  if (!epochs && !error) error = std::error_code(errno, std::generic_category());
  if (epochs) {
    const std::string own = epochs->path() + "/" + std::to_string(order.epoch);
    const int rank = order.group ? order.group->rank : 0;
    const std::string aside = own + ".tmp" + std::to_string(::getpid()) + "-" + std::to_string(rank);
    os::remove_tree(aside, error);
    if (!error) fill(aside, *trial, order, error);
    if (!error) fs::rename(aside, own, error);
    std::error_code ignored;
    if (error) os::remove_tree(aside, ignored);
    if (const auto made = beginning_of(*trial, order)) return *made;  // here, or by another rank meanwhile
  }
  const std::string own = protocol::checkpoint_dir(order.trial_dir, order.epoch);
  return fault_of(ErrorCode::unavailable, "cannot make " + own, error ? error.value() : ENOENT);
}

void remove_superseded_dir(const std::string& trial_dir, std::int64_t epoch) {
  const auto trial = TrialDirectory::open(trial_dir);
  const auto epochs = trial && epoch > 0 && epoch_shown(*trial) > epoch ? trial->inside(protocol::kEpochsDir) : std::nullopt;
  std::error_code error;
  if (epochs) os::remove_tree(epochs->path() + "/" + std::to_string(epoch), error);
}

}  // namespace tuneband::workers

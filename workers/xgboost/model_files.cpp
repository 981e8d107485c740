#include "workers/xgboost/model_files.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "core/decimal.hpp"
#include "core/random.hpp"
#include "os/atomic_file.hpp"
#include "os/open_regular.hpp"
#include "workers/machine_fault.hpp"
#include "workers/protocol/sync.hpp"
#include "workers/protocol/trial_directory.hpp"

namespace tuneband::workers {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kModelEnding = ".ubj";
constexpr std::string_view kChecksumEnding = ".sum";
constexpr std::string_view kFoldsEnding = ".folds";

Error write_error(const std::string& path, int error_number) {
  return fault_of(ErrorCode::internal, "cannot write " + path, error_number);
}

// Nothing, too, when a link stands for one of them: what is there would be replaced and removed.
std::optional<protocol::TrialDirectory> checkpoints_of(const std::string& trial_dir, std::int64_t epoch) {
  const auto directory = protocol::TrialDirectory::open(trial_dir);
  return directory ? directory->checkpoints(epoch) : std::nullopt;
}

Result<void> write_whole(const std::string& path, std::string_view bytes, Flush flush) {
  os::AtomicFile file(path, 0644);
  if (file.is_open() && file.write(bytes) && (flush == Flush::no || file.flush()) && file.commit()) return {};
  return write_error(path, errno);
}

Result<void> flush_directory(const std::string& path) {
  return os::flush_directory(path) ? Result<void>() : write_error(path, errno);
}

std::string checksum(std::string_view bytes) {
  return std::to_string(bytes.size()) + " " + std::to_string(stable_hash(bytes)) + "\n";
}

// Of what is whole, as the checksum beside it says: each model behind a line with its size.
std::string joined(const std::vector<std::string>& models) {
  std::string text;
  for (const std::string& model : models) text += std::to_string(model.size()) + "\n" + model;
  return text;
}

std::vector<std::string> parted(std::string_view text) {
  std::vector<std::string> models;
  while (!text.empty()) {
    const std::size_t line = text.find('\n');
    std::size_t size = 0;
    std::from_chars(text.data(), text.data() + line, size);
    models.emplace_back(text.substr(line + 1, size));
    text.remove_prefix(line + 1 + size);
  }
  return models;
}

std::string checkpoint_path(const std::string& checkpoints, std::int64_t resource, std::string_view ending) {
  return checkpoints + "/" + std::to_string(resource) + std::string(ending);
}

// The resources that have a checkpoint, the most first.
std::vector<std::int64_t> stored_resources(const std::string& checkpoints) {
  std::vector<std::int64_t> resources;
  std::error_code error;
  for (fs::directory_iterator entry(checkpoints, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() != kModelEnding) continue;
    const auto resource = integer_in<std::int64_t>(entry->path().stem().string());
    if (resource && *resource > 0) resources.push_back(*resource);
  }
  std::sort(resources.rbegin(), resources.rend());
  return resources;
}

void remove_checkpoint(const std::string& checkpoints, std::int64_t resource) {
  std::error_code ignored;
  for (const std::string_view ending : {kModelEnding, kChecksumEnding, kFoldsEnding})
    fs::remove(checkpoint_path(checkpoints, resource, ending), ignored);
}

Result<void> make_place(const Checkpoint& checkpoint) {
  std::error_code error;
  const fs::path checkpoints = protocol::checkpoint_dir(checkpoint.trial_dir, checkpoint.epoch);
  fs::create_directories(checkpoints, error);
  if (error) return write_error(checkpoints, error.value());
  if (!checkpoints_of(checkpoint.trial_dir, checkpoint.epoch)) return write_error(checkpoints, ENOTDIR);
  return {};
}

}  // namespace

Result<void> store_model(const Checkpoint& checkpoint, std::string_view model, Flush flush,
                         const std::vector<std::string>& folds) {
  if (auto made = make_place(checkpoint); !made) return made;
  const fs::path checkpoints = protocol::checkpoint_dir(checkpoint.trial_dir, checkpoint.epoch);
  const std::string path = checkpoint_path(checkpoints, checkpoint.resource, kModelEnding);
  const std::string sum_path = checkpoint_path(checkpoints, checkpoint.resource, kChecksumEnding);
  const std::string of_folds = joined(folds);
  const std::string sum = checksum(model) + (folds.empty() ? "" : checksum(of_folds));
  if (auto written = write_whole(sum_path, sum, flush); !written) return written;
  if (!folds.empty()) {
    const std::string folds_path = checkpoint_path(checkpoints, checkpoint.resource, kFoldsEnding);
    if (auto written = write_whole(folds_path, of_folds, flush); !written) return written;
  }
  if (auto written = write_whole(path, model, flush); !written) return written;
  if (flush == Flush::yes) {
    // And those above: they may be as new as the names in them.
    const fs::path trial_dir = checkpoint.trial_dir;
    for (fs::path directory = checkpoints; directory != trial_dir.parent_path(); directory = directory.parent_path()) {
      if (auto flushed = flush_directory(directory); !flushed) return flushed;
    }
  }
  for (const std::int64_t older : stored_resources(checkpoints)) {
    if (older < std::min(checkpoint.taken, checkpoint.resource)) remove_checkpoint(checkpoints, older);
  }
  return {};
}

Result<void> store_kept_model(const Checkpoint& checkpoint, std::int64_t resource, std::string_view model, Flush flush) {
  if (auto made = make_place(checkpoint); !made) return made;
  const std::string checkpoints = protocol::checkpoint_dir(checkpoint.trial_dir, checkpoint.epoch);
  if (auto written = write_whole(checkpoints + "/" + protocol::kept_model_file(resource), model, flush); !written) return written;
  return flush == Flush::yes ? flush_directory(checkpoints) : Result<void>();
}

std::optional<StoredModel> newest_model(const std::string& trial_dir, std::int64_t epoch, std::int64_t resource_max,
                                        std::vector<std::string>& notes) {
  if (!checkpoints_of(trial_dir, epoch)) return std::nullopt;
  const std::string checkpoints = protocol::checkpoint_dir(trial_dir, epoch);
  for (const std::int64_t resource : stored_resources(checkpoints)) {
    if (resource > resource_max) continue;
    auto bytes = os::read_regular(checkpoint_path(checkpoints, resource, kModelEnding));
    const auto sum = os::read_regular(checkpoint_path(checkpoints, resource, kChecksumEnding));
    if (bytes && sum && *sum == checksum(*bytes)) return StoredModel{resource, std::move(*bytes)};
    const auto folds = os::read_regular(checkpoint_path(checkpoints, resource, kFoldsEnding));
    if (bytes && sum && folds && *sum == checksum(*bytes) + checksum(*folds))
      return StoredModel{resource, std::move(*bytes), parted(*folds)};
    notes.push_back("the checkpoint of " + std::to_string(resource) + " rounds is damaged and is not used");
  }
  return std::nullopt;
}

Result<std::string> read_model_file(const std::string& path, const std::string& field) {
  const auto fault = [&field](std::string message) { return Error{ErrorCode::invalid_argument, std::move(message), field, ""}; };
  std::error_code error;
  if (fs::is_directory(path, error)) return fault("cannot read " + path + ": it is a directory");
  auto bytes = os::read_regular(path);
  if (!bytes) return fault("cannot read " + path);
  // Of what is neither JSON nor UBJSON, XGBoost takes the first bytes for a size of memory.
  if (!bytes->starts_with('{')) return fault(path + " is no model of XGBoost");
  return std::move(*bytes);
}

}  // namespace tuneband::workers

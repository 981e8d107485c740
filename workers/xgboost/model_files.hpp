// An XGBoost trial's files in a segment's directory of checkpoints: <resource>.ubj to go on from, with a checksum beside each,
// and of a cross-validation <resource>.folds with the models of the folds.
//
// A file is whole or absent under its name: written aside and renamed. A power failure may leave a torn one where the disk was
// not waited for, and XGBoost does not survive reading it: hence the checksum.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace tuneband::workers {

// The bytes of a model file that somebody names. Errors: `invalid_argument`, at `field`: it cannot be read, or is no model.
Result<std::string> read_model_file(const std::string& path, const std::string& field);

struct StoredModel {
  std::int64_t resource = 0;
  std::string bytes{};
  std::vector<std::string> folds{};  // the bytes of each fold's model
};

// Whether to wait until the disk itself has what is written.
enum class Flush { no, yes };

// Keeps `model` as the checkpoint of `resource` in protocol::checkpoint_dir(trial_dir, epoch), and then removes those of less
// than `taken`, which another worker may be told to go on from. Errors: the file system's, in a sentence.
struct Checkpoint {
  std::string trial_dir;
  std::int64_t epoch = 0;
  std::int64_t resource = 0;
  std::int64_t taken = 0;
};
Result<void> store_model(const Checkpoint& checkpoint, std::string_view model, Flush flush,
                         const std::vector<std::string>& folds = {});

// Beside them, the model that counts when that is not the last: of `resource` rounds. Before the checkpoint, which is the word
// that the segment has come so far.
Result<void> store_kept_model(const Checkpoint& checkpoint, std::int64_t resource, std::string_view model, Flush flush);

// The whole checkpoint of the most resource, `resource_max` at most. Damaged ones are skipped, with a line for the log each.
std::optional<StoredModel> newest_model(const std::string& trial_dir, std::int64_t epoch, std::int64_t resource_max,
                                        std::vector<std::string>& notes);

}  // namespace tuneband::workers

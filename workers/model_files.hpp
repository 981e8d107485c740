// An XGBoost trial's files: checkpoint/<resource>.ubj to go on from, with a checksum beside each, and model.ubj, the latest of
// them.
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

struct StoredModel {
  std::int64_t resource = 0;
  std::string bytes;
};

// Whether to wait until the disk itself has what is written.
enum class Flush { no, yes };

// Keeps `model` as the checkpoint of `resource` and as model.ubj, and then removes checkpoints of less. Errors: the file
// system's, in a sentence.
Result<void> store_model(const std::string& trial_dir, std::int64_t resource, std::string_view model, Flush flush);

// The same without model.ubj, which is another one: store_kept_model().
Result<void> store_checkpoint(const std::string& trial_dir, std::int64_t resource, std::string_view model, Flush flush);
Result<void> store_kept_model(const std::string& trial_dir, std::string_view model, Flush flush);

// Of another training: what begins anew is not to find it. model.ubj stays.
void remove_checkpoints(const std::string& trial_dir);

// The whole checkpoint of the most resource, `resource_max` at most. Damaged ones are skipped, with a line for the log each.
std::optional<StoredModel> newest_model(const std::string& trial_dir, std::int64_t resource_max, std::vector<std::string>& notes);

}  // namespace tuneband::workers

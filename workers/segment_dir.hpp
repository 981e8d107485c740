// The directory that a segment of a command writes its checkpoints into: its epoch's own (protocol::checkpoint_dir), which begins
// with what the trial has. So nothing that another process still writes for the trial gets in between.
#pragma once

#include <cstdint>
#include <string>

#include "core/error.hpp"
#include "workers/protocol/sync.hpp"

namespace tuneband::workers {

// What is in it: the checkpoint of order.from_resource, where that is above 0, or nothing, since that checkpoint is not there any
// more.
enum class BeginsWith { what_was_ordered, nothing };

// Makes it, with a copy of the files of order.files_epoch. Of several ranks of a group on one file system the first that is done
// makes it; the others find it, and what it began with, as does a segment that is run again. It is whole or not there under its
// name. Errors: the file system's.
Result<BeginsWith> make_checkpoint_dir(const protocol::AssignmentOrder& order);

// Removes the directory of `epoch` when the server shows a later one as the trial's. To be used once nothing writes there.
void remove_superseded_dir(const std::string& trial_dir, std::int64_t epoch);

}  // namespace tuneband::workers

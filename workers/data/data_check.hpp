// What can be found in a job's data files without training: files that cannot be read, columns that are not there, labels that do
// not suit the objective. Reads the files whole, as a trial would.
#pragma once

#include "core/error.hpp"
#include "core/json.hpp"
#include "workers/protocol/trainer_spec.hpp"

namespace tuneband::workers {

// `job` is the whole document: the objective may be tuned. Faults carry paths into it, like "trainer.data.label".
void check_data(const protocol::XgboostSpec& spec, const Json& job, Diagnostics& diagnostics);

}  // namespace tuneband::workers

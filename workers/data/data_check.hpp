// What can be found in a job's data files without training: files that cannot be read, columns that are not there, labels that do
// not suit the objective. Of large files a sample is read, so that the answer comes within seconds; a trial reads them whole and
// finds the rest.
#pragma once

#include <cstdint>

#include "core/error.hpp"
#include "core/json.hpp"
#include "jobs/trainer_spec.hpp"
#include "workers/data/data_table.hpp"
#include "workers/data/memory_forecast.hpp"

namespace tuneband::workers {

inline constexpr std::uint64_t kCheckedBytesMax = 16 * 1024 * 1024;  // of text; of more, the first rows are read

// The most replicas that the job gives a trial.
int replicas_max_of(const Json& job);

// What the job goes by before all else; of several the first one. Null: it has none.
const Json& first_objective_of(const Json& job);
// Its metric; "": it has none.
std::string objective_metric_of(const Json& job);

// `job` is the whole document: the objective may be tuned. Faults carry paths into it, like "trainer.data.label".
void check_data(const XgboostSpec& spec, const Json& job, const CheckedMachine& machine, Diagnostics& diagnostics);

}  // namespace tuneband::workers

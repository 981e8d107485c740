// What a trial's log says while large data is loaded.
#pragma once

#include "workers/data/data_table.hpp"
#include "workers/trial_log.hpp"

namespace tuneband::workers {

// A line when it begins, and then one every few seconds: "loading data: 35 % of 512 MB read". Nothing of files that are read at
// once. `log` must live as long as what is returned.
LoadOptions noting_progress(const DataSpec& spec, TrialLog& log);

}  // namespace tuneband::workers

// What a command has reported beyond the rung at which it was held or ended. With `resume: checkpoint` what it saved last is
// further than that, too: the trial's next segment begins with these reports, wherever it runs, or it would have none for what
// lies between.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workers/protocol/sync.hpp"

namespace tuneband::workers {

// Beside the checkpoints of `epoch`. None: nothing is there afterwards. Of very many the first are kept. Where it cannot be
// written the segment begins without.
void keep_reports_ahead(const std::string& trial_dir, std::int64_t epoch, const std::vector<protocol::Observation>& reports);

// Those above `from_resource`, in the order of the command.
std::vector<protocol::Observation> reports_ahead(const std::string& trial_dir, std::int64_t epoch, std::int64_t from_resource);

}  // namespace tuneband::workers

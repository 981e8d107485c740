// What a command has reported beyond the rung at which it was held or ended, and before it what the server may not know. With
// `resume: checkpoint` what it saved last is further than the rung, too: the trial's next segment begins with these reports,
// wherever it runs, or it would have none for what lies between.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workers/protocol/sync.hpp"

namespace tuneband::workers {

struct KeptReports {
  std::int64_t after = 0;  // there are all reports after this resource
  std::vector<protocol::Observation> reports;
};

// Beside the checkpoints of `epoch`. None: nothing is there afterwards. Of very many the first are kept. Where it cannot be
// written the segment begins without.
void keep_reports_ahead(const std::string& trial_dir, std::int64_t epoch, const KeptReports& kept);

// Those above `from_resource`, in the order of the command; none where some may be missing, or the checkpoints are.
std::vector<protocol::Observation> reports_ahead(const std::string& trial_dir, std::int64_t epoch, std::int64_t from_resource);

}  // namespace tuneband::workers

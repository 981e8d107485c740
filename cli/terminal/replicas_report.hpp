// Quality against time for each number of replicas, as `describe` shows it.
#pragma once

#include "cli/client/api_types.hpp"
#include "cli/terminal/table.hpp"

namespace tuneband::cli {

// A row for each number of replicas: its best trial at max_resource, and what it took. A star marks what nothing else beats in
// both quality and time. Empty when all trials ran on one worker.
Table replicas_table(const ReplicasReport& report, const JobInfo& job);

}  // namespace tuneband::cli

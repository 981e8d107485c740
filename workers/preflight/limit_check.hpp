// The limits of the worker's user (setrlimit(2), pids.max) that a job's command would run into.
#pragma once

#include "core/error.hpp"
#include "workers/preflight/checked_command.hpp"

namespace tuneband::workers {

// What is named as a number of processes or threads is started, at most kProcessesTriedMax of them, and ended at once.
inline constexpr int kProcessesTriedMax = 256;
void check_limits(const CheckedCommand& command, Diagnostics& diagnostics);

}  // namespace tuneband::workers

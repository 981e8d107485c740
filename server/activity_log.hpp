// What happens to jobs and trials, in the server's log. A listener of the engine.
#pragma once

#include <span>

#include "scheduler/rows.hpp"

namespace tuneband::server {

void log_activity(std::span<const Write> writes);

}  // namespace tuneband::server

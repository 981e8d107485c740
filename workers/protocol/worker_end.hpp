// How a worker's process ended, in the words in which the server is told, by whoever started it.
#pragma once

#include <optional>
#include <string>

#include "os/child_process.hpp"
#include "workers/protocol/sync.hpp"

namespace tuneband::protocol {

// Whether a kill for memory may be how it ended: by SIGKILL, or in a way that nobody here knows.
bool may_be_out_of_memory(const std::optional<os::ChildEnd>& end);

// `name`: of the worker. `end`: nothing where the process was the child of another.
WorkerEnd describe_end(const std::string& name, const std::optional<os::ChildEnd>& end);

// Of one that the kernel killed for memory: with its peak and its limit. `control_groups`: the text of its /proc/PID/cgroup.
WorkerEnd describe_out_of_memory(const std::string& name, const std::optional<os::ChildEnd>& end,
                                 const std::string& control_groups);

}  // namespace tuneband::protocol

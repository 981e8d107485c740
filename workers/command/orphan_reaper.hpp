// Processes of a command whose worker was killed. Nobody is left who knows of them: a command dies with its worker, but what it
// has started does not. They carry their worker's mark in their environment, and are ended by the next worker on the machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tuneband::workers {

inline constexpr std::string_view kWorkerVariable = "TUNEBAND_WORKER_PROCESS=";

// The variable for the environment of a command: which process its worker is, as no other one will be.
std::string mark_of_this_worker();

// Ends every process of this user, in this PID namespace, whose worker is no more; those that cleared their environment are not
// found. Returns how many.
int end_orphans();

// Ends those that still run for an earlier segment of a trial, whose worker lives and may have been stopped. What such a worker
// holds at a rung stays its own: it does not run. Returns how many.
int end_processes_of_earlier_segments(const std::string& trial_dir, std::int64_t epoch);

}  // namespace tuneband::workers

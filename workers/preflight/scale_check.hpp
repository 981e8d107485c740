// A job against the size of the machine and of its own numbers: how a trial is distributed, its memory, its learning rate.
#pragma once

#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/json.hpp"
#include "jobs/trainer_spec.hpp"
#include "workers/data/memory_forecast.hpp"
#include "workers/preflight/checked_command.hpp"

namespace tuneband::workers {

// The ranks of a trial against cores, a batch against the ranks that share it, a script that tells no rank from another.
// `script_files`: what the command runs, where that is a script.
void check_distribution(const Json& job, int threads, const CheckedMachine& machine, Diagnostics& diagnostics);
void check_ranks_differ(const CheckedCommand& command, const std::vector<std::string>& script_files, Diagnostics& diagnostics);

// The memory that commands may take, all workers at once.
void check_memory_limit(const CommandSpec& spec, const Json& job, const CheckedMachine& machine, Diagnostics& diagnostics);

// A learning rate of a command that makes a training diverge, or whose range is searched on the wrong scale.
void check_learning_rate(const Json& job, Diagnostics& diagnostics);

}  // namespace tuneband::workers

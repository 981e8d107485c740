// How a trial ends whose command failed: the exit class, and what a user is told.
#pragma once

#include "jobs/trainer_spec.hpp"
#include "workers/command/running_command.hpp"
#include "workers/protocol/sync.hpp"
#include "workers/trial_runner.hpp"

namespace tuneband::workers {

// It has ended with a status that is not 0, or by a signal.
SegmentResult failed_command(const CommandSpec& spec, const RunningCommand& command);

// It has ended well, without a value of the objective that counts.
SegmentResult without_metric(const protocol::AssignmentOrder& order, const CommandSpec& spec, const RunningCommand& command);

}  // namespace tuneband::workers

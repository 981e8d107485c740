// A segment run to its end, whatever its trainer throws and its machine lacks for a while.
#pragma once

#include <functional>
#include <string>

#include "workers/assignment.hpp"
#include "workers/trial_runner.hpp"

namespace tuneband::workers {

// A fault of the machine is waited out, and the trial is charged nothing: `note` is told once. The other ranks of a group would
// take one that waits for lost.
SegmentResult run_patiently(TrialRunner& runner, Assignment& assignment, const std::function<void(const std::string&)>& note);

}  // namespace tuneband::workers

// A segment run to its end, whatever its trainer throws and its machine lacks for a while.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "workers/assignment.hpp"
#include "workers/trial_runner.hpp"

namespace tuneband::workers {

// A fault of the machine is waited out, and the trial is charged nothing: `note` is told once. The result waits for something
// where other machines should try: in a group, whose other ranks would take one that waits for lost, and when the server's data
// directory or the job's data has not come back in `patience_ms`.
SegmentResult run_patiently(TrialRunner& runner, Assignment& assignment, std::int64_t patience_ms,
                            const std::function<void(const std::string&)>& note);

}  // namespace tuneband::workers

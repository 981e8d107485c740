// The debugger's part in a segment: a Recorder where the job has a `debug` section, and what its findings mean for the segment.
#pragma once

#include <memory>
#include <optional>

#include "debugger/files/recorder.hpp"
#include "workers/trial_runner.hpp"

namespace tuneband::workers {

// The order's `debug` section. Nothing: it has none, or not for this rank. For the `first` is for rank 0, and for the one whose
// metrics count.
std::optional<debugger::DebugSpec> debug_spec_of(const protocol::AssignmentOrder& order, debugger::TrainerKind trainer);

// Nothing where debug_spec_of() is. `begin_step`: where the training begins, as Recorder has it.
std::unique_ptr<debugger::files::Recorder> make_recorder(const protocol::AssignmentOrder& order, debugger::TrainerKind trainer,
                                                         std::int64_t begin_step);

// Hands on what the rules found since the last call. A result when one of them ends the trial: what they found at later steps is
// left out, since how far a command had come by then is chance.
std::optional<SegmentResult> tell_findings(debugger::files::Recorder& recorder, TrialReporter& reporter, TrialLog& log);

}  // namespace tuneband::workers

// Faults of the machine, which are not the trial's: a full disk, a disk that fails, no file handles, no memory for the worker
// itself. They pass, or somebody mends them: the worker tries the segment again until then (Worker::run_segment).
#pragma once

#include <string>
#include <string_view>

#include "core/error.hpp"
#include "scheduler/waiting.hpp"

namespace tuneband::workers {

// `what` failed with `error_number`. When that is the machine's fault the hint says what the worker waits for.
Error fault_of(ErrorCode code, std::string what, int error_number);

// `what`, a sentence, is for want of `lacked`, of scheduler/waiting.hpp.
Error fault_for(std::string_view lacked, std::string what);

// What an error of these is waited out for, of scheduler/waiting.hpp; "": it is not the machine's.
std::string machine_fault(const Error& error);

}  // namespace tuneband::workers

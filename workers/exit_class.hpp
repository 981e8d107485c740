// How a segment ends, in the words of the worker protocol (AssignmentStatus::exit). The server's ExitClass has the same words.
#pragma once

namespace tuneband::workers {

inline constexpr const char* kExitCompleted = "completed";  // reached until_resource
inline constexpr const char* kExitStopped = "stopped";      // because the reporter said so; may be resumed
inline constexpr const char* kExitOutOfMemory = "out_of_memory";
inline constexpr const char* kExitNanMetric = "nan_metric";
inline constexpr const char* kExitInvalidParameters = "invalid_parameters";
inline constexpr const char* kExitDataUnreadable = "data_unreadable";
inline constexpr const char* kExitNoMetric = "no_metric";
inline constexpr const char* kExitCrashed = "crashed";
inline constexpr const char* kExitTimedOut = "timed_out";
inline constexpr const char* kExitWorkerLost = "worker_lost";         // of a group: another rank is gone, or cannot be reached
inline constexpr const char* kExitStoppedByRule = "stopped_by_rule";  // of the job's debugger
inline constexpr const char* kExitStalled = "stalled";                // a call to a file did not come back

}  // namespace tuneband::workers

// Why trials of a job wait: the reasons of Scheduler::waiting_by_reason(), which metrics are labelled with and cards of jobs put
// into sentences, and among them what a worker says that its machine lacks.
#pragma once

#include <string_view>

namespace tuneband::waiting {

inline constexpr std::string_view kHeld = "held";
inline constexpr std::string_view kNoWorker = "no worker";
inline constexpr std::string_view kFewerWorkersThanReplicas = "fewer workers than replicas";
inline constexpr std::string_view kMaxParallelTrials = "max_parallel_trials";
inline constexpr std::string_view kSuggestion = "suggestion under way";
inline constexpr std::string_view kGathering = "gathering workers";
inline constexpr std::string_view kGatheredForAnother = "workers gathered for a wider trial";
inline constexpr std::string_view kNoFreeWorker = "no free worker";
inline constexpr std::string_view kBeingStopped = "being stopped";
inline constexpr std::string_view kRungNotFull = "rung not full";
inline constexpr std::string_view kNotAmongTheBest = "not among the best yet";

// Of a worker's machine.
inline constexpr std::string_view kRoomOnDisk = "room on a worker's disk";
inline constexpr std::string_view kFailingDisk = "a worker's disk that fails";
inline constexpr std::string_view kDataDirectory = "the server's data directory on a worker's machine";
inline constexpr std::string_view kReadableData = "data that a worker cannot read";
inline constexpr std::string_view kCommandParts = "what a command needs on a worker's machine";
inline constexpr std::string_view kFileHandles = "file handles on a worker's machine";
inline constexpr std::string_view kProcesses = "processes on a worker's machine";
inline constexpr std::string_view kMemory = "memory on a worker's machine";
inline constexpr std::string_view kMachine = "a worker's machine";  // anything else that one says

}  // namespace tuneband::waiting

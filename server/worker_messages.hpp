// Between the worker protocol's wire types and the core's events and notices.
#pragma once

#include <string>
#include <string_view>

#include "core/error.hpp"
#include "scheduler/scheduler.hpp"
#include "workers/protocol/sync.hpp"

namespace tuneband::server {

// Where the ranks of a distributed trial meet.
struct TrackerAddress {
  std::string host;  // "": the host of the server's URL
  int port = 0;
};

// Workers and the server of one version understand each other; of two they may not. One that does not say is taken at its word.
bool of_other_version(const std::string& version);

// A worker of another version is taken as one that wants to end: that much every version understands. Error: an exit class that
// does not exist, at `assignment.exit`.
Result<WorkerSynced> to_event(const WorkerId& worker, const protocol::SyncRequest& request);

// What becomes of its trial: out_of_memory where it is known to have ended of that.
WorkerLost to_event(const WorkerId& worker, const protocol::WorkerEnd& end);

// What it does, in a word: "idle", "executing", "ending" (something that is no longer its own), "draining".
std::string_view state_word(const WorkerView& worker);

// `trial_dir` of the assignment's trial; unused without one.
protocol::SyncReply to_sync_reply(const WorkerReply& reply, const std::string& trial_dir, const TrackerAddress& tracker,
                                  std::int64_t sync_within_ms);

}  // namespace tuneband::server

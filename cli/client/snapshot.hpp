// A job at one moment, as the progress views show it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/client/api_client.hpp"

namespace tuneband::cli {

inline constexpr std::size_t kRunningShownMax = 8;

struct Snapshot {
  JobInfo job;
  PlanInfo plan;
  std::vector<TrialInfo> running;  // at most kRunningShownMax
  std::int64_t at_ms = 0;          // when it was taken
  std::string loading = {};        // how far the data is loaded, "35 % of 512 MB read", while nothing is trained yet; else ""
};

// What the last line of a trial's log says of its data: "" where that is not it.
std::string loading_in(std::string_view log);

Outcome<Snapshot> take_snapshot(ApiClient& api, std::int64_t job);

// How much of the work is done, in 0..1; nothing when the plan does not tell.
std::optional<double> fraction_done(const Snapshot& snapshot);
std::optional<double> seconds_left(const Snapshot& snapshot);

// Resource that trials stopped at rungs did not use, and how many they are.
struct Saved {
  std::int64_t resource = 0;
  std::int64_t trials = 0;
};
Saved saved_by_stopping(const Snapshot& snapshot);

// Every slot of the rung is filled and decided. Asynchronous rungs never close.
bool closed(const RungInfo& rung, const PlanInfo& plan);

}  // namespace tuneband::cli

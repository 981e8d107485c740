// A job as curves in a terminal: the best so far, and how its best trial came to its value.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "cli/client/api_client.hpp"
#include "cli/client/api_types.hpp"
#include "cli/terminal/console.hpp"

namespace tuneband::cli {

inline constexpr int kTrialsPlottedMax = 20'000;  // of more the server sends a choice, with what the whole job had spent

enum class Cost { seconds, resource };

// One of the steps of the best so far: it holds from `cost` on.
struct BestStep {
  double cost = 0;  // seconds since the job's creation, or what all trials together had trained
  double value = 0;
  std::int64_t trial = 0;
};

struct BestSoFar {
  std::vector<BestStep> steps;
  double end = 0;             // the cost of all that has been
  std::int64_t resource = 0;  // the level that counts: max_resource, or the highest that any trial has reached; 0: any
};

// `columns`: TrialColumns of docs/api.md, whose `best_so_far` has results that are finite and meet the constraints.
BestSoFar best_so_far(const Json& columns, const JobInfo& job, Cost cost, double now_seconds);

// Where the terminal has no braille dots, or is none: tables of the same numbers.
Outcome<void> print_plots(ApiClient& api, Console& console, std::string_view job);

}  // namespace tuneband::cli

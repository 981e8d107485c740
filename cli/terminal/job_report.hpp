// What a job found and what it cost: the end of `submit --wait` and `run`, and `describe` and `best`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/client/api_client.hpp"
#include "cli/terminal/console.hpp"
#include "cli/terminal/joined_report.hpp"

namespace tuneband::cli {

struct BestReport {
  TrialInfo trial;
  std::string model{};  // path; "" when there is no model file
  std::optional<double> test_value{};
  std::optional<JoinedReport> joined{};
  Json document{};  // as the server gave it
};

// Nothing when no trial has a value yet.
Outcome<std::optional<BestReport>> fetch_best(ApiClient& api, std::string_view job);

void print_best(Console& console, const JobInfo& job, const BestReport& best);

// "ends 2 h 00 min after its submission at the latest".
std::string latest_end_text(double max_runtime_seconds);

// "weight 2, at most 4 trials at once", as of now; what is as every job has it is left out.
std::string limits_text(const JobInfo& job);

// "early stopping saved 599 of 810 rounds (74 %), about 35 s of training"
std::string saved_text(const SummaryInfo& summary, const JobInfo& job);

// The best trial, where its model is and where the best ones joined are, if they were; state and counts, what early stopping
// saved, failures with advice, trials at each rung.
Outcome<void> print_result(ApiClient& api, Console& console, std::string_view job,
                           const std::optional<JoinedReport>& joined = std::nullopt);

// The Summary of docs/api.md, for --json; its job has the `spec` too. `more`: fields beside those.
Outcome<void> print_result_json(ApiClient& api, Console& console, std::string_view job, const Json& more = Json::object());

// 0 for a job that completed; its own status for each other end.
int exit_status_of(const JobInfo& job);

}  // namespace tuneband::cli

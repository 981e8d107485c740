// Why a trial went on or was stopped, in sentences.
#pragma once

#include <string>
#include <vector>

#include "cli/client/api_types.hpp"

namespace tuneband::cli {

// What happened at one rung.
std::string explain_decision(const DecisionInfo& decision, const JobInfo& job);

// Where the trial stands now, and why it failed if it did.
std::vector<std::string> explain_state(const TrialInfo& trial, const JobInfo& job);

}  // namespace tuneband::cli

// What is told of the models of a job's best trials that were joined into one.
#pragma once

#include <string>

#include "cli/terminal/console.hpp"
#include "core/json.hpp"

namespace tuneband::cli {

struct JoinedReport {
  Json description;  // as the model's attribute `tuneband_ensemble` has it
  std::string path;
};

// Below the job's best trial: at the end of `run`.
void print_joined(Console& console, const JoinedReport& joined, const std::string& job);

// By itself, beside what the best trial alone has, and with whose models they are: `ensemble`.
void print_joined_alone(Console& console, const JoinedReport& joined);

// Where a refit was asked for: that there was nothing to train once more, if so.
void note_refit_in_vain(Console& console, const Json& description);

}  // namespace tuneband::cli

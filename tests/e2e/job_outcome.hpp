// What a job came to, without anything that depends on when things happened: to be compared between runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/e2e/running_server.hpp"

namespace tuneband::test {

// A line a trial: configuration, state, where it stands, objective.
std::vector<std::string> outcome(RunningServer& server, const std::string& job);

// A line a decision. Without ranks: a trial that cannot be among the best any more is stopped at once, ranked among those that
// came before it.
std::vector<std::string> verdicts(RunningServer& server, const std::string& job, std::size_t trials);

// Follows the job until it has spent so much resource. False when it ended first.
bool follow_until_spent(RunningServer& server, const std::string& job, std::int64_t resource);

// Of the environment.
std::uint64_t setting(const char* variable, std::uint64_t fallback);

// Submits the job and gives its id.
std::string submit(RunningServer& server, const Json& job);

}  // namespace tuneband::test

// One simulation: jobs, users, workers and a server, drawn from a seed, run until every job has ended.
#pragma once

#include <cstdint>
#include <string>

#include "tests/simulation/simulated_server.hpp"

namespace tuneband::test {

enum class SimulationKind {
  anything,     // every scheduler, limits, several jobs, failures, users who stop jobs and trials and delete
  same_result,  // one job whose result depends on nothing but its document: whatever goes wrong, the same table
  one_worker,   // one job of any kind, one worker that stays: what is decided next follows from the rows alone
};

struct SimulationOptions {
  SimulationKind kind = SimulationKind::anything;
  bool faults = true;
  std::size_t story_lines_max = 0;  // of what happened, the last so many
  std::string store_path;           // of the real store; empty: rows in memory
  int dies_at_batch = 0;            // the server, besides what is drawn; 0: it does not
  Death death = Death::none;
};

struct SimulationResult {
  std::string broken;  // the sentence that does not hold; empty: all is well
  std::string story;   // the last lines of it
  std::string table;   // trials, decisions and values, without anything that depends on time
  int kills = 0;
  int batches = 0;
  std::int64_t happenings = 0;
};

SimulationResult simulate(std::uint64_t seed, const SimulationOptions& options);

}  // namespace tuneband::test

// A data directory as a large job leaves it: written by the real core and the real store, without a server.
#pragma once

#include <cstdint>
#include <string>

namespace tuneband::bench {

struct Filled {
  std::int64_t trials = 0;
  std::int64_t observations = 0;
  double seconds = 0;
};

// One job, named "large", still running (asynchronous halving, so that its rungs are as long as it has trials).
Filled fill_database(const std::string& path, int trials, int observations_per_trial);

}  // namespace tuneband::bench

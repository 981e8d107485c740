// Many workers over real HTTP in one thread: each has a connection of its own, trains a unit of resource in every period, and
// reports it. Values depend on the configuration and the resource.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tuneband::bench {

struct FakeWorkersOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  int workers = 1000;
  double period_seconds = 1;  // of one unit of resource, and of one sync
};

struct FakeWorkersResult {
  std::vector<double> sync_seconds;      // of calls that report while they execute
  std::vector<double> decision_seconds;  // of calls that report the end of a segment and are given the next
  std::int64_t calls = 0;
  std::int64_t observations = 0;
  std::int64_t failures = 0;  // broken connections, and answers that are not 200
};

// For `seconds`; in the thread that calls.
FakeWorkersResult run_fake_workers(const FakeWorkersOptions& options, double seconds);

}  // namespace tuneband::bench

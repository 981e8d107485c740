// A small process above a worker that nobody else watches: tells the server when a signal has ended the worker, and whether the
// kernel did it because memory ran out, and starts the next one.
//
// It does nothing but wait, and look once in a while what the kernel has killed in the worker's memory control group, or on the
// machine where it has none: a kill that was counted since the last look but one, and a worker that ended by SIGKILL, is an
// out-of-memory; either alone is none.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "os/oom_kills.hpp"
#include "os/restart_delay.hpp"
#include "workers/protocol/sync.hpp"

namespace tuneband::workers {

struct GuardianOptions {
  std::string name;                                // of the worker, for people
  std::function<std::string()> next_id;            // of each process, before it is started
  std::function<int(const std::string& id)> work;  // in the child, which has one thread; its exit status
  // Whether the server has taken it. Asked again until it has.
  std::function<bool(const std::string& id, const protocol::WorkerEnd& end)> tell;
  std::function<os::OomKills(const std::string& control_groups)> count_kills = [](const std::string& control_groups) {
    return os::oom_kills(control_groups);
  };
  std::function<void(const std::string&)> log = [](const std::string&) {};
  std::int64_t look_ms = 1'000;
  std::int64_t retry_ms = 1'000;      // between two attempts to tell
  std::int64_t tell_ms_max = 60'000;  // then a lease has run out, and the server knows without us
  os::RestartDelay restart_delay;
};

// On the process's only thread. The worker ends with this process; SIGTERM and SIGINT are passed on to it. The exit status of a
// worker that ended by itself, or 128 and the number of the signal that ended one that was asked to end; EXIT_FAILURE when the
// first one cannot be started. A later one that cannot is tried again.
int guard_worker(const GuardianOptions& options);

}  // namespace tuneband::workers

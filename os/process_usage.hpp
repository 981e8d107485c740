// What a process has used of its machine, between two moments.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>

namespace tuneband::os {

struct ResourceUse {
  double wall_seconds = 0;   // since the sample before
  double cpu_share = 0;      // CPU time by wall time and cores
  double io_wait_share = 0;  // of the wall time, waited for disks, as far as the kernel accounts for it
  double memory_bytes = 0;   // resident now
  double since_start = 0;    // seconds
};

class ProcessUsage {
 public:
  // `pid`: of the process; all its threads count, its children do not. `cores`: granted to it.
  ProcessUsage(pid_t pid, int cores);

  double seconds_since_sample() const { return std::chrono::duration<double>(Clock::now() - before_).count(); }
  // Since the last call. Nothing: the process is gone.
  std::optional<ResourceUse> sample();

 private:
  using Clock = std::chrono::steady_clock;
  struct Reading {
    double cpu_seconds = 0;
    double io_wait_seconds = 0;
    double memory_bytes = 0;
  };
  std::optional<Reading> read() const;

  pid_t pid_;
  int cores_;
  Clock::time_point start_;
  Clock::time_point before_;
  Reading reading_;
};

}  // namespace tuneband::os

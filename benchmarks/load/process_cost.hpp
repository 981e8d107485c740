// What a process has taken so far, from /proc.
#pragma once

#include <cstdint>

namespace tuneband::bench {

double cpu_seconds_of(std::int64_t pid);
double memory_mb_of(std::int64_t pid);       // resident
double memory_peak_mb_of(std::int64_t pid);  // the most that was

}  // namespace tuneband::bench

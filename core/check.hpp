// An always-on check for invariants: prints where and why, then aborts. No user input may reach one; what a user can cause is a
// Result (core/error.hpp).
#pragma once

#include <cstdio>
#include <cstdlib>

namespace tuneband {

[[noreturn]] inline void check_failed(const char* condition, const char* why, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: invariant broken: %s (%s)\n", file, line, why, condition);
  std::abort();
}

}  // namespace tuneband

#define TUNEBAND_CHECK(condition, why)                                               \
  do {                                                                               \
    if (!(condition)) ::tuneband::check_failed(#condition, why, __FILE__, __LINE__); \
  } while (false)

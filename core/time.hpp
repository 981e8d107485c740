// Time as the core sees it: a number that the driver reads from a clock once an event and passes in.
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>

namespace tuneband {

struct Timestamp {
  std::int64_t ms = 0;  // since 1970-01-01T00:00:00Z
  auto operator<=>(const Timestamp&) const = default;
  Timestamp plus_ms(std::int64_t delta_ms) const { return {ms + delta_ms}; }
};

// To the nearest: 2.007 s are a little more than 2007 ms, and 1.001 s a little less than 1001, as doubles.
inline std::int64_t ms_of(double seconds) { return std::llround(seconds * 1000); }
inline double seconds_of(std::int64_t ms) { return static_cast<double>(ms) / 1000; }

inline std::int64_t operator-(Timestamp later, Timestamp earlier) { return later.ms - earlier.ms; }

}  // namespace tuneband

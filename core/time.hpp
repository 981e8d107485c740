// Time as the core sees it: a number that the driver reads from a clock once an event and passes in.
#pragma once

#include <compare>
#include <cstdint>

namespace tuneband {

struct Timestamp {
  std::int64_t ms = 0;  // since 1970-01-01T00:00:00Z
  auto operator<=>(const Timestamp&) const = default;
  Timestamp plus_ms(std::int64_t delta_ms) const { return {ms + delta_ms}; }
};

inline std::int64_t operator-(Timestamp later, Timestamp earlier) { return later.ms - earlier.ms; }

}  // namespace tuneband

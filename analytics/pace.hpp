// How long a unit of resource takes, without what a segment takes to begin: a program that starts, a checkpoint that is read.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tuneband {

// A segment that came to its rung.
struct SegmentTime {
  std::int64_t trial = 0;
  std::int64_t units = 0;  // that it trained; at least 1
  std::int64_t ms = 0;     // of all its workers together
};

// Milliseconds a unit, above 0: how much longer the last segments of trials took than their first ones, by how many more units
// they had. What both took to begin cancels out, and so do the paces of trials that were stopped at once. Nothing: no trial has
// two segments of different lengths, or the longer ones were not the slower ones. `segments`: those of a trial one after the
// other.
std::optional<double> ms_per_unit(const std::vector<SegmentTime>& segments);

}  // namespace tuneband

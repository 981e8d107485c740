// At which steps a collection is saved. A step is the number of units of the resource that are done: 0 before the first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.hpp"

namespace tuneband::debugger {

struct SaveSchedule {
  std::int64_t every = 1;
  std::int64_t from = 0;
  std::optional<std::int64_t> until;  // not itself
  std::vector<std::int64_t> steps;    // these too; ascending
  bool derived = false;               // nobody said when: whoever pays for the saving may save less often

  // from <= step < until and a multiple of `every`, or listed.
  bool due(std::int64_t step) const;
  // Whether one of the steps after `after`, until `step` itself, is due.
  bool due_within(std::int64_t after, std::int64_t step) const;
  bool operator==(const SaveSchedule&) const = default;
};

inline constexpr std::size_t kListedStepsMax = 10'000;

// What a job that says nothing gets: about `saves` of them until `max_resource`, and the first five steps, so that a trial which
// a rung cuts early has something to show.
SaveSchedule derived_schedule(std::int64_t max_resource, std::int64_t saves);

// {"every": 10, "from": 0, "until": 100, "steps": [1, 2]}; what it leaves out is as in `fallback`. One that lists steps and has
// no `every` saves these alone.
SaveSchedule parse_schedule(const Json& json, const std::string& path, const SaveSchedule& fallback, Diagnostics& diagnostics);

}  // namespace tuneband::debugger

// When a job would start and end, as the server forecasts it.
#pragma once

#include <cstdint>
#include <string>

#include "cli/terminal/console.hpp"
#include "core/json.hpp"

namespace tuneband::cli {

// "about 3 min with 2 workers, or 6 min beside the jobs that run (0.4 s a unit of rounds, measured in direct-marketing)".
// `capacity` is as docs/api.md has it.
std::string takes_text(const Json& capacity, const std::string& unit);

// "about 14:32": how the clock stands when a job that begins at `now_ms` has ended, beside others where there are some; "": not
// known, within a minute, or not within a year.
std::string end_text(const Json& capacity, std::int64_t now_ms);

// The fields "starts", "takes" and "ends". Nothing for what is no capacity.
void print_capacity(Console& console, const Json& capacity, const std::string& unit, std::int64_t now_ms);

}  // namespace tuneband::cli

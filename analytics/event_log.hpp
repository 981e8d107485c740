// A row of the log as JSON, for those who read the log.
#pragma once

#include <string>
#include <string_view>

#include "db/connection.hpp"

namespace tuneband {

// What event_json() needs, of `events e` and `jobs j`, its job where that was not deleted; what is to be read follows.
inline constexpr std::string_view kSelectEvent =
    "SELECT e.id, kind, job, j.name, trial, worker, resource, value, exit_class, message, at FROM events e ";
inline constexpr int kEventAtColumn = 10;

// Event of docs/api.md. The kind goes through as it is: rooms of a later version may have others.
std::string event_json(const Statement& row);

}  // namespace tuneband

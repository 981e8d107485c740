// What a read of the log selects.
#pragma once

#include <string_view>

#include "analytics/views.hpp"
#include "db/described_row.hpp"

namespace tuneband {

// A views::Event by struct_from(), of `events e` and `jobs j`, its job where that was not deleted; what is to be read follows.
inline constexpr std::string_view kSelectEvent =
    "SELECT e.id, kind, job, j.name, trial, worker, resource, value, exit_class, message, at FROM events e ";

}  // namespace tuneband

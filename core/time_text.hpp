// Times as replies have them (append_time of json_writer.hpp), alone and read back.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/time.hpp"

namespace tuneband {

std::string time_text(Timestamp time);

// "2026-03-01T12:00:00Z" or "2026-03-01T12:00:00.500Z": ISO 8601 in UTC, with milliseconds or without. Nothing for what is
// written otherwise, and for what no calendar or clock has.
std::optional<Timestamp> parse_time(std::string_view text);

}  // namespace tuneband

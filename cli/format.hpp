// Numbers, durations and times as people read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.hpp"

namespace tuneband::cli {

enum class Precision {
  readable,  // a few digits, for a terminal
  exact,     // the shortest text that reads back as the same number, for a pipe
};

std::string format_value(double value, Precision precision);                        // an objective
std::string format_value(const std::optional<double>& value, Precision precision);  // "-" where there is none
std::string format_parameter(const Json& value, Precision precision);
// {"eta=0.21", "max_depth=6"}
std::vector<std::string> format_configuration(const Json& configuration, Precision precision);

std::string format_duration(double seconds);                          // "0.41 s", "42 s", "5 min 12 s", "2 h 05 min"
std::string format_seconds(double seconds, Precision precision);      // the same, or the number
std::string format_clock(double seconds);                             // "0:42", "1:02:03"
std::string format_count(std::int64_t count, std::string_view noun);  // "1 trial", "2 trials"
std::string format_percent(double part, double whole);                // "74 %"
std::string join(const std::vector<std::string>& words, std::string_view separator);

// Milliseconds since 1970 of "2026-03-01T12:00:00.000Z"; nothing for anything else.
std::optional<std::int64_t> parse_time(std::string_view text);
std::int64_t now_ms();
std::int64_t steady_ms();  // for what may take so long, whatever is done to the clock

}  // namespace tuneband::cli

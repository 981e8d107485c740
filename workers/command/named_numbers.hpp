#pragma once

#include <string>
#include <string_view>

namespace tuneband::workers {

// A line of JSON as Python's json.dumps writes it, with NaN, Infinity and -Infinity bare: with "nan", "inf" and "-inf" in their
// place.
std::string with_named_numbers(std::string_view line);

}  // namespace tuneband::workers

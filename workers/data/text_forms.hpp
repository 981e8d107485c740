// Texts that their user may take for numbers or dates.
#pragma once

#include <string>
#include <vector>

namespace tuneband::workers {

// Each of them is a number with a comma in place of the point or between thousands, as "0,5", "-1.234,50" and "1,000,000", or one
// without, and some have one. False of none.
bool are_numbers_with_commas(const std::vector<std::string>& texts);

// Each of them is a day in numbers, as "2024-05-31", "31.05.2024" and "5/31/24", alone or with a time behind it. False of none.
bool are_dates(const std::vector<std::string>& texts);

}  // namespace tuneband::workers

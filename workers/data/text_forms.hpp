// Texts that their user may take for numbers or dates.
#pragma once

#include <string>
#include <vector>

namespace tuneband::workers {

// Each of them is a number, and some have a comma in place of the point or between thousands, as "0,5", "-1.234,50" and
// "1,000,000", a percent sign or a currency's: "12.5 %", "$1,200". False of none.
bool are_numbers_with_signs(const std::vector<std::string>& texts);
inline constexpr const char* kPlainNumbersHint = "write them with a point, nothing between thousands and no sign but - and +";

// Each of them is a day in numbers, as "2024-05-31", "31.05.2024" and "5/31/24", alone or with a time behind it. False of none.
bool are_dates(const std::vector<std::string>& texts);

}  // namespace tuneband::workers

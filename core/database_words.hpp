// What tuneband-server says of a database on its standard error and `tuneband doctor` knows it by.
#pragma once

#include <string_view>

namespace tuneband {

inline constexpr std::string_view kNoDatabaseYet = "has no database yet";  // and nothing shows that it ever had one
inline constexpr std::string_view kOlderSchema = "has not been opened for writing by this program yet";

}  // namespace tuneband

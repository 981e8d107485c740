// What tuneband-server says of a database on its standard error and `tuneband doctor` knows it by.
#pragma once

#include <string_view>

namespace tuneband {

inline constexpr std::string_view kNoDatabaseYet = "has no database yet";  // and nothing shows that it ever had one
inline constexpr std::string_view kOlderSchema = "is of an older version, and is brought to this one when a server starts on it";
inline constexpr std::string_view kCannotBeReadThere = "to read it, a file must be made beside it";  // whatever it holds

}  // namespace tuneband

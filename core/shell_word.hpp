// A word of a command line, as a shell reads it.
#pragma once

#include <string>
#include <string_view>

namespace tuneband {

// In apostrophes.
std::string shell_quoted(std::string_view text);
// Only where the shell would make something else of it, as of a blank, a `$` or nothing at all.
std::string shell_word(std::string_view text);

}  // namespace tuneband

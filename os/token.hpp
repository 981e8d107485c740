// The token of a server: a secret that its operator hands out to those who may ask it. It is in a file of its own, or in the
// environment of a client; never among a program's arguments, which every user of the machine can read.
#pragma once

#include <string>

#include "core/error.hpp"

namespace tuneband::os {

inline constexpr const char* kTokenVariable = "TUNEBAND_TOKEN";

// The one line of a regular file: 16 to 1,024 visible characters of ASCII. Errors (`invalid_argument`) name the file, also where
// others than its owner may read it; of a file of root's its group may, as a service manager hands them out.
Result<std::string> read_token_file(const std::string& path);

// For a client: that of the file or, where `path` is "", of kTokenVariable; "": there is none. Errors: as above.
Result<std::string> token_for_client(const std::string& path);

}  // namespace tuneband::os

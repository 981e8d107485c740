#pragma once

#include <string>

namespace tuneband::os {

// This machine's.
std::string host_name();

}  // namespace tuneband::os

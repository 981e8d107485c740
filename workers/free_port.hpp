// Ports for programs that are started later.
#pragma once

#include <string>

namespace tuneband::workers {

// A TCP port that is free now on this machine's `address` (an IPv4 or IPv6 address; any other: on all its addresses). 0: none
// found.
int find_free_port(const std::string& address);

}  // namespace tuneband::workers

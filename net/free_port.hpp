// Ports for programs that are started later.
#pragma once

namespace tuneband::net {

// A TCP port that nobody listens on now, on any address of this machine. 0: none found.
int find_free_port();

}  // namespace tuneband::net

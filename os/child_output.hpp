// What a child says on a pipe until it has ended, within a deadline.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace tuneband::os {

// Until the process of `pidfd` has ended, and with what it has left in the pipe; what it has started may go on and hold the pipe
// open. `output`: its reading end, which does not block. `said`: what comes, `bytes_max` at the most; what is more is taken, too.
// False: the time was over before.
bool listen_until_it_ends(int output, int pidfd, std::chrono::steady_clock::time_point deadline, std::size_t bytes_max,
                          std::string& said);

}  // namespace tuneband::os

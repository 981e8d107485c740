// A process held by a descriptor: whoever gets its number later is another one (pidfd_open(2)).
#pragma once

#include <sys/types.h>

#include "os/unique_fd.hpp"

namespace tuneband::os {

// Readable once the process has ended. Empty: there is none, or no descriptor is left; errno says why.
UniqueFd open_pidfd(pid_t pid);

// Nothing, when it has ended.
void send_signal(int pidfd, int signal);

// Whether it ends within `ms_max`, which may be below 0: whether it has ended.
bool ends_within(int pidfd, int ms_max);

}  // namespace tuneband::os

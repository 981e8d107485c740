// Files as data, logs and models are: regular ones. Whoever opens a pipe without its other end waits for ever, so nothing else is
// opened.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "os/unique_fd.hpp"

namespace tuneband::os {

// As open() with `flags`, close-on-exec. Empty with errno set when it is not there or cannot be opened; EINVAL: it is a pipe, a
// socket, a device or a directory.
UniqueFd open_regular(const std::string& path, int flags, mode_t mode = 0);

// Nothing where it cannot be read.
std::optional<std::string> read_regular(const std::string& path);

}  // namespace tuneband::os

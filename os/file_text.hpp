// Small files as whole texts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/error.hpp"

namespace tuneband::os {

// The text, or nothing when the file is missing, unreadable or longer than 1 MiB.
std::optional<std::string> read_small_file(const std::string& path);

// Whether `error` (of errno) says that the disk is full, or a quota or a limit of sizes reached.
bool is_want_of_room(int error);

// Readers see the old text or the new one, never a part. Error: `unavailable` for want of room, else `internal`, with the
// system's reason.
Result<void> replace_file(const std::string& path, std::string_view text);

}  // namespace tuneband::os

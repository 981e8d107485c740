// Directories with all below them, of programs that may have taken permissions from what is theirs.
#pragma once

#include <filesystem>
#include <system_error>

namespace tuneband::os {

// As std::filesystem::remove_all; directories in which nothing may be removed are made writable first, where they are this
// user's.
void remove_tree(const std::filesystem::path& path, std::error_code& error);

// Copies the files, directories and links below `from` into the directory `to`, with their permissions. What goes away meanwhile
// is left out, and so are pipes, sockets and devices.
void copy_tree(const std::filesystem::path& from, const std::filesystem::path& to, std::error_code& error);

}  // namespace tuneband::os

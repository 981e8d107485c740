// What a program says of an exception that ends what it does.
#pragma once

#include <exception>
#include <string>

namespace tuneband::os {

inline constexpr const char* kMoreFileHandles = "raise the limit: ulimit -n";

// The process or the machine has no more of them; an error of errno.
bool is_want_of_file_handles(int error);
bool is_want_of_file_handles(const std::exception& failure);

// Its own words; where no file handle was left, what gives more of them.
std::string fault_text(const std::exception& failure);

}  // namespace tuneband::os

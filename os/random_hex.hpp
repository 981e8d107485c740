// Numbers that nobody can guess, from the system.
#pragma once

#include <cstddef>
#include <string>

namespace tuneband::os {

// So many of them, each of 32 bits as 8 digits.
std::string random_hex(std::size_t numbers);

}  // namespace tuneband::os

#pragma once

#include <cstdint>

namespace tuneband {

inline constexpr std::int64_t kMegabyte = 1024 * 1024;  // bytes

}  // namespace tuneband

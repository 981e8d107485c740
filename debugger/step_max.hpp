#pragma once

#include <cstdint>

namespace tuneband::debugger {

inline constexpr std::int64_t kStepMax = 1'000'000'000'000;  // of a training

}  // namespace tuneband::debugger

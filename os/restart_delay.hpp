// How long to wait before a process that keeps ending is started again.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace tuneband::os {

// The first early death may be an accident; from the second in a row on the delay doubles, from `ms_min` to `ms_max`.
inline std::chrono::milliseconds restart_delay(int early_deaths, std::int64_t ms_min, std::int64_t ms_max) {
  constexpr int kDoublingsMax = 20;
  if (early_deaths <= 1) return std::chrono::milliseconds(0);
  return std::chrono::milliseconds(std::min(ms_min << std::min(early_deaths - 2, kDoublingsMax), ms_max));
}

}  // namespace tuneband::os

// A number of a file as XGBoost has it.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace tuneband::workers {

// The nearest 32-bit float; nothing: none is near, or it is not finite.
inline std::optional<float> float_of(double number) {
  constexpr double kMax = std::numeric_limits<float>::max();
  constexpr double kHalfAStep = 0x1p103;  // the greatest float is written in fewer digits as 3.4028235e38, which is above it
  if (!(std::abs(number) < kMax + kHalfAStep)) return std::nullopt;
  return static_cast<float>(std::clamp(number, -kMax, kMax));
}

}  // namespace tuneband::workers

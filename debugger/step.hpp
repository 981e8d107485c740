#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "core/json.hpp"

namespace tuneband::debugger {

inline constexpr std::int64_t kStepMax = 1'000'000'000'000;  // of a training

// A whole number from 0 to kStepMax; nothing: it is none.
inline std::optional<std::int64_t> step_from_json(const Json& json) {
  if (!json.is_number()) return std::nullopt;
  const double step = json.get<double>();
  const bool whole = step >= 0 && step <= static_cast<double>(kStepMax) && step == std::floor(step);
  return whole ? std::optional(static_cast<std::int64_t>(step)) : std::nullopt;
}

}  // namespace tuneband::debugger

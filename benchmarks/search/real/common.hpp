// What the recorder and the benchmarks of real trainings have in common.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <utility>

#include "core/error.hpp"

namespace tuneband {

inline constexpr std::int64_t kMaxResource = 81;  // max_resource of every search and training

// Throws std::runtime_error with what the error says.
template <typename T>
T checked(Result<T> result) {
  if (!result) throw std::runtime_error(describe(result.error()));
  return std::move(*result);
}

}  // namespace tuneband

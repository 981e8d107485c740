#pragma once

#include <optional>
#include <string_view>

#include "core/decimal.hpp"

namespace tuneband {

inline constexpr int kPortMax = 65'535;

// Of TCP, written in decimal: 1 to 65535.
inline std::optional<int> port_number(std::string_view text) {
  const auto port = whole_number(text);
  if (!port || *port < 1 || *port > kPortMax) return std::nullopt;
  return static_cast<int>(*port);
}

}  // namespace tuneband

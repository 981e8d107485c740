// Values that a trainer measures together, by name.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tuneband {

using Metrics = std::vector<std::pair<std::string, double>>;  // NaN and infinity are values

// The last one of that name.
inline std::optional<double> find_metric(const Metrics& metrics, std::string_view name) {
  const auto found = std::find_if(metrics.rbegin(), metrics.rend(), [name](const auto& metric) { return metric.first == name; });
  return found == metrics.rend() ? std::nullopt : std::optional(found->second);
}

inline bool all_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

}  // namespace tuneband

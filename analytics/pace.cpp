#include "analytics/pace.hpp"

#include <algorithm>

namespace tuneband {

std::optional<double> ms_per_unit(const std::vector<SegmentTime>& segments) {
  std::int64_t units = 0;
  std::int64_t ms = 0;
  for (auto first = segments.begin(); first != segments.end();) {
    const auto next = std::find_if(first, segments.end(), [&](const SegmentTime& one) { return one.trial != first->trial; });
    const auto last = next - 1;
    const int sign = (last->units > first->units) - (last->units < first->units);
    units += sign * (last->units - first->units);
    ms += sign * (last->ms - first->ms);
    first = next;
  }
  if (units == 0 || ms <= 0) return std::nullopt;
  return static_cast<double>(ms) / static_cast<double>(units);
}

}  // namespace tuneband

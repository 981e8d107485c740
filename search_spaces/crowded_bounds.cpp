#include "search_spaces/crowded_bounds.hpp"

#include <algorithm>
#include <cmath>

namespace tuneband {

namespace {

struct Ends {
  Value min;
  Value max;
};

std::optional<Ends> ends_of(const Domain& domain) {
  constexpr double kValuesMin = 5;
  if (count_of_values(domain) < kValuesMin) return std::nullopt;
  if (const auto* number = std::get_if<FloatDomain>(&domain)) return Ends{number->min, number->max};
  const auto* whole = std::get_if<IntDomain>(&domain);
  return whole == nullptr ? std::nullopt : std::optional(Ends{whole->min, whole->max});
}

bool is_number(const Value& value, std::int64_t number) {
  return value == Value(number) || value == Value(static_cast<double>(number));
}

}  // namespace

int crowd_size(std::int64_t measured) {
  const std::int64_t third = measured / 3;
  return third < kCrowdedBestMin ? 0 : static_cast<int>(std::min<std::int64_t>(third, kCrowdedBestMax));
}

std::vector<CrowdedBound> crowded_bounds(const SearchSpace& space, const std::vector<Configuration>& best) {
  std::vector<CrowdedBound> crowded;
  for (const Parameter& parameter : space.parameters()) {
    const auto ends = ends_of(parameter.domain);
    if (!ends) continue;
    for (const bool at_max : {false, true}) {
      CrowdedBound here{parameter.name, at_max, at_max ? ends->max : ends->min};
      if (is_number(here.bound, at_max ? 1 : 0)) continue;
      const double end = unit_of(parameter.domain, here.bound);
      for (const Configuration& configuration : best) {
        const auto value = configuration.find(parameter.name);
        if (value == configuration.end()) continue;
        ++here.of;
        if (std::abs(unit_of(parameter.domain, value->second) - end) <= kCrowdedShare) ++here.trials;
      }
      if (here.of >= kCrowdedBestMin && 2 * here.trials > here.of) crowded.push_back(std::move(here));
    }
  }
  return crowded;
}

}  // namespace tuneband

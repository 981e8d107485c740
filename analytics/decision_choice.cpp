#include "analytics/decision_choice.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace tuneband {

namespace {

bool by_rung_and_value(const DecisionShown& a, const DecisionShown& b) {
  const auto key = [](const DecisionShown& one) {
    const bool valued = one.value && !std::isnan(*one.value);
    return std::tuple(one.bracket, one.rung, !valued, valued ? *one.value : 0.0, one.trial);
  };
  return key(a) < key(b);
}

}  // namespace

std::vector<DecisionShown> thinned(std::vector<DecisionShown> all, std::size_t max) {
  if (all.size() <= max) return all;
  std::sort(all.begin(), all.end(), by_rung_and_value);
  const double share = static_cast<double>(max) / static_cast<double>(all.size());
  std::vector<DecisionShown> kept;
  for (auto begin = all.begin(); begin != all.end();) {
    const auto end = std::find_if(
        begin, all.end(), [&](const DecisionShown& one) { return one.bracket != begin->bracket || one.rung != begin->rung; });
    const auto count = static_cast<std::size_t>(end - begin);
    const std::size_t keep =
        std::min(count, std::max<std::size_t>(2, static_cast<std::size_t>(static_cast<double>(count) * share)));
    for (std::size_t i = 0; i < keep; ++i) {
      const std::size_t at = keep == 1 ? 0 : i * (count - 1) / (keep - 1);
      kept.push_back(begin[static_cast<std::ptrdiff_t>(at)]);
    }
    begin = end;
  }
  return kept;
}

}  // namespace tuneband

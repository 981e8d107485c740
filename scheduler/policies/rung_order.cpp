#include "scheduler/policies/rung_order.hpp"

#include <compare>

namespace tuneband {

void PairCounts::add(const Worth& a_below, const Worth& b_below, const Worth& a_above, const Worth& b_above) {
  const std::partial_ordering below = a_below <=> b_below;
  const std::partial_ordering above = a_above <=> b_above;
  if (below == std::partial_ordering::unordered || above == std::partial_ordering::unordered) return;
  same_order += below == 0 || above == 0 ? 0.5 : below == above ? 1 : 0;
  ++pairs;
}

void RungOrder::add(int index, int trial, const Worth& worth) {
  auto& here = results_[static_cast<std::size_t>(index)];
  if (worth.tier == Standing::failed) return;
  // The lower rung has many more trials than go on: only those that both have are compared.
  const Worth* below = index > 0 ? find(index - 1, trial) : nullptr;
  if (below != nullptr && here.size() < kTrialsAtRungMax) {
    PairCounts& pairs = pairs_[static_cast<std::size_t>(index) - 1];
    for (const auto& [another, its] : here) {
      if (const Worth* its_below = find(index - 1, another)) pairs.add(*below, *its_below, worth, its);
    }
  }
  here.emplace(trial, worth);
}

const Worth* RungOrder::find(int index, int trial) const {
  const auto& here = results_[static_cast<std::size_t>(index)];
  const auto found = here.find(trial);
  return found == here.end() ? nullptr : &found->second;
}

}  // namespace tuneband

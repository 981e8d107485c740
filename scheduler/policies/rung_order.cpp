#include "scheduler/policies/rung_order.hpp"

#include <compare>
#include <tuple>

namespace tuneband {

namespace {

// -1: a is better; 0: a tie; 1: b is.
int order_of(const Standing& a, const Standing& b) {
  const auto order = std::tie(a.tier, a.violation, a.cost) <=> std::tie(b.tier, b.violation, b.cost);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

}  // namespace

double same_order(const Standing& a_below, const Standing& b_below, const Standing& a_above, const Standing& b_above) {
  const int product = order_of(a_below, b_below) * order_of(a_above, b_above);
  return product > 0 ? 1 : product == 0 ? 0.5 : 0;
}

void RungOrder::add(int index, const Standing& standing) {
  auto& here = results_[static_cast<std::size_t>(index)];
  if (standing.tier == Standing::failed) return;
  // The lower rung has many more trials than go on: only those that both have are compared.
  const Standing* below = index > 0 ? find(index - 1, standing.trial) : nullptr;
  if (below != nullptr && here.size() < kTrialsAtRungMax) {
    PairCounts& pairs = pairs_[static_cast<std::size_t>(index) - 1];
    for (const auto& [trial, other] : here) {
      const Standing* other_below = find(index - 1, trial);
      if (other_below == nullptr) continue;
      pairs.same_order += same_order(*below, *other_below, standing, other);
      ++pairs.pairs;
    }
  }
  here.emplace(standing.trial, standing);
}

const Standing* RungOrder::find(int index, int trial) const {
  const auto& here = results_[static_cast<std::size_t>(index)];
  const auto found = here.find(trial);
  return found == here.end() ? nullptr : &found->second;
}

}  // namespace tuneband

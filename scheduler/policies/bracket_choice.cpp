#include "scheduler/policies/bracket_choice.hpp"

#include <algorithm>
#include <cmath>

namespace tuneband {

std::vector<double> BracketChoice::shares(const RungOrder& order) const {
  const int k = static_cast<int>(started_in_.size());
  std::vector<double> shares(started_in_.size());
  double trust = 1;
  double sum = 0;
  for (int bracket = k - 1; bracket >= 0; --bracket) {
    if (bracket < k - 1) trust *= std::max(0.0, 2 * order.between(bracket).shrunk(kPriorConcordance, kPriorPairs) - 1);
    const double share = std::pow(trust * k / (k - bracket) * std::pow(eta_, k - 1 - bracket), kDecisiveness);
    shares[static_cast<std::size_t>(bracket)] = share;
    sum += share;
  }
  for (double& share : shares) share /= sum;
  return shares;
}

int BracketChoice::choose(const RungOrder& order, int trials) const {
  const std::vector<double> share = shares(order);
  std::size_t chosen = 0;
  double furthest_behind = -1;
  for (std::size_t bracket = 0; bracket < share.size(); ++bracket) {
    const double behind = share[bracket] * (trials + 1) - started_in_[bracket];
    if (behind <= furthest_behind) continue;
    furthest_behind = behind;
    chosen = bracket;
  }
  return static_cast<int>(chosen);
}

}  // namespace tuneband

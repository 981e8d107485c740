#include "scheduler/async_hyperband.hpp"

#include <algorithm>
#include <cmath>

namespace tuneband {

namespace {

SchedulerSpec without_audit(SchedulerSpec spec) {
  spec.rung_audit = false;
  return spec;
}

}  // namespace

AsyncHyperband::AsyncHyperband(const SchedulerSpec& spec, Goal goal, std::optional<int> trials_max)
    : DelayedPromotion(without_audit(spec), goal, trials_max), started_in_(static_cast<std::size_t>(top()) + 1) {}

std::vector<double> AsyncHyperband::shares() const {
  const int k = top() + 1;
  std::vector<double> shares(static_cast<std::size_t>(k));
  double trust = 1;
  double sum = 0;
  for (int bracket = k - 1; bracket >= 0; --bracket) {
    if (bracket < top()) trust *= std::max(0.0, 2 * order().between(bracket).shrunk(kPriorConcordance, kPriorPairs) - 1);
    const double share = std::pow(trust * k / (k - bracket) * std::pow(eta_, k - 1 - bracket), kDecisiveness);
    shares[static_cast<std::size_t>(bracket)] = share;
    sum += share;
  }
  for (double& share : shares) share /= sum;
  return shares;
}

AshaPolicy::Place AsyncHyperband::place_of_new() const {
  const std::vector<double> share = shares();
  std::size_t chosen = 0;
  double furthest_behind = -1;
  for (std::size_t bracket = 0; bracket < share.size(); ++bracket) {
    const double behind = share[bracket] * (started_trials() + 1) - started_in_[bracket];
    if (behind <= furthest_behind) continue;
    furthest_behind = behind;
    chosen = bracket;
  }
  return {static_cast<int>(chosen), 0};
}

int AsyncHyperband::bracket_of(int trial) const {
  const auto found = brackets_.find(trial);
  return found == brackets_.end() ? 0 : found->second;
}

void AsyncHyperband::started(int trial, const Place& place) {
  ++started_in_[static_cast<std::size_t>(place.bracket)];
  if (place.bracket > 0) brackets_.emplace(trial, place.bracket);
}

}  // namespace tuneband

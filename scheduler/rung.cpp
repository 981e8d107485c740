#include "scheduler/rung.hpp"

#include <cmath>

namespace tuneband {

Standing standing_of(const Arrival& arrival, Goal goal) {
  if (!arrival.value) return {Standing::failed, 0, arrival.trial};
  if (!std::isfinite(*arrival.value)) return {Standing::not_finite, 0, arrival.trial};
  return {Standing::finite, goal == Goal::maximize ? -*arrival.value : *arrival.value, arrival.trial};
}

double value_of(const Standing& finite, Goal goal) { return goal == Goal::maximize ? -finite.cost : finite.cost; }

Standing Rung::add(const Arrival& arrival) {
  const Standing standing = standing_of(arrival, goal_);
  results_.insert(standing);
  waiting_.insert(standing);
  if (standing.tier == Standing::finite) ++finite_;
  return standing;
}

void Rung::add_settled(const Arrival& arrival) { settle(add(arrival)); }

Ruling Rung::rule(const Standing& standing, Verdict verdict, int bracket, int rung, int keep, std::string rule) const {
  Ruling ruling;
  ruling.trial = standing.trial;
  ruling.bracket = bracket;
  ruling.rung = rung;
  ruling.verdict = verdict;
  ruling.rank = rank(standing);
  ruling.filled = filled();
  ruling.slots = slots_;
  ruling.keep = keep;
  ruling.rule = std::move(rule);
  if (keep > 0 && keep <= finite_) {
    ruling.cutoff = value_of(*results_.find_by_order(static_cast<std::size_t>(keep - 1)), goal_);
  }
  for (auto other = results_.begin(); other != results_.end() && *other < standing && ruling.ahead.size() < kAheadMax; ++other) {
    ruling.ahead.push_back(other->trial);
  }
  return ruling;
}

}  // namespace tuneband

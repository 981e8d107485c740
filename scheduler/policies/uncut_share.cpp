#include "scheduler/policies/uncut_share.hpp"

#include <algorithm>
#include <cmath>

namespace tuneband {

UncutShare::UncutShare(const Rungs& rungs) : top_(rungs.top()) {
  for (int index = 0; index <= top_; ++index) {
    const std::int64_t below = rungs.restarts() || index == 0 ? 0 : rungs.at(index - 1).level();
    costs_.push_back(static_cast<double>(rungs.at(index).level() - below));
  }
}

bool UncutShare::due(const Rungs& rungs) const {
  double spent = 0;  // on trials that the rungs decide about
  for (int index = 0; index <= top_; ++index) {
    const int filled = rungs.at(index).filled() - (index == top_ ? arrived_ : 0);
    spent += filled * costs_[static_cast<std::size_t>(index)];
  }
  const double next = (started_ + 0.5) * static_cast<double>(rungs.at(top_).level());
  return next <= spent * share() / (1 - share());
}

std::int64_t UncutShare::expected(std::int64_t spent_by_others, std::int64_t max_resource) {
  const double trainings = static_cast<double>(spent_by_others) / static_cast<double>(max_resource);
  return std::llround(std::floor(trainings * (1 - kPriorWon) / kPriorWon + 0.5));
}

void UncutShare::learned(const Worth& worth, int bracket) {
  const bool uncut = bracket == top_;
  arrived_ += uncut ? 1 : 0;
  auto& own = uncut ? uncut_ : let_through_;
  if (own.size() >= kTrialsKnownMax) return;
  for (const Worth& other : uncut ? let_through_ : uncut_) {
    const std::partial_ordering order = uncut ? other <=> worth : worth <=> other;
    if (order == std::partial_ordering::unordered) continue;
    pairs_won_ += order < 0 ? 1 : order == 0 ? 0.5 : 0;
    ++pairs_;
  }
  own.push_back(worth);
}

double UncutShare::share() const {
  const double won = (pairs_won_ + kPriorWon * kPriorPairs) / (pairs_ + kPriorPairs);
  return std::clamp(1 - won, kShareMin, kShareMax);
}

}  // namespace tuneband

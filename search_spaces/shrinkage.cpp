#include "search_spaces/shrinkage.hpp"

#include <algorithm>
#include <cmath>

namespace tuneband {

double eta_of_shrinkage(double shrinkage, std::int64_t rounds) { return -std::expm1(-shrinkage / static_cast<double>(rounds)); }

double shrunk_eta(double eta, std::int64_t rounds, std::int64_t max_rounds, double shrinkage_max) {
  if (rounds == max_rounds || !(eta > 0 && eta < 1)) return eta;
  const double shrinkage = std::min(-static_cast<double>(max_rounds) * std::log1p(-eta), shrinkage_max);
  return std::max(eta, eta_of_shrinkage(shrinkage, rounds));
}

std::optional<double> adapted_eta(const BestRound& training) {
  constexpr double kEarly = 0.75;  // of the rounds
  constexpr double kBeyondEarly = 1.2;
  constexpr double kBeyondLate = 1.5;
  constexpr double kHalfARound = 0.5;   // the best total lies between two rounds
  constexpr double kWorthwhile = 0.85;  // of the larger of the two rates
  const auto best = static_cast<double>(training.best);
  if (!(training.eta > 0 && training.eta < 1) || best < 1) return std::nullopt;
  const bool early = best <= kEarly * static_cast<double>(training.rounds);
  const double rounds = early ? kBeyondEarly * (best + kHalfARound) : kBeyondLate * best;
  const double rate = shrunk_eta(training.eta, training.rounds, training.max_rounds, training.shrinkage_max);
  const double adapted = eta_of_shrinkage(-rounds * std::log1p(-rate), training.max_rounds);
  const bool worthwhile = std::min(adapted, training.eta) < kWorthwhile * std::max(adapted, training.eta);
  return worthwhile ? std::optional(adapted) : std::nullopt;
}

}  // namespace tuneband

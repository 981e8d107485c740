#include "search_spaces/shrinkage.hpp"

#include <algorithm>
#include <cmath>

namespace tuneband {

double shrunk_eta(double eta, std::int64_t rounds, std::int64_t max_rounds, double shrinkage_max) {
  if (rounds == max_rounds || !(eta > 0 && eta < 1)) return eta;
  const double shrinkage = std::min(-static_cast<double>(max_rounds) * std::log1p(-eta), shrinkage_max);
  return std::max(eta, -std::expm1(-shrinkage / static_cast<double>(rounds)));
}

std::optional<double> finer_eta(const EarlyBest& training) {
  constexpr double kEarly = 0.75;       // of the rounds
  constexpr double kWorthwhile = 0.85;  // of eta
  constexpr double kHalfARound = 0.5;   // the best total lies between two rounds
  const auto best = static_cast<double>(training.best);
  if (!(training.eta > 0 && training.eta < 1) || best < 1 || best > kEarly * static_cast<double>(training.rounds))
    return std::nullopt;
  const double rate = shrunk_eta(training.eta, training.rounds, training.max_rounds, training.shrinkage_max);
  const double useful = -(best + kHalfARound) * std::log1p(-rate);
  const double finer = -std::expm1(-useful / static_cast<double>(training.max_rounds));
  return finer < kWorthwhile * training.eta ? std::optional(finer) : std::nullopt;
}

}  // namespace tuneband

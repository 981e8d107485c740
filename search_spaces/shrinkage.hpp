// How much boosted trees shrink what is left to learn: rounds and learning rate taken together. With a learning rate eta a round
// leaves the share 1 - eta of it (as it does of the squared error of a leaf's mean when rounds build the same tree), so the total
// shrinkage of so many rounds is -rounds ln(1 - eta).
#pragma once

#include <cstdint>
#include <optional>

namespace tuneband {

// The learning rate of a training of `rounds` rounds that shrinks what is left to learn as much as `max_rounds` rounds with `eta`
// do, but for what they do beyond a total that leaves next to nothing:
//
//   max(eta, 1 - exp(-min(S, shrinkage_max) / rounds)),  S = -max_rounds ln(1 - eta)
//
// which is 1 - (1 - eta)^(max_rounds / rounds) up to shrinkage_max: both leave exp(-S). `eta` itself at max_rounds, and outside
// of 0 < eta < 1. 1 <= rounds <= max_rounds; shrinkage_max > 0.
double shrunk_eta(double eta, std::int64_t rounds, std::int64_t max_rounds, double shrinkage_max);

// Of a total shrinkage of 8 a three thousandth is left to learn. docs/search-measurements.md has the measurements.
inline constexpr double kShrinkageMax = 8;

// A training as above whose best round came early: it shrank more than was of use.
struct EarlyBest {
  double eta = 0;
  std::int64_t rounds = 0;
  std::int64_t best = 0;  // from 1
  std::int64_t max_rounds = 0;
  double shrinkage_max = kShrinkageMax;
};

// The learning rate with which `max_rounds` rounds shrink as much in total as that training had until half a round after its best
// one: the same in smaller steps. Smaller steps to the same end are hardly ever worse (Friedman, "Greedy function approximation",
// Annals of Statistics 29 (2001), section 5). Nothing where the best round came in the last quarter, where less than a seventh
// would be taken off eta, and outside of 0 < eta < 1.
std::optional<double> finer_eta(const EarlyBest& training);

}  // namespace tuneband

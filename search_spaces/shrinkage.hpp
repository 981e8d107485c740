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

// Of a total shrinkage of 8 a three thousandth is left to learn. Where the learning rate follows the curve, which shows what
// was too much, more is of use. docs/search-measurements.md has the measurements.
inline constexpr double kShrinkageMax = 8;
inline constexpr double kShrinkageMaxToFollow = 12;

// The learning rate with which so many rounds shrink as much in total.
double eta_of_shrinkage(double shrinkage, std::int64_t rounds);

// Which of the rounds of a training as above was its best one.
struct BestRound {
  double eta = 0;
  std::int64_t rounds = 0;
  std::int64_t best = 0;  // from 1; 0: not known
  std::int64_t max_rounds = 0;
  double shrinkage_max = kShrinkageMaxToFollow;
};

// The learning rate with which `max_rounds` rounds shrink in total as much as is of use by what that training says. Where its
// best round came early it shrank too much: a fifth more than until half a round after that one, since smaller steps to the same
// end are hardly ever worse (Friedman, "Greedy function approximation", Annals of Statistics 29 (2001), section 5) and come to
// more. Where it came in the last quarter more might be better: half as much again. Nothing where the two rates differ by less
// than a seventh, and outside of 0 < eta < 1.
std::optional<double> adapted_eta(const BestRound& training);

}  // namespace tuneband

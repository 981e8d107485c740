// Random numbers and the normal distribution, as the samplers that learn need them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "core/random.hpp"

namespace tuneband {

// Phi(x) and its inverse for p in (0, 1).
inline double normal_cdf(double x) { return 0.5 * std::erfc(-x * std::numbers::sqrt2 / 2); }
double normal_quantile(double p);

// Of the normal with this centre and width (a deviation), cut at 0 and 1: the value that `share` of it lies below.
double cut_normal_quantile(double centre, double width, double share);

// log of E[max(0, -Z)] for Z normal with mean `z_mean` and deviation 1, without underflow where that is far above 0.
double log_unit_improvement(double z_mean);

// log of how much less the least of several expected values is expected to become when one of them, which lies `gap` above the
// least of the others (or below it: negative), moves by a normal number of mean 0 and deviation `change`: the knowledge gradient
// (Frazier, Powell and Dayanik, "A Knowledge-Gradient Policy for Sequential Information Collection", SIAM J. Control Optim. 47
// (2008)): log(change) + log(phi(z) - z Phi(-z)), z = |gap| / change. -infinity where nothing would move.
double log_knowledge_gradient(double change, double gap);

// A stream of numbers that is a function of (seed, stream, index).
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t stream, std::int64_t index)
      : seed_(random_bits(seed, {stream, static_cast<std::uint64_t>(index)})) {}

  double unit() { return to_unit(mix64(seed_ ^ mix64(++count_))); }  // [0, 1)
  double normal() { return normal_quantile(unit() * (1 - 0x1.0p-53) + 0x1.0p-54); }
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(unit() * static_cast<double>(count)); }

 private:
  std::uint64_t seed_;
  std::uint64_t count_ = 0;
};

}  // namespace tuneband

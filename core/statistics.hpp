// What a sample says of the values that it is of.
#pragma once

#include <cmath>
#include <span>

namespace tuneband {

struct MeanAndDeviation {
  double mean = 0;
  double deviation = 0;  // with n - 1
};

// Of no value 0 and 0, of one value itself and 0.
inline MeanAndDeviation mean_and_deviation(std::span<const double> sample) {
  MeanAndDeviation of;
  const auto n = static_cast<double>(sample.size());
  for (const double value : sample) of.mean += value / n;
  if (sample.size() < 2) return of;
  double squares = 0;
  for (const double value : sample) squares += (value - of.mean) * (value - of.mean);
  of.deviation = std::sqrt(squares / (n - 1));
  return of;
}

}  // namespace tuneband

#include "search_spaces/draws.hpp"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <limits>
#include <numeric>

namespace tuneband {

double normal_quantile(double p) { return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * p); }

double log_unit_improvement(double z_mean) {
  constexpr double kFar = 6;
  const double log_density = -0.5 * z_mean * z_mean - 0.5 * std::log(2 * std::numbers::pi);
  if (z_mean < kFar) return std::log(std::exp(log_density) - z_mean * normal_cdf(-z_mean));
  // Mills' ratio to the third term: phi(z) - z Phi(-z) = phi(z) (1 / z^2 - 3 / z^4 + 15 / z^6 - ...)
  const double inverse_square = 1 / (z_mean * z_mean);
  return log_density + std::log(inverse_square * (1 - 3 * inverse_square + 15 * inverse_square * inverse_square));
}

std::vector<double> normal_scores(const std::vector<double>& costs) {
  std::vector<double> finite = costs;
  for (double& cost : finite) cost = std::isfinite(cost) ? cost : std::numeric_limits<double>::infinity();
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return finite[a] < finite[b]; });
  std::vector<double> scores(costs.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && finite[order[end]] == finite[order[begin]]) ++end;
    const double score = normal_quantile(static_cast<double>(begin + end) / 2 / static_cast<double>(order.size()));
    for (; begin < end; ++begin) scores[order[begin]] = score;
  }
  return scores;
}

}  // namespace tuneband

#include "search_spaces/draws.hpp"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <limits>

namespace tuneband {

double normal_quantile(double p) { return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * p); }

double cut_normal_quantile(double centre, double width, double share) {
  const double below = normal_cdf(-centre / width);
  const double of_all = below + (normal_cdf((1 - centre) / width) - below) * share;
  return std::clamp(centre + width * normal_quantile(std::clamp(of_all, 1e-300, 1 - 0x1.0p-53)), 0.0, 1.0);
}

double log_unit_improvement(double z_mean) {
  constexpr double kFar = 6;
  const double log_density = -0.5 * z_mean * z_mean - 0.5 * std::log(2 * std::numbers::pi);
  if (z_mean < kFar) return std::log(std::exp(log_density) - z_mean * normal_cdf(-z_mean));
  // Mills' ratio to the third term: phi(z) - z Phi(-z) = phi(z) (1 / z^2 - 3 / z^4 + 15 / z^6 - ...)
  const double inverse_square = 1 / (z_mean * z_mean);
  return log_density + std::log(inverse_square * (1 - 3 * inverse_square + 15 * inverse_square * inverse_square));
}

double log_knowledge_gradient(double change, double gap) {
  if (!(change > 0)) return -std::numeric_limits<double>::infinity();
  return std::log(change) + log_unit_improvement(std::abs(gap) / change);
}

}  // namespace tuneband

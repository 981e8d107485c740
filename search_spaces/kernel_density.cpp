#include "search_spaces/kernel_density.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tuneband {

namespace {

constexpr double kWider = 3;
constexpr double kBandwidthMin = 1e-3;
constexpr double kNormalReference = 1.06;  // Scott's and Silverman's rule

}  // namespace

KernelDensity::KernelDensity(const Encoding& encoding, std::vector<const Point*> points)
    : encoding_(encoding), points_(std::move(points)) {
  const auto& dimensions = encoding_.dimensions();
  const double shrink = std::pow(static_cast<double>(points_.size()), -1 / (4 + static_cast<double>(dimensions.size())));
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    const auto categories = static_cast<double>(dimensions[d].categories);
    const double width = categories > 0 ? (1 - 1 / categories) * shrink * shrink : kNormalReference * deviation(d) * shrink;
    bandwidths_.push_back(std::max(kBandwidthMin, width));
  }
}

double KernelDensity::log_density(const Point& at) const {
  double sum = 0;
  for (const Point* centre : points_) sum += kernel(*centre, at);
  return std::log(std::max(sum / static_cast<double>(points_.size()), std::numeric_limits<double>::min()));
}

Point KernelDensity::near(const Point& centre, Draws& draws) const {
  Point drawn = centre;
  for (std::size_t d = 0; d < drawn.size(); ++d) {
    const std::size_t categories = encoding_.dimensions()[d].categories;
    if (drawn[d] == kInactive) {
      continue;
    } else if (categories > 0) {
      if (draws.unit() < bandwidths_[d]) drawn[d] = static_cast<double>(draws.below(categories));
    } else {
      drawn[d] = cut_normal_quantile(drawn[d], kWider * bandwidths_[d], draws.unit());
    }
  }
  return encoding_.completed(drawn, draws);
}

double KernelDensity::deviation(std::size_t dimension) const {
  double sum = 0;
  double squares = 0;
  double count = 0;
  for (const Point* point : points_) {
    const double at = (*point)[dimension];
    if (at == kInactive) continue;
    sum += at;
    squares += at * at;
    ++count;
  }
  return count > 1 ? std::sqrt(std::max(0.0, squares / count - sum / count * sum / count)) : 0;
}

double KernelDensity::kernel(const Point& centre, const Point& at) const {
  double product = 1;
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (centre[d] == kInactive || at[d] == kInactive) continue;
    const auto categories = static_cast<double>(encoding_.dimensions()[d].categories);
    const double width = bandwidths_[d];
    if (categories > 1) {
      product *= categories * (centre[d] == at[d] ? 1 - width : width / (categories - 1));  // 1 were it uniform
    } else if (categories == 0) {
      const double z = (at[d] - centre[d]) / width;
      product *= std::exp(-0.5 * z * z) / (width * std::sqrt(2 * std::numbers::pi));
    }
  }
  return product;
}

}  // namespace tuneband

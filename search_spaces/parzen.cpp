#include "search_spaces/parzen.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tuneband {

namespace {

constexpr double kPriorCentre = 0.5;
constexpr double kPriorWidth = 1;
constexpr double kPriorWeight = 1;
constexpr std::size_t kNarrowestAt = 100;
constexpr std::size_t kNewest = 25;

}  // namespace

std::vector<double> weights_by_age(std::size_t count) {
  std::vector<double> weights(count, 1.0);
  if (count <= kNewest) return weights;
  const std::size_t older = count - kNewest;
  const double first = 1 / static_cast<double>(count);
  for (std::size_t i = 0; i < older; ++i) {
    const double share = older > 1 ? static_cast<double>(i) / static_cast<double>(older - 1) : 0;
    weights[i] = first + (1 - first) * share;
  }
  return weights;
}

ParzenEstimator::ParzenEstimator(const Encoding::Dimension& dimension, const std::vector<double>& coordinates)
    : step_(dimension.step), probabilities_(dimension.categories, 0.0) {
  std::vector<double> weights = weights_by_age(coordinates.size());
  weights.push_back(kPriorWeight);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= sum;
  if (dimension.categories > 0) {
    build_categories(coordinates, weights);
  } else {
    build_numbers(coordinates, weights);
  }
}

void ParzenEstimator::build_numbers(const std::vector<double>& coordinates, const std::vector<double>& weights) {
  for (std::size_t i = 0; i < coordinates.size(); ++i) kernels_.push_back({coordinates[i], 0, weights[i]});
  kernels_.push_back({kPriorCentre, 0, weights.back()});
  std::vector<std::size_t> order(kernels_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return kernels_[a].centre < kernels_[b].centre; });
  const std::size_t count = kernels_.size();
  const double narrowest = 1.0 / static_cast<double>(std::min(kNarrowestAt, count + 1));
  for (std::size_t i = 0; i < count; ++i) {
    Kernel& kernel = kernels_[order[i]];
    const double left = i > 0 ? kernel.centre - kernels_[order[i - 1]].centre : kernel.centre;
    const double right = i + 1 < count ? kernels_[order[i + 1]].centre - kernel.centre : 1 - kernel.centre;
    double width = std::max(left, right);
    if (count >= 2 && i == 0) width = right;  // the ends of the scale are no neighbours
    if (count >= 2 && i + 1 == count) width = left;
    kernel.width = std::clamp(width, narrowest, 1.0);
  }
  kernels_.back().width = kPriorWidth;
  double sum = 0;
  for (Kernel& kernel : kernels_) {
    const double inside = normal_cdf((1 - kernel.centre) / kernel.width) - normal_cdf(-kernel.centre / kernel.width);
    kernel.scale = kernel.weight / inside;
    cumulative_.push_back(sum += kernel.weight);
  }
}

void ParzenEstimator::build_categories(const std::vector<double>& coordinates, const std::vector<double>& weights) {
  const auto kernels = static_cast<double>(weights.size());
  const auto categories = static_cast<double>(probabilities_.size());
  const double spread = kPriorWeight / kernels;  // in each kernel, of each category
  for (std::size_t i = 0; i < coordinates.size(); ++i) {
    const double scale = weights[i] / (1 + spread * categories);
    for (double& probability : probabilities_) probability += scale * spread;
    probabilities_[static_cast<std::size_t>(coordinates[i])] += scale;
  }
  for (double& probability : probabilities_) probability += weights.back() / categories;
  double sum = 0;
  for (const double probability : probabilities_) cumulative_.push_back(sum += probability);
}

std::size_t ParzenEstimator::pick(double unit, const std::vector<double>& cumulative) const {
  const auto at = std::upper_bound(cumulative.begin(), cumulative.end(), unit * cumulative.back());
  return std::min(static_cast<std::size_t>(at - cumulative.begin()), cumulative.size() - 1);
}

double ParzenEstimator::draw(Draws& draws) const {
  const std::size_t picked = pick(draws.unit(), cumulative_);
  if (!probabilities_.empty()) return static_cast<double>(picked);
  return cut_normal_quantile(kernels_[picked].centre, kernels_[picked].width, draws.unit());
}

double ParzenEstimator::log_density(double coordinate) const {
  if (!probabilities_.empty()) return std::log(probabilities_[static_cast<std::size_t>(coordinate)]);
  constexpr double kLeast = 1e-300;
  constexpr double kNothingBeyond = 12;  // deviations
  double density = 0;
  for (const Kernel& kernel : kernels_) {
    const double z = (coordinate - kernel.centre) / kernel.width;
    if (std::abs(z) > kNothingBeyond + step_ / kernel.width) continue;
    const double half = step_ / 2 / kernel.width;
    density += kernel.scale * (step_ > 0 ? normal_cdf(z + half) - normal_cdf(z - half) : std::exp(-0.5 * z * z) / kernel.width);
  }
  return std::log(std::max(density, kLeast));
}

}  // namespace tuneband

#include "search_spaces/bohb_sampler.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tuneband {

namespace {

constexpr std::uint64_t kBohbStream = 0x626f6862;
constexpr double kBohbRandomShare = 1.0 / 3;
constexpr int kBohbCandidates = 64;
constexpr double kGoodShare = 0.15;
constexpr double kWider = 3;
constexpr double kBandwidthMin = 1e-3;
constexpr double kNormalReference = 1.06;  // Scott's and Silverman's rule

// A product of kernels: normals for numbers, Aitchison and Aitken's for categories. A dimension that is inactive on either side
// says nothing: its factor is that of the uniform density.
class KernelDensity {
 public:
  KernelDensity(const Encoding& encoding, std::vector<const Point*> points) : encoding_(encoding), points_(std::move(points)) {
    const auto& dimensions = encoding_.dimensions();
    const double shrink = std::pow(static_cast<double>(points_.size()), -1 / (4 + static_cast<double>(dimensions.size())));
    for (std::size_t d = 0; d < dimensions.size(); ++d) {
      const auto categories = static_cast<double>(dimensions[d].categories);
      // A category's is the probability of another one. Scott's rule, as BOHB has it there too, would make of few categories
      // none.
      const double width = categories > 0 ? (1 - 1 / categories) * shrink * shrink : kNormalReference * deviation(d) * shrink;
      bandwidths_.push_back(std::max(kBandwidthMin, width));
    }
  }

  double log_density(const Point& at) const {
    double sum = 0;
    for (const Point* centre : points_) sum += kernel(*centre, at);
    return std::log(std::max(sum / static_cast<double>(points_.size()), std::numeric_limits<double>::min()));
  }

  Point near(const Point& centre, Draws& draws) const {
    Point drawn = centre;
    for (std::size_t d = 0; d < drawn.size(); ++d) {
      const std::size_t categories = encoding_.dimensions()[d].categories;
      if (drawn[d] == kInactive) {
        continue;
      } else if (categories > 0) {
        if (draws.unit() < bandwidths_[d]) drawn[d] = static_cast<double>(draws.below(categories));
      } else {
        drawn[d] = cut_normal(drawn[d], kWider * bandwidths_[d], draws);
      }
    }
    return encoding_.completed(drawn, draws);
  }

 private:
  double deviation(std::size_t dimension) const {
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

  double kernel(const Point& centre, const Point& at) const {
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

  static double cut_normal(double centre, double width, Draws& draws) {
    const double below = normal_cdf(-centre / width);
    const double share = below + (normal_cdf((1 - centre) / width) - below) * draws.unit();
    return std::clamp(centre + width * normal_quantile(std::clamp(share, 1e-300, 1 - 0x1.0p-53)), 0.0, 1.0);
  }

  const Encoding& encoding_;
  std::vector<const Point*> points_;
  std::vector<double> bandwidths_;
};

}  // namespace

BohbSampler::BohbSampler(const SearchSpace& space, std::uint64_t seed) : encoded_(space), random_(space, seed), seed_(seed) {}

Configuration BohbSampler::suggest(std::int64_t index, const History& history) {
  Draws draws(seed_, kBohbStream, index);
  if (draws.unit() < kBohbRandomShare) return random_.suggest(index, history);
  encoded_.follow(history);
  const Encoding& encoding = encoded_.encoding();
  const std::size_t least = encoding.dimensions().size() + 1;
  std::vector<RankedTrial> ranked;
  const auto enough = [&] { return ranked.size() > least && finite_count(ranked) >= least; };
  for (int level = static_cast<int>(history.levels().size()); level-- > 0 && !enough();) {
    ranked = encoded_.at_level(history, level);
  }
  if (!enough()) return random_.suggest(index, history);

  const auto count = static_cast<double>(ranked.size());
  const std::size_t good_count =
      std::min({ranked.size() - 1, finite_count(ranked), std::max(least, static_cast<std::size_t>(kGoodShare * count))});
  const std::size_t bad_count = std::max(least, static_cast<std::size_t>((1 - kGoodShare) * count));
  std::vector<const Point*> good;
  std::vector<const Point*> bad;
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    if (i < good_count) good.push_back(ranked[i].point);
    if (i >= good_count && i < good_count + bad_count) bad.push_back(ranked[i].point);
  }
  const KernelDensity likely(encoding, good);
  const KernelDensity unlikely(encoding, bad);
  Point best;
  double best_ratio = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < kBohbCandidates; ++i) {
    Point drawn = likely.near(*good[draws.below(good.size())], draws);
    const double ratio = likely.log_density(drawn) - unlikely.log_density(drawn);
    if (ratio <= best_ratio) continue;
    best_ratio = ratio;
    best = std::move(drawn);
  }
  return encoding.decode(best);
}

}  // namespace tuneband

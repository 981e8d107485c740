#include "search_spaces/bohb_sampler.hpp"

#include <algorithm>
#include <limits>

#include "search_spaces/kernel_density.hpp"

namespace tuneband {

namespace {

constexpr std::uint64_t kBohbStream = 0x626f6862;
constexpr double kBohbRandomShare = 1.0 / 3;
constexpr int kBohbCandidates = 64;
constexpr double kGoodShare = 0.15;

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
  const std::size_t good_count = std::min(finite_count(ranked), std::max(least, static_cast<std::size_t>(kGoodShare * count)));
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

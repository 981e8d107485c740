#include "search_spaces/tpe_sampler.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "search_spaces/parzen.hpp"

namespace tuneband {

namespace {

constexpr std::uint64_t kTpeStream = 0x747065;
constexpr int kTpeCandidates = 24;
constexpr std::size_t kGoodMax = 25;
constexpr std::size_t kGoodOneIn = 10;

// The coordinates of some trials in one dimension, where it was active.
std::vector<double> coordinates_of(const std::vector<const Point*>& points, std::size_t dimension) {
  std::vector<double> coordinates;
  for (const Point* point : points) {
    if ((*point)[dimension] != kInactive) coordinates.push_back((*point)[dimension]);
  }
  return coordinates;
}

double best_draw(const Encoding::Dimension& dimension, const std::vector<double>& good, const std::vector<double>& others,
                 Draws& draws) {
  const ParzenEstimator likely(dimension, good);
  const ParzenEstimator unlikely(dimension, others);
  double best = 0;
  double best_ratio = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTpeCandidates; ++i) {
    const double drawn = likely.draw(draws);
    const double ratio = likely.log_density(drawn) - unlikely.log_density(drawn);
    if (ratio <= best_ratio) continue;
    best_ratio = ratio;
    best = drawn;
  }
  return best;
}

}  // namespace

TpeSampler::TpeSampler(const SearchSpace& space, std::uint64_t seed, int startup_trials)
    : encoded_(space), random_(space, seed), seed_(seed), startup_trials_(startup_trials) {}

Configuration TpeSampler::suggest(std::int64_t index, const History& history) {
  encoded_.follow(history);
  const std::vector<RankedTrial> ranked = encoded_.ranked(history);
  const std::size_t finite = finite_count(ranked);
  if (finite < static_cast<std::size_t>(startup_trials_)) return random_.suggest(index, history);

  const std::size_t good_count = std::min({(ranked.size() + kGoodOneIn - 1) / kGoodOneIn, kGoodMax, finite});
  std::vector<RankedTrial> by_age[2] = {{ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(good_count)},
                                        {ranked.begin() + static_cast<std::ptrdiff_t>(good_count), ranked.end()}};
  std::vector<const Point*> sides[2];
  for (std::size_t side = 0; side < 2; ++side) {
    std::sort(by_age[side].begin(), by_age[side].end(), [](const RankedTrial& a, const RankedTrial& b) { return a.age < b.age; });
    for (const RankedTrial& one : by_age[side]) sides[side].push_back(one.point);
  }

  const Encoding& encoding = encoded_.encoding();
  Point suggested;
  for (std::size_t d = 0; d < encoding.dimensions().size(); ++d) {
    Draws draws(seed_ ^ mix64(d), kTpeStream, index);
    suggested.push_back(best_draw(encoding.dimensions()[d], coordinates_of(sides[0], d), coordinates_of(sides[1], d), draws));
  }
  return encoding.decode(suggested);
}

}  // namespace tuneband

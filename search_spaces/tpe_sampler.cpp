#include "search_spaces/tpe_sampler.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "search_spaces/parzen.hpp"

namespace tuneband {

namespace {

constexpr std::uint64_t kTpeStream = 0x747065;
constexpr int kTpeCandidates = 24;
constexpr std::size_t kGoodMax = 25;
constexpr std::size_t kGoodOneIn = 10;

std::vector<const Point*> oldest_first(std::span<const RankedTrial> trials) {
  std::vector<RankedTrial> by_age(trials.begin(), trials.end());
  std::sort(by_age.begin(), by_age.end(), [](const RankedTrial& a, const RankedTrial& b) { return a.age < b.age; });
  std::vector<const Point*> points;
  for (const RankedTrial& one : by_age) points.push_back(one.point);
  return points;
}

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
  const std::vector<const Point*> good = oldest_first(std::span(ranked).first(good_count));
  const std::vector<const Point*> others = oldest_first(std::span(ranked).subspan(good_count));

  const Encoding& encoding = encoded_.encoding();
  Point suggested;
  for (std::size_t d = 0; d < encoding.dimensions().size(); ++d) {
    Draws draws(seed_ ^ mix64(d), kTpeStream, index);
    suggested.push_back(best_draw(encoding.dimensions()[d], coordinates_of(good, d), coordinates_of(others, d), draws));
  }
  return encoding.decode(suggested);
}

}  // namespace tuneband

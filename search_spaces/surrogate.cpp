#include "search_spaces/surrogate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace tuneband {

namespace {

constexpr int kRandomCandidates = 250;
constexpr int kNeighboursEach = 10;  // of each of the best, at each sigma
constexpr double kNeighbourSigmas[] = {0.02, 0.07, 0.2};

bool better_target(const ScoredPoint& a, const ScoredPoint& b) {
  if (a.target != b.target) return a.target < b.target;
  return a.trial != b.trial ? a.trial < b.trial : a.level < b.level;
}

std::uint64_t key_of(const ScoredPoint& one, std::uint64_t seed) {
  constexpr double kLevelSteps = 1e6;
  return random_bits(seed, {static_cast<std::uint64_t>(one.trial), static_cast<std::uint64_t>(one.level * kLevelSteps)});
}

void choose(std::vector<ScoredPoint>& points, std::size_t most, std::uint64_t seed) {
  if (points.size() <= most) return;
  const auto half = points.begin() + static_cast<std::ptrdiff_t>(most / 2);
  const auto end = points.begin() + static_cast<std::ptrdiff_t>(most);
  std::nth_element(points.begin(), half, points.end(), better_target);
  std::nth_element(half, end, points.end(), [&](const ScoredPoint& a, const ScoredPoint& b) {
    const std::uint64_t key_a = key_of(a, seed);
    const std::uint64_t key_b = key_of(b, seed);
    return key_a != key_b ? key_a < key_b : better_target(a, b);
  });
  points.resize(most);
  std::sort(points.begin(), points.end(), better_target);
}

bool near_duplicates_at_an_end(const Encoding& encoding, const Point& a, const Point& b) {
  bool at_an_end = false;
  for (std::size_t d = 0; d < a.size(); ++d) {
    if (std::abs(a[d] - b[d]) > kNearDuplicate) return false;  // two categories, or active and inactive, are 1 apart
    const Encoding::Dimension& dimension = encoding.dimensions()[d];
    const bool is_float = dimension.categories == 0 && dimension.step == 0 && a[d] != kInactive;
    at_an_end |= is_float && (a[d] <= kNearDuplicate || a[d] >= 1 - kNearDuplicate);
  }
  return at_an_end;
}

template <class Wanted>
std::vector<const Point*> newest_points(const History& history, const std::vector<Point>& points, std::size_t most,
                                        const Wanted& wanted) {
  std::vector<const Point*> newest;
  for (std::size_t i = points.size(); i-- > 0 && newest.size() < most;) {
    if (wanted(history.trials()[i])) newest.push_back(&points[i]);
  }
  return newest;
}

}  // namespace

std::vector<ScoredPoint> chosen_points(const std::vector<ScoredPoint>& points, std::size_t most, std::uint64_t seed) {
  std::vector<ScoredPoint> own;
  std::vector<ScoredPoint> earlier;
  for (const ScoredPoint& one : points) (one.trial < 0 ? earlier : own).push_back(one);
  choose(own, most - std::min(earlier.size(), most / 2), seed);
  choose(earlier, most - own.size(), seed);
  own.insert(own.end(), earlier.begin(), earlier.end());
  return own;
}

std::vector<const Point*> most_promising(const std::vector<ScoredPoint>& scored, std::size_t most) {
  std::vector<ScoredPoint> sorted = scored;
  std::stable_sort(sorted.begin(), sorted.end(), better_target);
  std::vector<const Point*> points;
  const auto less = [](const Point* a, const Point* b) { return *a < *b; };
  std::set<const Point*, decltype(less)> seen;
  for (const ScoredPoint& one : sorted) {
    if (points.size() < most && seen.insert(one.point).second) points.push_back(one.point);
  }
  return points;
}

std::vector<Point> candidate_points(const Encoding& encoding, const std::vector<const Point*>& best, Draws& draws) {
  std::vector<Point> candidates;
  for (int i = 0; i < kRandomCandidates; ++i) candidates.push_back(encoding.random_point(draws));
  for (const Point* point : best) {
    candidates.push_back(encoding.completed(*point, draws));
    for (const double sigma : kNeighbourSigmas) {
      for (int i = 0; i < kNeighboursEach; ++i) candidates.push_back(encoding.neighbour(*point, sigma, draws));
    }
  }
  return candidates;
}

bool is_taken(const Encoding& encoding, const Point& point, const std::vector<Point>& taken) {
  return std::any_of(taken.begin(), taken.end(),
                     [&](const Point& other) { return point == other || near_duplicates_at_an_end(encoding, point, other); });
}

std::vector<std::size_t> best_candidates(const Encoding& encoding, const std::vector<Point>& candidates,
                                         const std::vector<double>& values, const std::vector<Point>& taken, std::size_t most) {
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  std::vector<std::size_t> best;
  for (const std::size_t at : order) {
    if (best.size() == most) break;
    if (!is_taken(encoding, candidates[at], taken)) best.push_back(at);
  }
  return best;
}

std::size_t best_candidate(const Encoding& encoding, const std::vector<Point>& candidates, const std::vector<double>& values,
                           const std::vector<Point>& taken) {
  const std::vector<std::size_t> best = best_candidates(encoding, candidates, values, taken, 1);
  if (!best.empty()) return best.front();
  return static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

std::vector<const Point*> pending_points(const History& history, const std::vector<Point>& points, std::size_t most) {
  return newest_points(history, points, most, [](const History::Trial& trial) { return trial.open && trial.results.empty(); });
}

std::vector<const Point*> unfinished_points(const History& history, const std::vector<Point>& points, std::size_t most) {
  const auto top = static_cast<int>(history.levels().size()) - 1;
  return newest_points(history, points, most, [top](const History::Trial& trial) {
    return !trial.failed && (trial.results.empty() || trial.results.back().level < top);
  });
}

}  // namespace tuneband

#include "search_spaces/forest_sampler.hpp"

#include <algorithm>
#include <cmath>

#include "search_spaces/regression_forest.hpp"
#include "search_spaces/surrogate.hpp"

namespace tuneband {

namespace {

constexpr std::uint64_t kForestSamplerStream = 0x72661;
constexpr std::uint64_t kForestRandomStream = 0x72662;
constexpr double kForestRandomShare = 0.05;
constexpr std::size_t kForestPointsMax = 200;
constexpr std::size_t kForestPendingMax = 64;
constexpr std::size_t kForestIncumbents = 100;
constexpr std::size_t kForestBestPoints = 5;
constexpr double kDeviationMin = 1e-3;  // in normal scores
constexpr ForestOptions kForest{.trees = 12, .leaf_min = 2, .dimension_share = 0.6, .bootstrap = true};

std::vector<double> row_of(const Point& point, double level) {
  std::vector<double> row = point;
  row.push_back(level);
  return row;
}

RegressionForest forest_of(const Encoding& encoding, const std::vector<std::vector<double>>& rows,
                           const std::vector<double>& targets, std::uint64_t seed) {
  std::vector<RegressionForest::Kind> kinds = kinds_of(encoding);
  kinds.push_back(RegressionForest::Kind::number);
  std::vector<const double*> pointers;
  for (const auto& row : rows) pointers.push_back(row.data());
  return RegressionForest(std::move(kinds), pointers, targets, kForest, seed);
}

}  // namespace

ForestSampler::ForestSampler(const SearchSpace& space, std::uint64_t seed, int startup_trials)
    : encoded_(space), start_(space, seed), random_(space, seed), seed_(seed), startup_trials_(startup_trials) {}

Configuration ForestSampler::suggest(std::int64_t index, const History& history) {
  encoded_.follow(history);
  const std::size_t priors = encoded_.priors();
  const bool starting =
      index + static_cast<std::int64_t>(priors) < startup_trials_ || history.results().size() + priors < 2 * kForest.leaf_min;
  if (starting) return start_.suggest(index, history);
  if (random_unit(seed_, {kForestRandomStream, static_cast<std::uint64_t>(index)}) < kForestRandomShare) {
    return random_.suggest(index, history);
  }
  const Encoding& encoding = encoded_.encoding();
  const auto data = chosen_points(encoded_.scored_points(history), kForestPointsMax, seed_);
  std::vector<std::vector<double>> rows;
  std::vector<double> targets;
  for (const ScoredPoint& one : data) {
    rows.push_back(row_of(*one.point, one.level));
    targets.push_back(one.target);
  }
  RegressionForest forest = forest_of(encoding, rows, targets, seed_);
  const auto pending = pending_points(history, encoded_.points(), kForestPendingMax);
  if (!pending.empty()) {
    for (const Point* point : pending) {
      rows.push_back(row_of(*point, 1));
      targets.push_back(forest.predict(rows.back().data()).mean);
    }
    forest = forest_of(encoding, rows, targets, seed_);
  }

  std::vector<std::pair<double, const Point*>> seen;
  for (const Point* point : most_promising(data, kForestIncumbents))
    seen.emplace_back(forest.predict(row_of(*point, 1).data()).mean, point);
  std::stable_sort(seen.begin(), seen.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const Point*> best;
  for (const auto& [mean, point] : seen) {
    if (best.size() < kForestBestPoints) best.push_back(point);
  }
  Draws draws(seed_, kForestSamplerStream, index);
  const std::vector<Point> candidates = candidate_points(encoding, best, draws);
  std::vector<double> values;
  for (const Point& candidate : candidates) {
    const RegressionForest::Prediction predicted = forest.predict(row_of(candidate, 1).data());
    const double deviation = std::max(kDeviationMin, std::sqrt(predicted.variance));
    values.push_back(std::log(deviation) + log_unit_improvement((predicted.mean - seen.front().first) / deviation));
  }
  return encoding.decode(candidates[best_candidate(encoding, candidates, values, encoded_.points())]);
}

}  // namespace tuneband

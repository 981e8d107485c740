#include "search_spaces/observations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tuneband {

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

double level_of(const History& history, int index) {
  const auto last = static_cast<double>(history.levels().size()) - 1;
  return last > 0 ? static_cast<double>(index) / last : 1;
}

std::vector<Observation> observations_of(const History& history, const std::vector<Point>& points, std::size_t results) {
  std::vector<Observation> observations;
  observations.reserve(results + history.trials().size());
  const auto add = [&](int trial, int level, double cost) {
    observations.push_back({&points[static_cast<std::size_t>(trial)], trial, level_of(history, level), cost, 0});
  };
  for (std::size_t i = 0; i < results; ++i) {
    const History::Result& result = history.results()[i];
    add(result.trial, result.level, result.cost);
  }
  if (results == history.results().size()) {
    const int last = std::max(0, static_cast<int>(history.levels().size()) - 1);
    for (std::size_t i = 0; i < history.trials().size(); ++i) {
      const History::Trial& trial = history.trials()[i];
      if (!trial.failed) continue;
      const int level = trial.results.empty() ? 0 : std::min(last, trial.results.back().level + 1);
      add(static_cast<int>(i), level, std::numeric_limits<double>::infinity());
    }
  }
  std::vector<double> costs;
  for (const Observation& observation : observations) costs.push_back(observation.cost);
  const std::vector<double> scores = normal_scores(costs);
  for (std::size_t i = 0; i < observations.size(); ++i) observations[i].target = scores[i];
  return observations;
}

std::vector<RankedTrial> ranked_trials(const History& history, const std::vector<Point>& points) {
  constexpr double kFailedLevel = -1;
  constexpr double kWorst = std::numeric_limits<double>::infinity();
  std::vector<RankedTrial> ranked;
  for (std::size_t i = 0; i < history.trials().size(); ++i) {
    const History::Trial& trial = history.trials()[i];
    if (trial.failed) {
      ranked.push_back({&points[i], static_cast<int>(i), kFailedLevel, kWorst});
    } else if (!trial.results.empty()) {
      const History::Result& last = trial.results.back();
      ranked.push_back({&points[i], static_cast<int>(i), level_of(history, last.level), std::isfinite(last.cost) ? last.cost : kWorst});
    }
  }
  std::sort(ranked.begin(), ranked.end(), [](const RankedTrial& a, const RankedTrial& b) {
    if (a.level != b.level) return a.level > b.level;
    return a.cost != b.cost ? a.cost < b.cost : a.age < b.age;
  });
  return ranked;
}

double starting_level(const History& history) {
  const auto& trials = history.trials();
  const auto newest = std::find_if(trials.rbegin(), trials.rend(), [](const History::Trial& trial) { return !trial.results.empty(); });
  return newest == trials.rend() ? level_of(history, 0) : level_of(history, newest->results.front().level);
}

}  // namespace tuneband

#include "scheduler/nondominated_sort.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace tuneband {

bool dominates(const std::vector<double>& a, const std::vector<double>& b) {
  bool better = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
    better |= a[i] < b[i];
  }
  return better;
}

bool NondominatedSort::dominated_by_any(std::size_t result, const Front& others) const {
  return std::any_of(others.begin(), others.end(),
                     [&](std::size_t other) { return dominates(results_[other].costs, results_[result].costs); });
}

void NondominatedSort::add(int trial, std::vector<double> costs) {
  const std::size_t added = results_.size();
  results_.push_back({trial, std::move(costs)});
  std::size_t at = 0;
  while (at < fronts_.size() && dominated_by_any(added, fronts_[at])) ++at;
  Front moving{added};
  for (; !moving.empty() && at < fronts_.size(); ++at) {
    Front& front = fronts_[at];
    const auto stays = [&](std::size_t result) { return !dominated_by_any(result, moving); };
    const auto pushed = std::stable_partition(front.begin(), front.end(), stays);
    Front next(pushed, front.end());
    front.erase(pushed, front.end());
    front.insert(front.end(), moving.begin(), moving.end());
    moving = std::move(next);
  }
  if (!moving.empty()) fronts_.push_back(std::move(moving));
}

void NondominatedSort::remove(int trial) {
  std::vector<Result> results = std::exchange(results_, {});
  fronts_.clear();
  for (Result& result : results) {
    if (result.trial != trial) add(result.trial, std::move(result.costs));
  }
}

int NondominatedSort::front_of(int trial) const {
  for (std::size_t i = 0; i < fronts_.size(); ++i) {
    const bool here =
        std::any_of(fronts_[i].begin(), fronts_[i].end(), [&](std::size_t result) { return results_[result].trial == trial; });
    if (here) return static_cast<int>(i) + 1;
  }
  return 0;
}

// By place in the front: the sum over the objectives of the distance between its two neighbours, in units of the front's extent.
std::vector<double> NondominatedSort::crowding(const Front& front) const {
  std::vector<double> distances(front.size());
  std::vector<std::size_t> places(front.size());
  for (std::size_t objective = 0; objective < results_[front.front()].costs.size(); ++objective) {
    const auto cost = [&](std::size_t place) { return results_[front[place]].costs[objective]; };
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(cost(a), results_[front[a]].trial) < std::pair(cost(b), results_[front[b]].trial);
    });
    const double extent = cost(places.back()) - cost(places.front());
    if (!(extent > 0) || !std::isfinite(extent)) continue;
    distances[places.front()] = distances[places.back()] = std::numeric_limits<double>::infinity();
    for (std::size_t i = 1; i + 1 < places.size(); ++i) {
      distances[places[i]] += (cost(places[i + 1]) - cost(places[i - 1])) / extent;
    }
  }
  return distances;
}

std::vector<int> NondominatedSort::order() const {
  std::vector<int> trials;
  for (const Front& front : fronts_) {
    const std::vector<double> distances = crowding(front);
    std::vector<std::pair<double, int>> members;
    for (std::size_t i = 0; i < front.size(); ++i) members.emplace_back(-distances[i], results_[front[i]].trial);
    std::sort(members.begin(), members.end());
    for (const auto& [crowded, trial] : members) trials.push_back(trial);
  }
  return trials;
}

}  // namespace tuneband

#include "workers/xgboost/ensemble_selection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace tuneband::workers {

namespace {

// Its candidates are `first`, `first + bags`, ...
class Bag {
 public:
  Bag(std::span<const std::vector<float>> margins, std::size_t first, std::size_t bags)
      : margins_(margins), first_(first), bags_(bags), sum_(margins.front().size()), mean_(sum_.size()) {}

  // Takes the candidate that makes the mean of all taken so far worth most; nothing: none is worth anything.
  Result<std::optional<std::size_t>> pick(const CostOfMargins& cost) {
    std::optional<std::size_t> best;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t candidate = first_; candidate < margins_.size(); candidate += bags_) {
      const auto with_it = cost(mean_with(candidate));
      if (!with_it) return with_it.error();
      if (!(*with_it < least)) continue;
      least = *with_it;
      best = candidate;
    }
    if (!best) return best;
    for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] += static_cast<double>(margins_[*best][i]);
    ++taken_;
    return best;
  }

 private:
  std::span<const float> mean_with(std::size_t candidate) {
    for (std::size_t i = 0; i < sum_.size(); ++i)
      mean_[i] = static_cast<float>((sum_[i] + static_cast<double>(margins_[candidate][i])) / (taken_ + 1));
    return mean_;
  }

  std::span<const std::vector<float>> margins_;
  std::size_t first_;
  std::size_t bags_;
  std::vector<double> sum_;  // of those taken
  std::vector<float> mean_;
  int taken_ = 0;
};

using Margins = std::span<const std::vector<float>>;

// How often each candidate is picked by `bags`, of which each picks `picks` times.
Result<std::vector<int>> picks_of_bags(Margins margins, const CostOfMargins& cost, std::size_t bags, int picks) {
  std::vector<int> picked_times(margins.size());
  for (std::size_t first = 0; first < std::min(bags, margins.size()); ++first) {
    Bag bag(margins, first, bags);
    for (int i = 0; i < picks; ++i) {
      const auto picked = bag.pick(cost);
      if (!picked) return picked.error();
      if (!*picked) break;
      ++picked_times[**picked];
    }
  }
  return picked_times;
}

// Whether the average with these weights is worth less than the best candidate alone.
Result<bool> is_worse_than_best(Margins margins, const std::vector<int>& weights, const CostOfMargins& cost) {
  const int all = std::accumulate(weights.begin(), weights.end(), 0);
  if (all == 0) return false;
  std::vector<double> sum(margins.front().size());
  for (std::size_t candidate = 0; candidate < margins.size(); ++candidate) {
    if (weights[candidate] == 0) continue;
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += weights[candidate] * static_cast<double>(margins[candidate][i]);
  }
  std::vector<float> mean(sum.size());
  for (std::size_t i = 0; i < sum.size(); ++i) mean[i] = static_cast<float>(sum[i] / all);
  const auto of_all = cost(mean);
  if (!of_all) return of_all.error();
  const auto of_best = cost(margins.front());
  if (!of_best) return of_best.error();
  return *of_all > *of_best;
}

}  // namespace

Result<std::vector<int>> select_ensemble(std::span<const std::vector<float>> margins, const CostOfMargins& cost) {
  const std::size_t bags = std::clamp(margins.size() / kEnsembleBagSizeMin, std::size_t{1}, kEnsembleBagsMax);
  auto picks = picks_of_bags(margins, cost, bags, kEnsemblePicks);
  if (!picks) return picks.error();
  if (bags > 1) {
    const auto worse = is_worse_than_best(margins, *picks, cost);
    if (!worse) return worse.error();
    if (*worse) picks = picks_of_bags(margins, cost, 1, kEnsemblePicks * static_cast<int>(bags));
    if (!picks) return picks.error();
  }
  if (std::accumulate(picks->begin(), picks->end(), 0) == 0)
    return Error{ErrorCode::invalid_argument, "no model has a finite value on the validation rows", "", ""};
  return picks;
}

std::vector<int> weigh_by_rank(std::span<const double> values, double apart_max) {
  constexpr std::size_t kMembersMax = 10;
  std::size_t members = std::min((values.size() + 2) / 3, kMembersMax);
  while (members > 1 && !(std::abs(values[members - 1] - values.front()) <= apart_max)) --members;
  std::vector<int> weights(values.size());
  for (std::size_t rank = 0; rank < members; ++rank) weights[rank] = static_cast<int>(members - rank);
  return weights;
}

}  // namespace tuneband::workers

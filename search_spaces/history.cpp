#include "search_spaces/history.hpp"

#include <algorithm>
#include <numeric>

#include "search_spaces/draws.hpp"

namespace tuneband {

bool Loss::operator<(const Loss& other) const {
  if (finite() != other.finite()) return finite();
  if (!finite()) return false;
  return violation != other.violation ? violation < other.violation : cost < other.cost;
}

std::vector<double> normal_scores(const std::vector<Loss>& losses) {
  std::vector<std::size_t> order(losses.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return losses[a] < losses[b]; });
  std::vector<double> scores(losses.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && !(losses[order[begin]] < losses[order[end]])) ++end;
    const double score = normal_quantile(static_cast<double>(begin + end) / 2 / static_cast<double>(order.size()));
    for (; begin < end; ++begin) scores[order[begin]] = score;
  }
  return scores;
}

void History::add_trial(Configuration configuration) { trials_.push_back({std::move(configuration), {}, true, false}); }

void History::add_result(int trial, std::int64_t resource, Loss loss) {
  const auto above = std::upper_bound(levels_.begin(), levels_.end(), resource);
  const Result result{trial, std::max(0, static_cast<int>(above - levels_.begin()) - 1), loss};
  trials_[static_cast<std::size_t>(trial)].results.push_back(result);
  results_.push_back(result);
}

void History::reconfigure(int trial, Configuration configuration) {
  trials_[static_cast<std::size_t>(trial)].configuration = std::move(configuration);
  reconfigured_.push_back(trial);
}

void History::end_trial(int trial, bool failed) {
  Trial& its = trials_[static_cast<std::size_t>(trial)];
  its.open = false;
  its.failed = failed;
}

void History::add_priors(const std::vector<PriorObservation>& priors) {
  priors_.insert(priors_.end(), priors.begin(), priors.end());
}

std::vector<PriorObservation> priors_of(const History& earlier) {
  struct Seen {
    int trial;
    int level;
    Loss loss;
  };
  std::vector<Seen> seen;
  for (const History::Result& result : earlier.results()) seen.push_back({result.trial, result.level, result.loss});
  const int last = std::max(0, static_cast<int>(earlier.levels().size()) - 1);
  for (std::size_t i = 0; i < earlier.trials().size(); ++i) {
    const History::Trial& trial = earlier.trials()[i];
    if (!trial.failed) continue;
    const int level = trial.results.empty() ? 0 : std::min(last, trial.results.back().level + 1);
    seen.push_back({static_cast<int>(i), level, kWorstLoss});
  }
  std::vector<Loss> losses;
  for (const Seen& one : seen) losses.push_back(one.loss);
  const std::vector<double> scores = normal_scores(losses);
  std::vector<PriorObservation> priors;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const double share = earlier.levels().empty()
                             ? 1
                             : static_cast<double>(earlier.levels()[static_cast<std::size_t>(seen[i].level)]) /
                                   static_cast<double>(earlier.levels().back());
    const Configuration& configuration = earlier.trials()[static_cast<std::size_t>(seen[i].trial)].configuration;
    priors.push_back({configuration, share, scores[i], 0, seen[i].loss.feasible()});
  }
  for (int level = 0; level <= last; ++level) {
    std::vector<std::size_t> here;
    std::vector<Loss> its_losses;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      if (seen[i].level != level) continue;
      here.push_back(i);
      its_losses.push_back(seen[i].loss);
    }
    const std::vector<double> its_scores = normal_scores(its_losses);
    for (std::size_t i = 0; i < here.size(); ++i) priors[here[i]].level_score = its_scores[i];
  }
  std::stable_sort(priors.begin(), priors.end(), [](const auto& a, const auto& b) { return a.score < b.score; });
  if (priors.size() > kPriorsMax) priors.resize(kPriorsMax);
  return priors;
}

}  // namespace tuneband

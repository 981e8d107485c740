#include "search_spaces/encoded_history.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace tuneband {

namespace {

constexpr double kLowestShare = 0.01;  // of a job of one level: the share that is level 0
constexpr double kFullLevel = 0.95;    // of a job of one level: about a full training

// Where a share of max_resource lies on the job's ladder: linear in the logarithm between two levels.
double level_of_share(const History& history, double share) {
  const auto& levels = history.levels();
  if (levels.size() < 2) return std::clamp(1 - std::log(share) / std::log(kLowestShare), 0.0, 1.0);
  const double resource = share * static_cast<double>(levels.back());
  for (std::size_t i = levels.size() - 1; i > 0; --i) {
    const auto low = static_cast<double>(levels[i - 1]);
    const auto high = static_cast<double>(levels[i]);
    if (resource < low) continue;
    const double between = std::clamp(std::log(resource / low) / std::log(high / low), 0.0, 1.0);
    return (static_cast<double>(i) - 1 + between) / static_cast<double>(levels.size() - 1);
  }
  return 0;
}

bool failed(const History::Trial& trial) {
  return trial.failed || (!trial.results.empty() && !trial.results.back().loss.finite());
}

bool ranks_before(const RankedTrial& a, const RankedTrial& b) {
  if (a.level != b.level) return a.level > b.level;
  return a.score != b.score ? a.score < b.score : a.age < b.age;
}

// By trial, its score among those of its level; `losses` and `levels` have a level of -1 where a trial does not count.
std::vector<double> scores_in_level(const std::vector<Loss>& losses, const std::vector<int>& levels, int level_count) {
  std::vector<double> scores(losses.size(), 0);
  std::vector<std::vector<std::size_t>> in_level(static_cast<std::size_t>(level_count));
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (levels[i] >= 0) in_level[static_cast<std::size_t>(levels[i])].push_back(i);
  }
  for (const auto& trials : in_level) {
    std::vector<Loss> here;
    for (const std::size_t trial : trials) here.push_back(losses[trial]);
    const std::vector<double> ranked = normal_scores(here);
    for (std::size_t i = 0; i < trials.size(); ++i) scores[trials[i]] = ranked[i];
  }
  return scores;
}

}  // namespace

std::size_t finite_count(const std::vector<RankedTrial>& ranked) {
  const auto first = std::find_if(ranked.begin(), ranked.end(), [](const RankedTrial& one) { return one.level == kFailedLevel; });
  return static_cast<std::size_t>(first - ranked.begin());
}

void EncodedHistory::choose_priors_that_stand_for_trials() {
  const auto stands_before = [](const Prior& a, const Prior& b) {
    if (a.counts != b.counts) return !a.counts;
    return a.level != b.level ? a.level > b.level : a.level_score < b.level_score;
  };
  std::map<Point, Prior*> of_configuration;
  for (Prior& prior : priors_) {
    Prior*& best = of_configuration[prior.point];
    prior.stands_for_trial = best == nullptr || stands_before(prior, *best);
    if (!prior.stands_for_trial) continue;
    if (best != nullptr) best->stands_for_trial = false;
    best = &prior;
  }
}

void EncodedHistory::follow(const History& history) {
  const auto& changed = history.reconfigured();
  for (; reconfigured_seen_ < changed.size(); ++reconfigured_seen_) {
    const auto trial = static_cast<std::size_t>(changed[reconfigured_seen_]);
    if (trial < points_.size()) points_[trial] = encoding_.encode(history.trials()[trial].configuration);
  }
  while (points_.size() < history.trials().size()) {
    points_.push_back(encoding_.encode(history.trials()[points_.size()].configuration));
  }
  if (priors_seen_ == history.priors().size()) return;
  for (; priors_seen_ < history.priors().size(); ++priors_seen_) {
    const PriorObservation& prior = history.priors()[priors_seen_];
    if (auto point = encoding_.encode_foreign(prior.configuration)) {
      priors_.push_back(
          {std::move(*point), level_of_share(history, prior.resource_share), prior.score, prior.level_score, prior.counts});
    }
  }
  choose_priors_that_stand_for_trials();
}

std::vector<ScoredPoint> EncodedHistory::targets_and_priors(std::vector<ScoredPoint> own) const {
  std::vector<Loss> losses;
  for (const ScoredPoint& one : own) losses.push_back(one.loss);
  const std::vector<double> scores = normal_scores(losses);
  for (std::size_t i = 0; i < own.size(); ++i) own[i].target = scores[i];
  int trial = 0;
  for (const Prior& prior : priors_) own.push_back({&prior.point, --trial, prior.level, kWorstLoss, prior.score});
  return own;
}

std::vector<ScoredPoint> EncodedHistory::first_scored_points(const History& history, std::size_t results) const {
  std::vector<ScoredPoint> own;
  for (std::size_t i = 0; i < results; ++i) {
    const History::Result& result = history.results()[i];
    own.push_back(
        {&points_[static_cast<std::size_t>(result.trial)], result.trial, level_of(history, result.level), result.loss, 0});
  }
  return targets_and_priors(std::move(own));
}

std::vector<ScoredPoint> EncodedHistory::scored_points(const History& history) const {
  std::vector<ScoredPoint> own;
  const int last = std::max(0, static_cast<int>(history.levels().size()) - 1);
  for (std::size_t i = 0; i < history.trials().size(); ++i) {
    const History::Trial& trial = history.trials()[i];
    const auto add = [&](int level, Loss loss) {
      own.push_back({&points_[i], static_cast<int>(i), level_of(history, level), loss, 0});
    };
    for (const History::Result& result : trial.results) add(result.level, result.loss);
    if (trial.failed) add(trial.results.empty() ? 0 : std::min(last, trial.results.back().level + 1), kWorstLoss);
  }
  return targets_and_priors(std::move(own));
}

std::vector<RankedTrial> EncodedHistory::ranked(const History& history) const {
  const auto& trials = history.trials();
  const int beyond = static_cast<int>(std::max<std::size_t>(1, history.levels().size()));  // of those that violate constraints
  std::vector<Loss> losses(trials.size(), kWorstLoss);
  std::vector<int> levels(trials.size(), -1);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (failed(trials[i]) || trials[i].results.empty()) continue;
    const History::Result& last = trials[i].results.back();
    losses[i] = last.loss;
    levels[i] = last.loss.feasible() ? last.level : beyond;
  }
  const std::vector<double> scores = scores_in_level(losses, levels, beyond + 1);
  std::vector<RankedTrial> ranked;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const int age = static_cast<int>(i);
    if (levels[i] >= 0) {
      const double level = levels[i] == beyond ? kInfeasibleLevel : level_of(history, levels[i]);
      ranked.push_back({&points_[i], age, level, scores[i]});
    } else if (failed(trials[i])) {
      ranked.push_back({&points_[i], age, kFailedLevel, 0});
    }
  }
  int age = -static_cast<int>(priors_.size());
  for (const Prior& prior : priors_) {
    if (prior.stands_for_trial)
      ranked.push_back({&prior.point, age, prior.counts ? prior.level : kFailedLevel, prior.level_score});
    ++age;
  }
  std::sort(ranked.begin(), ranked.end(), ranks_before);
  return ranked;
}

std::vector<RankedTrial> EncodedHistory::at_level(const History& history, int level) const {
  std::vector<Loss> losses;
  std::vector<RankedTrial> ranked;
  for (const History::Result& result : history.results()) {
    if (result.level != level) continue;
    const auto trial = static_cast<std::size_t>(result.trial);
    ranked.push_back(
        {&points_[trial], result.trial, failed(history.trials()[trial]) ? kFailedLevel : level_of(history, level), 0});
    losses.push_back(result.loss);
  }
  for (std::size_t i = 0; i < history.trials().size() && level == 0; ++i) {
    const History::Trial& trial = history.trials()[i];
    if (!trial.failed || !trial.results.empty()) continue;
    ranked.push_back({&points_[i], static_cast<int>(i), kFailedLevel, 0});
    losses.push_back(kWorstLoss);
  }
  const std::vector<double> scores = normal_scores(losses);
  for (std::size_t i = 0; i < ranked.size(); ++i) ranked[i].score = scores[i];
  const auto steps = static_cast<double>(history.levels().size()) - 1;
  const auto full = [](const Prior& prior) { return prior.level >= kFullLevel; };
  const bool all = steps <= 0 && std::none_of(priors_.begin(), priors_.end(), full);
  int age = -static_cast<int>(priors_.size());
  for (const Prior& prior : priors_) {
    ++age;
    if (all || (steps > 0 ? std::lround(prior.level * steps) == level : full(prior)))
      ranked.push_back({&prior.point, age - 1, prior.counts ? level_of(history, level) : kFailedLevel, prior.level_score});
  }
  std::sort(ranked.begin(), ranked.end(), ranks_before);
  return ranked;
}

double level_of(const History& history, int index) {
  const auto last = static_cast<double>(history.levels().size()) - 1;
  return last > 0 ? static_cast<double>(index) / last : 1;
}

}  // namespace tuneband

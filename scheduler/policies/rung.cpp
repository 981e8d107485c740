#include "scheduler/policies/rung.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/check.hpp"
#include "core/text.hpp"

namespace tuneband {

Standing standing_of(const Arrival& arrival, Goal goal) {
  if (!arrival.value) return {.tier = Standing::failed, .trial = arrival.trial};
  const bool finite = std::isfinite(*arrival.value) && std::all_of(arrival.more_values.begin(), arrival.more_values.end(),
                                                                   [](double value) { return std::isfinite(value); });
  if (!finite) return {.tier = Standing::not_finite, .trial = arrival.trial};
  return {Standing::finite, arrival.violation, cost_of(*arrival.value, goal), arrival.trial};
}

std::partial_ordering operator<=>(const Worth& a, const Worth& b) {
  if (const auto order = std::tie(a.tier, a.violation) <=> std::tie(b.tier, b.violation); order != 0) return order;
  if (a.costs == b.costs) return std::partial_ordering::equivalent;
  if (a.violation > 0) return a.costs.front() <=> b.costs.front();
  if (dominates(a.costs, b.costs)) return std::partial_ordering::less;
  return dominates(b.costs, a.costs) ? std::partial_ordering::greater : std::partial_ordering::unordered;
}

namespace {

std::string what_a_violation_means(double violation, Verdict verdict) {
  const std::string outside = std::isinf(violation) ? "it lacks a metric of the constraints"
                                                    : "it violates the constraints by " + short_number(violation);
  if (verdict == Verdict::stopped) return outside + ", and trials that meet them come first";
  return verdict == Verdict::completed ? outside + ", so it is never the best" : outside;
}

}  // namespace

Standing Rung::add(const Arrival& arrival) {
  Standing standing = standing_of(arrival, goal_);
  if (several() && standing.counts()) standing = add_to_fronts(arrival, standing);
  results_.insert(standing);
  waiting_.insert(standing);
  if (standing.tier == Standing::finite) ++finite_;
  return standing;
}

Standing Rung::add_to_fronts(const Arrival& arrival, Standing standing) {
  TUNEBAND_CHECK(arrival.more_values.size() == more_goals_.size(), "a result has a value of every objective");
  fronts_.add(arrival.trial, worth_of(arrival).costs);
  standing.cost = place_anew().at(arrival.trial);
  return standing;
}

Worth Rung::worth_of(const Arrival& arrival) const {
  const Standing standing = standing_of(arrival, goal_);
  Worth worth{standing.tier, standing.violation};
  if (standing.tier != Standing::finite) return worth;
  worth.costs.push_back(standing.cost);
  for (std::size_t i = 0; i < more_goals_.size(); ++i) worth.costs.push_back(cost_of(arrival.more_values[i], more_goals_[i]));
  return worth;
}

std::unordered_map<int, double> Rung::place_anew() {
  std::unordered_map<int, double> places;
  for (const int trial : fronts_.order()) places.emplace(trial, static_cast<double>(places.size()));
  const auto placed = [&](Standing one) {
    if (one.counts()) one.cost = places.at(one.trial);
    return one;
  };
  Results results;
  for (const Standing& one : results_) results.insert(placed(one));
  results_.swap(results);
  std::set<Standing> waiting;
  for (const Standing& one : waiting_) waiting.insert(placed(one));
  waiting_.swap(waiting);
  return places;
}

Decision Rung::withdraw(const Arrival& arrival, int keep) {
  const auto found =
      std::find_if(waiting_.begin(), waiting_.end(), [&](const Standing& one) { return one.trial == arrival.trial; });
  TUNEBAND_CHECK(found != waiting_.end(), "only what waits is withdrawn");
  if (found->tier == Standing::finite) --finite_;
  const bool counted = found->counts();
  results_.erase(*found);
  results_.insert({.tier = Standing::failed, .trial = arrival.trial});
  waiting_.erase(found);
  if (several() && counted) {
    fronts_.remove(arrival.trial);
    place_anew();
  }
  Decision decision;  // without a rank
  decision.trial = arrival.trial;
  decision.bracket = arrival.bracket;
  decision.rung = arrival.rung;
  decision.verdict = Verdict::stopped;
  decision.filled = filled();
  decision.slots = slots_;
  decision.keep = keep;
  decision.rule = std::string(kStoppedByTheUser) + " while it waited here";
  return decision;
}

// The value of the last one that goes on, where there is a single value.
std::optional<double> Rung::cutoff(int keep) const {
  if (keep <= 0 || keep > finite_ || several()) return std::nullopt;
  return value_of(at(keep - 1).cost, goal_);
}

void Rung::add_settled(const Arrival& arrival) { settle(add(arrival)); }

Decision Rung::rule(const Standing& standing, Verdict verdict, int bracket, int rung, int keep, std::string rule) const {
  Decision decision;
  decision.trial = standing.trial;
  decision.bracket = bracket;
  decision.rung = rung;
  decision.verdict = verdict;
  decision.rank = rank(standing);
  decision.filled = filled();
  decision.slots = slots_;
  decision.keep = keep;
  decision.rule = std::move(rule);
  decision.cutoff = cutoff(keep);
  if (standing.counts() && several()) {
    decision.rule += "; by all objectives it is in front " + std::to_string(fronts_.front_of(standing.trial));
  }
  if (standing.violation > 0) decision.rule += "; " + what_a_violation_means(standing.violation, verdict);
  for (auto other = results_.begin(); other != results_.end() && *other < standing && decision.ahead.size() < kAheadMax;
       ++other) {
    decision.ahead.push_back(other->trial);
  }
  return decision;
}

bool one_has_finished(const std::vector<Rung>& rungs) { return rungs.back().filled() > 0 && rungs.back().at(0).counts(); }

std::optional<int> rung_to_finish_from(const std::vector<Rung>& rungs) {
  if (one_has_finished(rungs)) return std::nullopt;
  const bool any_value = rungs.back().finite() > 0;  // which breaks a constraint: only one that breaks none is better
  for (auto index = static_cast<int>(rungs.size()) - 2; index >= 0; --index) {
    const auto& waiting = rungs[static_cast<std::size_t>(index)].waiting();
    if (!waiting.empty() && (!any_value || waiting.begin()->violation == 0)) return index;
  }
  return std::nullopt;
}

}  // namespace tuneband

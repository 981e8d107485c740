#include "scheduler/policies/rungs.hpp"

#include "scheduler/plan.hpp"

namespace tuneband {

Rungs::Rungs(const SchedulerSpec& spec, Goal goal, std::optional<int> trials_max)
    : eta_(spec.eta), restarts_(spec.restarts), trials_max_(trials_max) {
  for (const std::int64_t level : ladder(spec)) rungs_.emplace_back(level, 0, goal, spec.more_goals);
}

std::vector<std::int64_t> Rungs::levels() const {
  std::vector<std::int64_t> levels;
  for (const Rung& rung : rungs_) levels.push_back(rung.level());
  return levels;
}

void Rungs::begin_trial(int bracket) {
  if (bracket > 0) brackets_.emplace(started_, bracket);
  ++started_;
  ++under_way_;
}

int Rungs::give_back_trial() {
  --started_;
  --under_way_;
  const int bracket = bracket_of(started_);
  brackets_.erase(started_);
  return bracket;
}

Standing Rungs::add(int index, const Arrival& arrival) {
  --under_way_;
  const auto trial = static_cast<std::size_t>(arrival.trial);
  if (has_come_.size() <= trial) has_come_.resize(trial + 1);
  if (!has_come_[trial]) ++come_;
  has_come_[trial] = true;
  return at(index).add(arrival);
}

void Rungs::settle(int index, const Standing& standing, Verdict verdict, int keep, std::string rule,
                   std::vector<Decision>& decisions) {
  const int bracket = bracket_of(standing.trial);
  at(index).settle(standing);
  decisions.push_back(at(index).rule(standing, verdict, bracket, index - bracket, keep, std::move(rule)));
}

Work Rungs::work_of(int trial, int index) const {
  const int bracket = bracket_of(trial);
  return {trial, bracket, index - bracket, at(index).level()};
}

int Rungs::bracket_of(int trial) const {
  const auto found = brackets_.find(trial);
  return found == brackets_.end() ? 0 : found->second;
}

}  // namespace tuneband

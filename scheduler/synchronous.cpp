#include "scheduler/synchronous.hpp"

#include <algorithm>

#include "core/check.hpp"

namespace tuneband {

int SynchronousPolicy::Bracket::keep(int rung) const {
  const auto next = static_cast<std::size_t>(rung) + 1;
  return next < plan.rungs.size() ? plan.rungs[next].trials : 0;
}

bool SynchronousPolicy::Bracket::closed() const {
  return !has_work() && std::all_of(rungs.begin(), rungs.end(), [](const Rung& rung) { return rung.filled() >= rung.slots(); });
}

bool SynchronousPolicy::next_bracket_has_trials() const { return !trials_max_ || trials_planned_ < *trials_max_; }

SynchronousPolicy::Bracket& SynchronousPolicy::open_next() {
  const auto left = trials_max_ ? std::optional(*trials_max_ - trials_planned_) : std::nullopt;
  Bracket bracket;
  bracket.plan = planned_bracket(spec_, opened_, left);
  for (const PlannedRung& rung : bracket.plan.rungs)
    bracket.rungs.emplace_back(rung.resource, rung.trials, goal_, spec_.more_goals);
  trials_planned_ += bracket.plan.rungs.front().trials;
  ready_.insert(opened_);
  return open_.emplace(opened_++, std::move(bracket)).first->second;
}

SynchronousPolicy::Bracket& SynchronousPolicy::bracket(int index) {
  while (opened_ <= index) open_next();
  const auto found = open_.find(index);
  TUNEBAND_CHECK(found != open_.end(), "a trial of a closed bracket arrived");
  return found->second;
}

void SynchronousPolicy::arrive(const Arrival& arrival, std::vector<Ruling>& rulings) {
  Bracket& its = bracket(arrival.bracket);
  Rung& rung = its.rungs[static_cast<std::size_t>(arrival.rung)];
  const Standing standing = rung.add(arrival);
  const bool last = arrival.rung + 1 == static_cast<int>(its.rungs.size());
  if (standing.tier == Standing::failed) {
    rung.settle(standing);
    rulings.push_back(rung.rule(standing, Verdict::stopped, arrival.bracket, arrival.rung, its.keep(arrival.rung),
                                "it failed before it reached this rung"));
  } else if (last) {
    rung.settle(standing);
    rulings.push_back(rung.rule(standing, Verdict::completed, arrival.bracket, arrival.rung, 0, "it reached max_resource"));
  }
  settle(its, arrival.rung, rulings);
  drop_if_closed(arrival.bracket);
}

void SynchronousPolicy::settle(Bracket& its, int index, std::vector<Ruling>& rulings) {
  if (index + 1 >= static_cast<int>(its.rungs.size())) return;
  Rung& rung = its.rungs[static_cast<std::size_t>(index)];
  const int keep = its.keep(index);
  const int missing = rung.slots() - rung.filled();
  const std::string best = "the best " + std::to_string(keep) + " go on";

  while (!rung.waiting().empty()) {  // certain winners: among the best whatever is missing
    const Standing standing = *rung.waiting().begin();
    const bool uncertain = rung.several() && missing > 0;
    if (standing.tier != Standing::finite || uncertain || rung.rank(standing) + missing > keep) break;
    rung.settle(standing);
    its.promoted.insert({-index, standing.trial});
    ready_.insert(its.plan.index);
    ++promoted_;
    rulings.push_back(
        rung.rule(standing, Verdict::promoted, its.plan.index, index, keep,
                  missing == 0 ? "the rung is full: " + best : best + ", and the missing results cannot push it out"));
  }
  while (!rung.waiting().empty()) {  // certain losers
    const Standing standing = *rung.waiting().rbegin();
    const bool finite = standing.tier == Standing::finite;
    const bool uncertain = rung.several() && missing > 0;
    if (finite && (uncertain || rung.rank(standing) <= keep)) break;
    rung.settle(standing);
    rulings.push_back(rung.rule(standing, Verdict::stopped, its.plan.index, index, keep,
                                !finite        ? "its value is not a finite number: such a trial never goes on"
                                : missing == 0 ? "the rung is full: " + best
                                               : best + ", and so many better results are in already"));
  }
  if (missing == 0) {
    // Failures and values that are not finite leave fewer to go on than planned; the next rung closes with those there are.
    Rung& next = its.rungs[static_cast<std::size_t>(index) + 1];
    next.set_slots(std::min(keep, rung.finite()));
    settle(its, index + 1, rulings);
  }
}

Work SynchronousPolicy::take_from(Bracket& its, std::optional<int> preferred) {
  Work work;
  work.bracket = its.plan.index;
  if (!its.promoted.empty()) {
    auto chosen = its.promoted.begin();
    if (preferred) {
      const auto same = std::find_if(its.promoted.begin(), its.promoted.end(),
                                     [&](const Promoted& promoted) { return promoted.trial == *preferred; });
      if (same != its.promoted.end()) chosen = same;
    }
    work.trial = chosen->trial;
    work.rung = -chosen->rung_descending + 1;
    its.promoted.erase(chosen);
    --promoted_;
  } else {
    ++its.started;
  }
  if (!its.has_work()) ready_.erase(its.plan.index);
  work.until_resource = its.rungs[static_cast<std::size_t>(work.rung)].level();
  return work;
}

std::optional<Work> SynchronousPolicy::take(std::optional<int> preferred, std::vector<Ruling>&) {
  if (!ready_.empty()) return take_from(open_.at(*ready_.begin()), preferred);
  if (!next_bracket_has_trials()) return std::nullopt;
  return take_from(open_next(), preferred);
}

bool SynchronousPolicy::has_work() const { return !ready_.empty() || next_bracket_has_trials(); }

void SynchronousPolicy::close(std::vector<Ruling>&, std::size_t) {}  // a full rung has no trial without a verdict

void SynchronousPolicy::drop_if_closed(int index) {
  const auto found = open_.find(index);
  if (found != open_.end() && found->second.closed()) open_.erase(found);
}

void SynchronousPolicy::recall_trial(const TrialRow& trial) { ++bracket(trial.bracket).started; }

void SynchronousPolicy::recall_decision(const DecisionRow& decision, bool moved_on) {
  Bracket& its = bracket(decision.bracket);
  Rung& rung = its.rungs[static_cast<std::size_t>(decision.rung)];
  const Arrival arrival = arrival_of(decision);
  if (decision.verdict == Verdict::waiting) {
    rung.add(arrival);
  } else {
    rung.add_settled(arrival);
  }
  if (decision.verdict == Verdict::promoted && !moved_on) {
    its.promoted.insert({-decision.rung, decision.trial.number});
    ++promoted_;
  }
}

void SynchronousPolicy::recalled() {
  for (auto entry = open_.begin(); entry != open_.end();) {
    Bracket& its = entry->second;
    std::vector<Ruling> none;
    for (int rung = 0; rung < static_cast<int>(its.rungs.size()); ++rung) settle(its, rung, none);  // closes what is full
    TUNEBAND_CHECK(none.empty(), "a verdict that was certain had not been written");
    if (!its.has_work()) ready_.erase(entry->first);
    entry = its.closed() ? open_.erase(entry) : std::next(entry);
  }
}

}  // namespace tuneband

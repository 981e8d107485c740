#include "scheduler/policies/synchronous.hpp"

#include <algorithm>
#include <numeric>

#include "core/check.hpp"

namespace tuneband {

namespace {

std::string best_of(int count) { return count == 1 ? "the best one" : "the best " + std::to_string(count); }

}  // namespace

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
  bracket.went_on.resize(bracket.rungs.size());
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

void SynchronousPolicy::arrive(const Arrival& arrival, std::vector<Decision>& decisions) {
  Bracket& its = bracket(arrival.bracket);
  Rung& rung = its.rungs[static_cast<std::size_t>(arrival.rung)];
  const Standing standing = rung.add(arrival);
  const bool last = arrival.rung + 1 == static_cast<int>(its.rungs.size());
  if (standing.tier == Standing::failed) {
    stop(its, arrival.rung, standing, "it failed before it reached this rung", decisions);
  } else if (last) {
    rung.settle(standing);
    decisions.push_back(rung.rule(standing, Verdict::completed, arrival.bracket, arrival.rung, 0, "it reached max_resource"));
  }
  // A first result at the end lets every reserve go; else only this rung and those above it can have changed.
  settle(its, last ? 0 : arrival.rung, decisions);
  if (its.closed()) finish(its, decisions);
}

// That makes nothing certain: the slots are as full as before, and so many as could not be pushed out have gone on already. Of
// several objectives the others' order may be another one from now on; what is decided of a full rung stays.
void SynchronousPolicy::withdraw(const Arrival& arrival, std::vector<Decision>& decisions) {
  Bracket& its = bracket(arrival.bracket);
  decisions.push_back(its.rungs[static_cast<std::size_t>(arrival.rung)].withdraw(arrival, its.keep(arrival.rung)));
}

void SynchronousPolicy::promote(Bracket& its, int index, const Standing standing, std::string rule,
                                std::vector<Decision>& decisions) {
  Rung& rung = its.rungs[static_cast<std::size_t>(index)];
  rung.settle(standing);
  its.promoted.add(index, standing.trial);
  ++its.went_on[static_cast<std::size_t>(index)];
  ready_.insert(its.plan.index);
  decisions.push_back(rung.rule(standing, Verdict::promoted, its.plan.index, index, its.keep(index), std::move(rule)));
}

void SynchronousPolicy::stop(Bracket& its, int index, const Standing standing, std::string rule,
                             std::vector<Decision>& decisions) {
  Rung& rung = its.rungs[static_cast<std::size_t>(index)];
  rung.settle(standing);
  decisions.push_back(rung.rule(standing, Verdict::stopped, its.plan.index, index, its.keep(index), std::move(rule)));
}

void SynchronousPolicy::finish(Bracket& its, std::vector<Decision>& decisions) {
  if (const auto index = rung_to_finish_from(its.rungs)) {
    const auto at = static_cast<std::size_t>(*index);
    const Standing next_best = *its.rungs[at].waiting().begin();
    promote(its, *index, next_best, "none of its bracket that went on can be the best: the next best takes their place",
            decisions);
    settle(its, 0, decisions);  // the rungs above get their slots
    return;
  }
  for (int index = 0; index < static_cast<int>(its.rungs.size()); ++index) {
    Rung& rung = its.rungs[static_cast<std::size_t>(index)];
    while (!rung.waiting().empty()) {
      stop(its, index, *rung.waiting().begin(), best_of(its.keep(index)) + " went on", decisions);
    }
  }
  open_.erase(its.plan.index);
}

void SynchronousPolicy::settle(Bracket& its, int index, std::vector<Decision>& decisions) {
  if (index + 1 >= static_cast<int>(its.rungs.size())) return;
  Rung& rung = its.rungs[static_cast<std::size_t>(index)];
  const int keep = its.keep(index);
  const int missing = rung.slots() - rung.filled();
  const std::string best = best_of(keep) + (keep == 1 ? " goes on" : " go on");

  while (!rung.waiting().empty()) {  // certain winners: among the best whatever is missing
    const Standing standing = *rung.waiting().begin();
    const bool among_the_best = rung.several() ? missing == 0 && its.went_on[static_cast<std::size_t>(index)] < keep
                                               : rung.rank(standing) + missing <= keep;
    if (standing.tier != Standing::finite || !among_the_best) break;
    promote(its, index, standing,
            missing == 0 ? "the rung is full: " + best : best + ", and the missing results cannot push it out", decisions);
  }
  const int reserve = one_has_finished(its.rungs) ? 0 : kReserve;
  while (!rung.waiting().empty()) {  // certain losers
    const Standing standing = *rung.waiting().rbegin();
    const bool finite = standing.tier == Standing::finite;
    const bool in_reserve = rung.several() ? missing > 0 || static_cast<int>(rung.waiting().size()) <= reserve
                                           : rung.rank(standing) <= keep + reserve;
    if (finite && in_reserve) break;
    stop(its, index, standing,
         !finite        ? "its value is not a finite number: such a trial never goes on"
         : missing == 0 ? "the rung is full: " + best
                        : best + ", and so many better results are in already",
         decisions);
  }
  // Failures and values that are not finite leave fewer to go on than planned; the next rung closes with those there are. Those
  // that take another's place are more than planned. A function of what the rows say, so that a restored bracket has the same.
  const int went_on = its.went_on[static_cast<std::size_t>(index)];
  its.rungs[static_cast<std::size_t>(index) + 1].set_slots(missing == 0 ? went_on : std::max(keep, went_on));
  settle(its, index + 1, decisions);
}

Work SynchronousPolicy::take_from(Bracket& its, std::optional<int> preferred) {
  Work work;
  work.bracket = its.plan.index;
  if (!its.promoted.empty()) {
    const auto [rung, trial] = its.promoted.take(preferred);
    work.trial = trial;
    work.rung = rung + 1;
  } else {
    ++its.started;
  }
  if (!its.has_work()) ready_.erase(its.plan.index);
  work.until_resource = its.rungs[static_cast<std::size_t>(work.rung)].level();
  return work;
}

std::optional<Work> SynchronousPolicy::take(std::optional<int> preferred, std::vector<Decision>&) {
  if (!ready_.empty()) return take_from(open_.at(*ready_.begin()), preferred);
  if (!next_bracket_has_trials()) return std::nullopt;
  return take_from(open_next(), preferred);
}

// Trials are started of the bracket that was opened last.
bool SynchronousPolicy::give_back_start() {
  const auto last = open_.find(opened_ - 1);
  if (last == open_.end() || last->second.started > 1) return false;
  trials_planned_ -= last->second.plan.rungs.front().trials;
  ready_.erase(last->first);
  open_.erase(last);
  --opened_;
  return true;
}

Work SynchronousPolicy::take_promoted(int trial) {
  const auto its = std::ranges::find_if(open_, [&](const auto& entry) { return entry.second.promoted.contains(trial); });
  TUNEBAND_CHECK(its != open_.end(), "only a promoted trial without a worker is taken");
  return take_from(its->second, trial);
}

bool SynchronousPolicy::has_work() const { return !ready_.empty() || next_bracket_has_trials(); }

int SynchronousPolicy::promoted_waiting() const {
  const auto count = [](int sum, const auto& entry) { return sum + entry.second.promoted.size(); };
  return std::accumulate(open_.begin(), open_.end(), 0, count);
}

void SynchronousPolicy::close(std::vector<Decision>&, std::size_t) {}  // a full rung has no trial without a decision

void SynchronousPolicy::recall_trial(const TrialRow& trial) { ++bracket(trial.bracket).started; }

void SynchronousPolicy::recall_decision(const DecisionRow& decision, bool moved_on) {
  Bracket& its = bracket(decision.bracket);
  Rung& rung = its.rungs[static_cast<std::size_t>(decision.rung)];
  const Arrival arrival = arrival_of(decision);
  if (decision.verdict == Verdict::waiting) {
    rung.add(arrival);
  } else if (decision.withdrawn()) {
    rung.add(arrival);
    rung.withdraw(arrival, its.keep(decision.rung));
  } else {
    rung.add_settled(arrival);
  }
  if (decision.verdict == Verdict::promoted) ++its.went_on[static_cast<std::size_t>(decision.rung)];
  if (decision.verdict == Verdict::promoted && !moved_on) its.promoted.add(decision.rung, decision.trial.number);
}

void SynchronousPolicy::recalled() {
  for (auto entry = open_.begin(); entry != open_.end();) {
    Bracket& its = entry->second;
    std::vector<Decision> none;
    settle(its, 0, none);  // closes what is full
    TUNEBAND_CHECK(none.empty(), "a decision that was certain had not been written");
    if (!its.has_work()) ready_.erase(entry->first);
    entry = its.closed() ? open_.erase(entry) : std::next(entry);
  }
}

}  // namespace tuneband

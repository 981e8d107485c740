#include "scheduler/asha.hpp"

#include <algorithm>
#include <limits>

#include "core/check.hpp"
#include "scheduler/plan.hpp"

namespace tuneband {

AshaPolicy::AshaPolicy(const SchedulerSpec& spec, Goal goal, std::optional<int> trials_max)
    : eta_(spec.eta), trials_max_(trials_max) {
  for (const std::int64_t level : ladder(spec)) rungs_.emplace_back(level, 0, goal, spec.more_goals);
}

Standing AshaPolicy::add(int index, const Arrival& arrival, bool settled) {
  const Standing standing = rung(index).add(arrival);
  if (settled) rung(index).settle(standing);
  --under_way_;
  learned(index, standing);
  return standing;
}

void AshaPolicy::settle(int index, const Standing& standing, Verdict verdict, int keep, std::string rule,
                        std::vector<Ruling>& rulings) {
  const int bracket = bracket_of(standing.trial);
  rung(index).settle(standing);
  rulings.push_back(rung(index).rule(standing, verdict, bracket, index - bracket, keep, std::move(rule)));
}

void AshaPolicy::arrive(const Arrival& arrival, std::vector<Ruling>& rulings) {
  const int index = arrival.bracket + arrival.rung;
  const Standing standing = add(index, arrival, false);
  const int keep = index == top() ? 0 : keep_of(rung(index).filled());
  if (standing.tier == Standing::failed) {
    settle(index, standing, Verdict::stopped, keep, "it failed before it reached this rung", rulings);
  } else if (index == top()) {
    settle(index, standing, Verdict::completed, keep, "it reached max_resource", rulings);
  } else if (standing.tier == Standing::not_finite) {
    settle(index, standing, Verdict::stopped, keep, "its value is not a finite number: such a trial never goes on", rulings);
  } else {
    arrived_below_top(index, standing, rulings);
  }
  arrived(rulings);
}

Work AshaPolicy::work_of(int trial, int index) const {
  Work work;
  work.trial = trial;
  work.bracket = bracket_of(trial);
  work.rung = index - work.bracket;
  work.until_resource = rung(index).level();
  return work;
}

std::optional<Work> AshaPolicy::take(std::optional<int> preferred, std::vector<Ruling>& rulings) {
  if (auto work = take_promoted(preferred, rulings)) {
    ++under_way_;
    return work;
  }
  if (!may_start()) return std::nullopt;
  const Place place = place_of_new();
  started(started_, place);
  ++started_;
  ++under_way_;
  Work work;
  work.bracket = place.bracket;
  work.rung = place.rung;
  work.until_resource = rung(place.bracket + place.rung).level();
  return work;
}

std::optional<int> AshaPolicy::rung_to_finish() const {
  const bool others_left = may_start() || under_way_ > 0;
  return others_left ? std::nullopt : rung_to_finish_from(rungs_);
}

Work AshaPolicy::promote_to_finish(int index, std::vector<Ruling>& rulings) {
  const Standing standing = *rung(index).waiting().begin();
  recall_promoted(index, standing.trial, true);
  settle(index, standing, Verdict::promoted, 1,
         "all other trials are done: the best one goes on, so that one reaches max_resource", rulings);
  return work_of(standing.trial, index + 1);
}

bool AshaPolicy::has_work() const { return may_start() || has_promoted(); }

void AshaPolicy::close(std::vector<Ruling>& rulings, std::size_t most) {
  for (int index = 0; index <= top(); ++index) {
    while (!rung(index).waiting().empty() && rulings.size() < most) {
      const Standing standing = *rung(index).waiting().begin();
      settle(index, standing, Verdict::stopped, keep_of(rung(index).filled()), rule_at_close(), rulings);
    }
  }
}

std::string AshaPolicy::rule_at_close() const {
  return "the job ended and it was not among the best 1 in " + std::to_string(eta_);
}

void AshaPolicy::recall_trial(const TrialRow& trial) {
  started(started_, {trial.bracket, trial.rung});
  ++started_;
  ++under_way_;
}

void AshaPolicy::recall_decision(const DecisionRow& decision, bool moved_on) {
  const int index = decision.bracket + decision.rung;
  add(index, arrival_of(decision), decision.verdict != Verdict::waiting);
  if (decision.verdict != Verdict::promoted) return;
  if (moved_on) ++under_way_;
  recall_promoted(index, decision.trial.number, moved_on);
}

// ---- promotion ----------------------------------------------------------------------------------------------------------------

bool AshaPromotion::may_promote(int index) const {
  // The best of those without a verdict: when it is not in the top, none is.
  return rung(index).rank(*rung(index).waiting().begin()) <= rung(index).filled() / eta_;
}

std::optional<int> AshaPromotion::promotable() const {
  for (int index = highest_rung_to_leave(); index >= 0; --index) {
    if (!rung(index).waiting().empty() && may_promote(index)) return index;
  }
  return std::nullopt;
}

std::optional<Work> AshaPromotion::take_promoted(std::optional<int>, std::vector<Ruling>& rulings) {
  const auto next = promotable();
  if (!next) {
    const auto last = rung_to_finish();
    return last ? std::optional(promote_to_finish(*last, rulings)) : std::nullopt;
  }
  const Standing standing = *rung(*next).waiting().begin();
  recall_promoted(*next, standing.trial, true);
  settle(*next, standing, Verdict::promoted, keep_of(rung(*next).filled()), rule_of_promotion(), rulings);
  return work_of(standing.trial, *next + 1);
}

std::string AshaPromotion::rule_of_promotion() const {
  return "a worker was free and it was the best not yet promoted among the top 1 in " + std::to_string(eta_);
}

int AshaPromotion::promoted_waiting() const { return has_promoted() ? 1 : 0; }

void AshaPromotion::recall_promoted(int, int, bool moved_on) {
  TUNEBAND_CHECK(moved_on, "a promoted trial without its next segment");
}

// ---- stopping -----------------------------------------------------------------------------------------------------------------

void AshaStopping::arrived_below_top(int index, const Standing& standing, std::vector<Ruling>& rulings) {
  const int keep = keep_of(rung(index).filled());
  const bool few = rung(index).filled() < eta_;
  const bool stays = few || rung(index).rank(standing) <= keep;
  const std::string top_share = "the top 1 in " + std::to_string(eta_);
  if (!stays) {
    lose(index, standing, keep, "when it arrived it was not within " + top_share, rulings);
    return;
  }
  settle(index, standing, Verdict::promoted, keep,
         few ? "too few results to compare with: the first ones go on" : "when it arrived it was within " + top_share, rulings);
  goes_on(index, standing.trial);
}

void AshaStopping::lose(int index, const Standing& standing, int keep, std::string rule, std::vector<Ruling>& rulings) {
  const auto& waiting = rung(index).waiting();
  if (!finished() && static_cast<int>(waiting.size()) <= kReserve) return;
  const Standing out = finished() ? standing : *waiting.rbegin();
  settle(index, out, Verdict::stopped, keep, out.trial == standing.trial ? std::move(rule) : rule_at_close(), rulings);
}

void AshaStopping::arrived(std::vector<Ruling>& rulings) {
  if (finished()) close(rulings, std::numeric_limits<std::size_t>::max());  // no reserve is needed any more
}

std::string AshaStopping::rule_at_close() const {
  return "by the rule it was to stop here, and no place of a trial that failed further up was left for it";
}

std::optional<Work> AshaStopping::take_promoted(std::optional<int> preferred, std::vector<Ruling>& rulings) {
  if (promoted_.empty()) {
    const auto last = rung_to_finish();
    return last ? std::optional(promote_to_finish(*last, rulings)) : std::nullopt;
  }
  auto chosen = promoted_.begin();
  if (preferred) {
    const auto same =
        std::find_if(promoted_.begin(), promoted_.end(), [&](const auto& entry) { return entry.second == *preferred; });
    if (same != promoted_.end()) chosen = same;
  }
  const auto [index_descending, trial] = *chosen;
  promoted_.erase(chosen);
  return work_of(trial, -index_descending + 1);
}

void AshaStopping::recall_promoted(int index, int trial, bool moved_on) {
  if (!moved_on) goes_on(index, trial);
}

}  // namespace tuneband

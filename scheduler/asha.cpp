#include "scheduler/asha.hpp"

#include <algorithm>

#include "core/check.hpp"
#include "scheduler/plan.hpp"
#include "scheduler/synchronous.hpp"

namespace tuneband {

AshaPolicy::AshaPolicy(const SchedulerSpec& spec, Goal goal, std::optional<int> trials_max)
    : eta_(spec.eta), trials_max_(trials_max) {
  const bool one_rung = spec.type == SchedulerType::none;
  for (const std::int64_t level : one_rung ? std::vector{spec.max_resource} : ladder(spec)) rungs_.emplace_back(level, 0, goal);
}

void AshaPolicy::arrive(const Arrival& arrival, std::vector<Ruling>& rulings) {
  Rung& rung = rungs_[static_cast<std::size_t>(arrival.rung)];
  const Standing standing = rung.add(arrival);
  const bool last = arrival.rung + 1 == static_cast<int>(rungs_.size());
  const int keep = last ? 0 : rung.filled() / eta_;
  const auto settle = [&](Verdict verdict, const char* rule) {
    rung.settle(standing);
    rulings.push_back(rung.rule(standing, verdict, 0, arrival.rung, keep, rule));
  };
  if (standing.tier == Standing::failed) {
    settle(Verdict::stopped, "it failed before it reached this rung");
  } else if (last) {
    settle(Verdict::completed, "it reached max_resource");
  } else if (standing.tier == Standing::not_finite) {
    settle(Verdict::stopped, "its value is not a finite number: such a trial never goes on");
  } else {
    arrived_below_top(rung, arrival.rung, standing, rulings);
  }
}

Work AshaPolicy::work_of(int trial, int rung) const {
  Work work;
  work.trial = trial;
  work.rung = rung;
  work.until_resource = rungs_[static_cast<std::size_t>(rung)].level();
  return work;
}

std::optional<Work> AshaPolicy::take(std::optional<int> preferred, std::vector<Ruling>& rulings) {
  if (auto work = take_promoted(preferred, rulings)) return work;
  if (trials_max_ && started_ >= *trials_max_) return std::nullopt;
  ++started_;
  Work work;
  work.until_resource = rungs_.front().level();
  return work;
}

bool AshaPolicy::has_work() const { return !trials_max_ || started_ < *trials_max_ || has_promoted(); }

void AshaPolicy::close(std::vector<Ruling>& rulings) {
  for (std::size_t index = 0; index < rungs_.size(); ++index) {
    Rung& rung = rungs_[index];
    const int keep = rung.filled() / eta_;
    while (!rung.waiting().empty()) {
      const Standing standing = *rung.waiting().begin();
      rung.settle(standing);
      rulings.push_back(rung.rule(standing, Verdict::stopped, 0, static_cast<int>(index), keep,
                                  "the job ended and it was not among the best 1 in " + std::to_string(eta_)));
    }
  }
}

void AshaPolicy::recall_decision(const DecisionRow& decision, bool moved_on) {
  Rung& rung = rungs_[static_cast<std::size_t>(decision.rung)];
  const Arrival arrival{decision.trial.number, decision.bracket, decision.rung, decision.value};
  if (decision.verdict == Verdict::waiting) {
    rung.add(arrival);
    return;
  }
  rung.add_settled(arrival);
  if (decision.verdict == Verdict::promoted && !moved_on) recall_promoted(decision);
}

// ---- promotion ----------------------------------------------------------------------------------------------------------------

std::optional<int> AshaPromotion::promotable_rung() const {
  for (int index = static_cast<int>(rungs_.size()) - 2; index >= 0; --index) {
    const Rung& rung = rungs_[static_cast<std::size_t>(index)];
    // The best of those without a verdict: when it is not in the top, none is.
    if (!rung.waiting().empty() && rung.rank(*rung.waiting().begin()) <= rung.filled() / eta_) return index;
  }
  return std::nullopt;
}

std::optional<Work> AshaPromotion::take_promoted(std::optional<int>, std::vector<Ruling>& rulings) {
  const auto index = promotable_rung();
  if (!index) return std::nullopt;
  Rung& rung = rungs_[static_cast<std::size_t>(*index)];
  const Standing standing = *rung.waiting().begin();
  rung.settle(standing);
  rulings.push_back(
      rung.rule(standing, Verdict::promoted, 0, *index, rung.filled() / eta_,
                "a worker was free and it was the best not yet promoted among the top 1 in " + std::to_string(eta_)));
  return work_of(standing.trial, *index + 1);
}

int AshaPromotion::promoted_waiting() const { return has_promoted() ? 1 : 0; }

void AshaPromotion::recall_promoted(const DecisionRow&) { TUNEBAND_CHECK(false, "a promoted trial without its next segment"); }

// ---- stopping -----------------------------------------------------------------------------------------------------------------

void AshaStopping::arrived_below_top(Rung& rung, int index, const Standing& standing, std::vector<Ruling>& rulings) {
  const int keep = rung.filled() / eta_;
  const bool few = rung.filled() < eta_;
  const bool goes_on = few || rung.rank(standing) <= keep;
  rung.settle(standing);
  const std::string top = "the top 1 in " + std::to_string(eta_);
  rulings.push_back(rung.rule(standing, goes_on ? Verdict::promoted : Verdict::stopped, 0, index, keep,
                              few       ? "too few results to compare with: the first ones go on"
                              : goes_on ? "when it arrived it was within " + top
                                        : "when it arrived it was not within " + top));
  if (goes_on) promoted_.insert({-index, standing.trial});
}

std::optional<Work> AshaStopping::take_promoted(std::optional<int> preferred, std::vector<Ruling>&) {
  if (promoted_.empty()) return std::nullopt;
  auto chosen = promoted_.begin();
  if (preferred) {
    const auto same =
        std::find_if(promoted_.begin(), promoted_.end(), [&](const auto& entry) { return entry.second == *preferred; });
    if (same != promoted_.end()) chosen = same;
  }
  const auto [rung_descending, trial] = *chosen;
  promoted_.erase(chosen);
  return work_of(trial, -rung_descending + 1);
}

void AshaStopping::recall_promoted(const DecisionRow& decision) { promoted_.insert({-decision.rung, decision.trial.number}); }

// ---- all of them --------------------------------------------------------------------------------------------------------------

std::unique_ptr<Policy> make_policy(const SchedulerSpec& spec, Goal goal, std::optional<int> trials_max) {
  switch (spec.type) {
    case SchedulerType::hyperband:
    case SchedulerType::successive_halving:
      return std::make_unique<SynchronousPolicy>(spec, goal, trials_max);
    case SchedulerType::asha_promotion:
      return std::make_unique<AshaPromotion>(spec, goal, trials_max);
    case SchedulerType::asha_stopping:
    case SchedulerType::none:
      return std::make_unique<AshaStopping>(spec, goal, trials_max);
  }
  TUNEBAND_CHECK(false, "unknown scheduler type");
}

}  // namespace tuneband

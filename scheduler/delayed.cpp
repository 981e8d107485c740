#include "scheduler/delayed.hpp"

#include <algorithm>

namespace tuneband {

DelayedPromotion::DelayedPromotion(const SchedulerSpec& spec, Goal goal, std::optional<int> trials_max)
    : AshaPromotion(spec, goal, trials_max),
      of_audited_(static_cast<std::size_t>(top()) + 1),
      promoted_(static_cast<std::size_t>(top()) + 1),
      progress_(kAuditTrials),
      order_(top() + 1) {
  const bool enough_trials = !trials_max || *trials_max >= kAuditJobTrialsMin;
  if (!spec.rung_audit || !enough_trials || !affordable(0)) return;
  audit_rung_ = 0;
  auditing_ = true;
}

// Above the rung that new trials would start from there has to be one more to stop at.
bool DelayedPromotion::affordable(int index) const {
  return index + 2 <= top() && kAuditTrials * rung(index + 1).level() <= rung(top()).level() * 5 / 4;
}

// ---- the quota ----------------------------------------------------------------------------------------------------------------

bool DelayedPromotion::may_promote(int index) const {
  const auto at = static_cast<std::size_t>(index);
  const Count apart = index <= audit_rung_ ? of_audited_[at] : Count{};
  const int filled = rung(index).filled() - apart.filled;
  const int promoted = promoted_[at] - apart.promoted;
  return (promoted + 1) * eta_ <= filled && AshaPromotion::may_promote(index);
}

std::string DelayedPromotion::rule_of_promotion() const {
  return "a worker was free, it was the best not yet promoted, and no more than 1 in " + std::to_string(eta_) + " go on with it";
}

void DelayedPromotion::recall_promoted(int index, int trial, bool moved_on) {
  const auto at = static_cast<std::size_t>(index);
  ++promoted_[at];
  if (trial < kAuditTrials) ++of_audited_[at].promoted;
  if (!moved_on) audited_waiting_.insert({index, trial});
}

int DelayedPromotion::promoted_waiting() const {
  return static_cast<int>(audited_waiting_.size()) + AshaPromotion::promoted_waiting();
}

// ---- the audit ----------------------------------------------------------------------------------------------------------------

void DelayedPromotion::learned(int index, const Standing& standing) {
  order_.add(index, standing);
  if (standing.trial >= kAuditTrials) return;
  ++of_audited_[static_cast<std::size_t>(index)].filled;
  progress_[static_cast<std::size_t>(standing.trial)] = {index, standing};
  conclude();
}

bool DelayedPromotion::audit_pending(int trial) const {
  const Progress& its = progress_[static_cast<std::size_t>(trial)];
  return its.index <= audit_rung_ && (its.index < 0 || its.standing.tier == Standing::finite);
}

PairCounts DelayedPromotion::audited_pairs() const {
  PairCounts counts;
  for (int a = 0; a < kAuditTrials; ++a) {
    for (int b = a + 1; b < kAuditTrials; ++b) {
      const Standing* a_above = order_.find(audit_rung_ + 1, a);
      const Standing* b_above = order_.find(audit_rung_ + 1, b);
      if (a_above == nullptr || b_above == nullptr) continue;
      counts.same_order += same_order(*order_.find(audit_rung_, a), *order_.find(audit_rung_, b), *a_above, *b_above);
      ++counts.pairs;
    }
  }
  return counts;
}

void DelayedPromotion::arrived(std::vector<Ruling>& rulings) {
  if (!auditing_) return;
  for (int trial = 0; trial < kAuditTrials; ++trial) {
    const Progress its = progress_[static_cast<std::size_t>(trial)];
    if (its.index < 0 || its.index > audit_rung_ || !rung(its.index).waiting().contains(its.standing)) continue;
    recall_promoted(its.index, trial, false);
    settle(its.index, its.standing, Verdict::promoted, kAuditTrials,
           "one of the first " + std::to_string(kAuditTrials) +
               " trials, which all go on: does the next rung put them in the same order?",
           rulings);
  }
}

std::optional<Work> DelayedPromotion::take_promoted(std::optional<int> preferred, std::vector<Ruling>& rulings) {
  if (audited_waiting_.empty()) return AshaPromotion::take_promoted(preferred, rulings);
  auto chosen = std::find_if(audited_waiting_.begin(), audited_waiting_.end(),
                             [&](const auto& waiting) { return waiting.second == preferred; });
  if (chosen == audited_waiting_.end()) chosen = audited_waiting_.begin();
  const auto [index, trial] = *chosen;
  audited_waiting_.erase(chosen);
  return work_of(trial, index + 1);
}

// All audited trials are at the rung above, or did not get so far.
void DelayedPromotion::conclude() {
  while (auditing_) {
    for (int trial = 0; trial < kAuditTrials; ++trial) {
      if (audit_pending(trial)) return;
    }
    const PairCounts pairs = audited_pairs();
    auditing_ = false;
    if (pairs.pairs < kAuditPairsMin || pairs.concordance() >= kAuditConcordanceMin) return;
    lowest_ = audit_rung_ + 1;
    if (!affordable(audit_rung_ + 1)) return;
    ++audit_rung_;
    auditing_ = true;
  }
}

}  // namespace tuneband

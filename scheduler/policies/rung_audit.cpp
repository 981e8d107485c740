#include "scheduler/policies/rung_audit.hpp"

#include <algorithm>

namespace tuneband {

RungAudit::RungAudit(const Rungs& rungs)
    : levels_(rungs.levels()), of_audited_(static_cast<std::size_t>(rungs.top()) + 1), progress_(kAuditTrials) {
  const bool enough_trials = !rungs.trials_max() || *rungs.trials_max() >= kAuditJobTrialsMin;
  if (!enough_trials || !audit_affordable(levels_, 0)) return;
  audit_rung_ = 0;
  auditing_ = true;
}

bool audit_affordable(const std::vector<std::int64_t>& levels, std::size_t index) {
  const std::size_t above = index + 1;
  return above + 1 < levels.size() && kAuditTrials * levels[above] <= levels.back() * 5 / 4;
}

RungCount RungAudit::apart(int index) const {
  return index <= audit_rung_ ? of_audited_[static_cast<std::size_t>(index)] : RungCount{};
}

void RungAudit::promoted(int index, int trial) {
  if (trial < kAuditTrials) ++of_audited_[static_cast<std::size_t>(index)].promoted;
}

void RungAudit::learned(const RungOrder& order, int index, const Standing& standing) {
  if (standing.trial >= kAuditTrials) return;
  ++of_audited_[static_cast<std::size_t>(index)].filled;
  progress_[static_cast<std::size_t>(standing.trial)] = {index, standing.tier == Standing::finite};
  conclude(order);
}

void RungAudit::withdrawn(int trial) {
  if (trial < kAuditTrials) progress_[static_cast<std::size_t>(trial)].may_go_on = false;
}

bool RungAudit::pending(const Progress& its) const { return its.index <= audit_rung_ && (its.index < 0 || its.may_go_on); }

PairCounts RungAudit::audited_pairs(const RungOrder& order) const {
  PairCounts counts;
  for (int a = 0; a < kAuditTrials; ++a) {
    for (int b = a + 1; b < kAuditTrials; ++b) {
      const Worth* a_here = order.find(audit_rung_, a);  // nothing: it started higher
      const Worth* b_here = order.find(audit_rung_, b);
      const Worth* a_above = order.find(audit_rung_ + 1, a);
      const Worth* b_above = order.find(audit_rung_ + 1, b);
      if (a_here == nullptr || b_here == nullptr || a_above == nullptr || b_above == nullptr) continue;
      counts.add(*a_here, *b_here, *a_above, *b_above);
    }
  }
  return counts;
}

std::vector<std::pair<int, Standing>> RungAudit::to_promote(const Rungs& rungs) const {
  std::vector<std::pair<int, Standing>> found;
  for (int index = 0; auditing_ && index <= audit_rung_; ++index) {
    for (const Standing& standing : rungs.at(index).waiting()) {
      if (standing.trial < kAuditTrials) found.emplace_back(index, standing);
    }
  }
  std::ranges::sort(found, {}, [](const auto& one) { return one.second.trial; });
  return found;
}

std::string RungAudit::rule() {
  return "one of the first " + std::to_string(kAuditTrials) +
         " trials, which all go on: does the next rung put them in the same order?";
}

// All audited trials are at the rung above, or did not get so far.
void RungAudit::conclude(const RungOrder& order) {
  while (auditing_) {
    if (std::any_of(progress_.begin(), progress_.end(), [&](const Progress& its) { return pending(its); })) return;
    const PairCounts pairs = audited_pairs(order);
    auditing_ = false;
    if (pairs.pairs < kAuditPairsMin || pairs.concordance() >= kAuditConcordanceMin) return;
    lowest_ = audit_rung_ + 1;
    if (!audit_affordable(levels_, static_cast<std::size_t>(audit_rung_) + 1)) return;
    ++audit_rung_;
    auditing_ = true;
  }
}

}  // namespace tuneband

// The audit of the first rungs (`rung_audit`): users choose a first rung that is too low to say anything. The first trials go on
// from it whatever their value, and when the next rung puts them in quite another order new trials start there; then that rung is
// looked at in the same way, as long as this costs no more than about one training until max_resource. The audited trials count
// at no rung that they passed in this way: it is as if they had started one rung higher.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/policies/promotion_rule.hpp"
#include "scheduler/policies/rung_order.hpp"
#include "scheduler/policies/rungs.hpp"

namespace tuneband {

inline constexpr int kAuditTrials = 9;
inline constexpr double kAuditConcordanceMin = 0.74;  // a random order has 0.5, one that helps 0.8 and more
inline constexpr int kAuditPairsMin = 6;              // of those that have a value at both rungs: fewer say nothing
inline constexpr int kAuditJobTrialsMin = 3 * kAuditTrials;

// Whether the audit of rung `index` of this ladder costs no more than about one training, and there is one more to stop at above
// the rung that new trials would start from.
bool audit_affordable(const std::vector<std::int64_t>& levels, std::size_t index);

class RungAudit {
 public:
  explicit RungAudit(const Rungs& rungs);

  int lowest() const { return lowest_; }  // where new trials start
  // Of the first kAuditTrials, where they do not count.
  RungCount apart(int index) const;

  // A result was added to `order` and its rung.
  void learned(const RungOrder& order, int index, const Standing& standing);
  void promoted(int index, int trial);
  // It was stopped where it waited, above what is audited now: at the next audit it is one that will not come to the rung above.
  void withdrawn(int trial);
  // By rung: those that wait and go on whatever their value.
  std::vector<std::pair<int, Standing>> to_promote(const Rungs& rungs) const;
  static std::string rule();

 private:
  // The last arrival of one of the first trials.
  struct Progress {
    int index = -1;
    bool may_go_on = false;  // it has a finite value there
  };

  bool pending(const Progress& its) const;  // it may still come to the rung above the audited one
  PairCounts audited_pairs(const RungOrder& order) const;
  void conclude(const RungOrder& order);

  std::vector<std::int64_t> levels_;
  std::vector<RungCount> of_audited_;  // by rung: of the first kAuditTrials
  std::vector<Progress> progress_;     // of the first kAuditTrials
  int audit_rung_ = -1;                // the highest rung that is or was audited; -1: none
  bool auditing_ = false;
  int lowest_ = 0;
};

}  // namespace tuneband

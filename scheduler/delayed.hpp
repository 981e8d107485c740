// Delayed promotion (D-ASHA: Li et al., "Hyper-Tune", VLDB 2022, Algorithm 1): as asynchronous promotion, but a trial goes on
// from rung k only if (already promoted from k) + 1 <= n_k / eta. ASHA promotes a trial when it is in the top at the time, and
// again another one when that turns out to have been too early; here the quota holds.
//
// With the audit (`rung_audit`): users choose a first rung that is too low to say anything. The first trials go on from it
// whatever their value, and when the next rung puts them in quite another order new trials start there; then that rung is looked
// at in the same way, as long as this costs no more than about one training until max_resource. The audited trials count at no
// rung that they passed in this way: it is as if they had started one rung higher.
#pragma once

#include "scheduler/asha.hpp"
#include "scheduler/rung_order.hpp"

namespace tuneband {

inline constexpr int kAuditTrials = 9;
inline constexpr double kAuditConcordanceMin = 0.74;  // a random order has 0.5, one that helps 0.8 and more
inline constexpr int kAuditPairsMin = 6;              // of those that have a value at both rungs: fewer say nothing
inline constexpr int kAuditJobTrialsMin = 3 * kAuditTrials;

class DelayedPromotion : public AshaPromotion {
 public:
  DelayedPromotion(const SchedulerSpec& spec, Goal goal, std::optional<int> trials_max);

  int promoted_waiting() const override;

 protected:
  void learned(int index, const Standing& standing) override;
  void arrived(std::vector<Ruling>& rulings) override;
  std::optional<Work> take_promoted(std::optional<int> preferred, std::vector<Ruling>& rulings) override;
  bool has_promoted() const override { return !audited_waiting_.empty() || AshaPromotion::has_promoted(); }
  void recall_promoted(int index, int trial, bool moved_on) override;
  Place place_of_new() const override { return {0, lowest_}; }
  bool may_promote(int index) const override;
  std::string rule_of_promotion() const override;

  const RungOrder& order() const { return order_; }

 private:
  struct Count {
    int filled = 0;
    int promoted = 0;
  };

  bool affordable(int index) const;     // to audit rung `index`
  bool audit_pending(int trial) const;  // it may still come to the rung above the audited one
  PairCounts audited_pairs() const;
  void conclude();

  // The last arrival of one of the first trials.
  struct Progress {
    int index = -1;
    Standing standing;
  };

  std::vector<Count> of_audited_;   // by rung: of the first kAuditTrials
  std::vector<int> promoted_;       // by rung: in all
  std::vector<Progress> progress_;  // of the first kAuditTrials
  int audit_rung_ = -1;             // the highest rung that is or was audited; -1: none
  bool auditing_ = false;
  int lowest_ = 0;                                 // where new trials start
  std::set<std::pair<int, int>> audited_waiting_;  // (rung, trial): go on, and have no worker yet
  RungOrder order_;
};

}  // namespace tuneband

// ASHA in its promotion rule (Li et al., MLSys 2020, Algorithm 2): a trial pauses at each rung; a free worker takes the best
// trial that is within the top floor(n / eta) of its rung and was not promoted yet, from the highest rung that has one, else it
// starts a new trial.
//
// With the quota it is delayed promotion (D-ASHA: Li et al., "Hyper-Tune", VLDB 2022, Algorithm 1): a trial goes on from rung k
// only if (already promoted from k) + 1 <= n_k / eta. ASHA promotes a trial when it is in the top at the time, and again another
// one when that turns out to have been too early; here the quota holds.
//
// With several objectives what the quota lets through to max_resource would be a point or two of a front. So once all trials of
// the job have left its first rung behind, those of the first front of each rung go on beyond the quota, up to all but 1 in eta.
//
// With the cap it is PASHA (pasha_cap.hpp).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/policies/pasha_cap.hpp"
#include "scheduler/policies/rungs.hpp"

namespace tuneband {

// Results of a rung, and how many of them went on.
struct RungCount {
  int filled = 0;
  int promoted = 0;
};

class PromotionRule {
 public:
  enum class Quota { none, holds };  // none: ASHA; it holds: delayed promotion

  PromotionRule(const Rungs& rungs, Quota quota, std::unique_ptr<PashaCap> cap = nullptr);

  void learned(int index, const Standing& standing);
  void promoted(int index);

  // May the best of those that wait at a rung go on? `apart`: results that the quota does not count.
  bool may_promote(const Rungs& rungs, int index, const RungCount& apart) const;
  int highest_rung_to_leave(const Rungs& rungs) const;

  // Of the best of those that wait at rung `index`, which may go on.
  std::string rule(const Rungs& rungs, int index, const RungCount& apart) const;
  // Why one that waited at a rung to the end of the job did not go on.
  std::string rule_at_close(const Rungs& rungs, int index, const Standing& standing, const RungCount& apart) const;

 private:
  bool quota_left(const Rungs& rungs, int index, const RungCount& apart) const;
  bool may_go_by_quota(const Rungs& rungs, int index, const Standing& standing, const RungCount& apart) const;
  bool may_go_with_front(const Rungs& rungs, int index, const Standing& standing) const;
  bool room_for_front(const Rungs& rungs, int index) const;

  Quota quota_;
  std::unique_ptr<PashaCap> cap_;
  std::vector<int> promoted_;  // by rung: in all
};

}  // namespace tuneband

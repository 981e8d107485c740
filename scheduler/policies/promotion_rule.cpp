#include "scheduler/policies/promotion_rule.hpp"

namespace tuneband {

namespace {

bool in_top(const Rungs& rungs, int index, const Standing& standing) {
  const Rung& rung = rungs.at(index);
  return rung.rank(standing) <= rung.filled() / rungs.eta();
}

}  // namespace

PromotionRule::PromotionRule(const Rungs& rungs, Quota quota, std::unique_ptr<PashaCap> cap)
    : quota_(quota), cap_(std::move(cap)), promoted_(static_cast<std::size_t>(rungs.top()) + 1) {}

void PromotionRule::learned(int index, const Standing& standing) {
  if (cap_) cap_->learned(index, standing);
}

void PromotionRule::promoted(int index) { ++promoted_[static_cast<std::size_t>(index)]; }

bool PromotionRule::quota_left(const Rungs& rungs, int index, const RungCount& apart) const {
  const int promoted = promoted_[static_cast<std::size_t>(index)] - apart.promoted;
  return quota_ == Quota::none || (promoted + 1) * rungs.eta() <= rungs.at(index).filled() - apart.filled;
}

bool PromotionRule::may_go_by_quota(const Rungs& rungs, int index, const Standing& standing, const RungCount& apart) const {
  return quota_left(rungs, index, apart) && in_top(rungs, index, standing);
}

bool PromotionRule::may_go_with_front(const Rungs& rungs, int index, const Standing& standing) const {
  if (quota_ == Quota::none || !rungs.at(index).in_first_front(standing)) return false;
  return !rungs.may_start() && (rungs.under_way() == 0 || rungs.all_have_come()) && room_for_front(rungs, index);
}

bool PromotionRule::room_for_front(const Rungs& rungs, int index) const {
  const int promoted = promoted_[static_cast<std::size_t>(index)];
  return (promoted + 1) * rungs.eta() <= (rungs.eta() - 1) * rungs.at(index).filled();
}

bool PromotionRule::may_promote(const Rungs& rungs, int index, const RungCount& apart) const {
  // The best of those without a decision: when it is not in the top, or not of the first front, none is.
  const Standing& best = *rungs.at(index).waiting().begin();
  return may_go_by_quota(rungs, index, best, apart) || may_go_with_front(rungs, index, best);
}

int PromotionRule::highest_rung_to_leave(const Rungs& rungs) const { return cap_ ? cap_->index() - 1 : rungs.top() - 1; }

std::string PromotionRule::rule(const Rungs& rungs, int index, const RungCount& apart) const {
  const std::string eta = std::to_string(rungs.eta());
  if (!may_go_by_quota(rungs, index, *rungs.at(index).waiting().begin(), apart))
    return "a worker was free, and no result at this rung is better by all objectives: the first front goes on, too";
  if (quota_ == Quota::holds) {
    return "a worker was free, it was the best not yet promoted, and no more than 1 in " + eta + " go on with it";
  }
  return "a worker was free and it was the best not yet promoted among the top 1 in " + eta;
}

std::string PromotionRule::rule_at_close(const Rungs& rungs, int index, const Standing& standing, const RungCount& apart) const {
  const std::string eta = std::to_string(rungs.eta());
  if (may_go_with_front(rungs, index, standing)) return "the job ended before it could go on";
  if (index <= highest_rung_to_leave(rungs) && in_top(rungs, index, standing)) {
    if (quota_left(rungs, index, apart)) return "the job ended before it could go on";
    return "the job ended, and as many as may go on, 1 in " + eta + ", had done so";
  }
  if (quota_ == Quota::holds && rungs.at(index).in_first_front(standing) && !room_for_front(rungs, index))
    return "the job ended, and as many of the first front as may go on, all but 1 in " + eta + ", had done so";
  if (!cap_ && rungs.at(index).filled() < rungs.eta())
    return "the job ended, and fewer than the " + eta + " came to this rung of which 1 goes on";
  if (!cap_) return "the job ended and it was not among the best 1 in " + eta;
  return "the job ended, and it was not among the best 1 in " + eta +
         " of its rung or stood at the highest rung that was needed to tell the order of the trials";
}

}  // namespace tuneband

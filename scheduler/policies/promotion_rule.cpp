#include "scheduler/policies/promotion_rule.hpp"

namespace tuneband {

PromotionRule::PromotionRule(const Rungs& rungs, Options options, std::unique_ptr<PashaCap> cap)
    : options_(options), cap_(std::move(cap)), promoted_(static_cast<std::size_t>(rungs.top()) + 1) {}

void PromotionRule::learned(int index, const Standing& standing) {
  if (cap_) cap_->learned(index, standing);
}

void PromotionRule::promoted(int index) { ++promoted_[static_cast<std::size_t>(index)]; }

bool PromotionRule::may_promote(const Rungs& rungs, int index, const RungCount& apart) const {
  const Rung& rung = rungs.at(index);
  const int promoted = promoted_[static_cast<std::size_t>(index)] - apart.promoted;
  if (options_.quota && (promoted + 1) * rungs.eta() > rung.filled() - apart.filled) return false;
  // The best of those without a decision: when it is not in the top, none is.
  return rung.rank(*rung.waiting().begin()) <= rung.filled() / rungs.eta();
}

int PromotionRule::highest_rung_to_leave(const Rungs& rungs) const { return cap_ ? cap_->index() - 1 : rungs.top() - 1; }

std::string PromotionRule::rule(const Rungs& rungs) const {
  const std::string eta = std::to_string(rungs.eta());
  if (options_.quota) {
    return "a worker was free, it was the best not yet promoted, and no more than 1 in " + eta + " go on with it";
  }
  return "a worker was free and it was the best not yet promoted among the top 1 in " + eta;
}

std::string PromotionRule::rule_at_close(const Rungs& rungs) const {
  const std::string eta = std::to_string(rungs.eta());
  if (!cap_) return "the job ended and it was not among the best 1 in " + eta;
  return "the job ended, and it was not among the best 1 in " + eta +
         " of its rung or stood at the highest rung that was needed to tell the order of the trials";
}

}  // namespace tuneband

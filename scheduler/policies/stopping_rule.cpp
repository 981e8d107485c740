#include "scheduler/policies/stopping_rule.hpp"

namespace tuneband {

std::string StoppingRule::rule_at_close() {
  return "by the rule it was to stop here, and no place of a trial that failed further up was left for it";
}

StoppingRule::Judgement TopShareRule::judge(const Rungs& rungs, int index, const Standing& standing) const {
  const Rung& rung = rungs.at(index);
  if (rung.filled() < eta_) return {true, "too few results to compare with: the first ones go on"};
  const bool stays = rung.rank(standing) <= keep_of(rung.filled());
  const std::string top_share = "the top 1 in " + std::to_string(eta_);
  return {stays, (stays ? "when it arrived it was within " : "when it arrived it was not within ") + top_share};
}

}  // namespace tuneband

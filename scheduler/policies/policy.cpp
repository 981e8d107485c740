#include "scheduler/policies/policy.hpp"

#include "core/check.hpp"
#include "scheduler/policies/asynchronous.hpp"
#include "scheduler/policies/median_rule.hpp"
#include "scheduler/policies/synchronous.hpp"

namespace tuneband {

Arrival arrival_of(const DecisionRow& decision) {
  return {decision.trial.number, decision.bracket, decision.rung, decision.value, decision.violation, decision.more_values};
}

namespace {

AsynchronousPolicy::Parts parts_of(const SchedulerSpec& spec, Goal goal, const Rungs& rungs) {
  using Quota = PromotionRule::Quota;
  const int count = rungs.top() + 1;
  AsynchronousPolicy::Parts parts;
  switch (spec.type) {
    case SchedulerType::asha_promotion:
      parts.promotion = std::make_unique<PromotionRule>(rungs, Quota::none);
      break;
    case SchedulerType::pasha:
      parts.promotion = std::make_unique<PromotionRule>(rungs, Quota::none, std::make_unique<PashaCap>(count));
      break;
    case SchedulerType::asha_delayed:
    case SchedulerType::automatic:
      parts.promotion = std::make_unique<PromotionRule>(rungs, Quota::holds);
      if (HeadStart::in(spec)) parts.head_start = std::make_unique<HeadStart>();
      if (spec.rung_audit) parts.audit = std::make_unique<RungAudit>(rungs);
      if (has_uncut_trials(spec) && rungs.top() > 0) parts.uncut = std::make_unique<UncutShare>(rungs);
      if (ModelShare::in(spec) && rungs.top() > 0) parts.model = std::make_unique<ModelShare>(spec.max_resource);
      break;
    case SchedulerType::async_hyperband:
      parts.promotion = std::make_unique<PromotionRule>(rungs, Quota::holds);
      parts.brackets = std::make_unique<BracketChoice>(count, spec.eta);
      break;
    case SchedulerType::median_stopping:
      parts.stopping = std::make_unique<MedianRule>(rungs, goal);
      break;
    case SchedulerType::asha_stopping:
    case SchedulerType::none:
      parts.stopping = std::make_unique<TopShareRule>(spec.eta);
      break;
    case SchedulerType::hyperband:
    case SchedulerType::successive_halving:
      TUNEBAND_CHECK(false, "a synchronous type");
  }
  return parts;
}

}  // namespace

std::unique_ptr<Policy> make_policy(const SchedulerSpec& spec, Goal goal, std::optional<int> trials_max) {
  if (is_synchronous(spec.type)) {
    return std::make_unique<SynchronousPolicy>(spec, goal, trials_max);
  }
  Rungs rungs(spec, goal, trials_max);
  auto parts = parts_of(spec, goal, rungs);
  return std::make_unique<AsynchronousPolicy>(std::move(rungs), std::move(parts));
}

}  // namespace tuneband

#include "scheduler/policy.hpp"

#include "core/check.hpp"
#include "scheduler/asha.hpp"
#include "scheduler/async_hyperband.hpp"
#include "scheduler/delayed.hpp"
#include "scheduler/median_stopping.hpp"
#include "scheduler/pasha.hpp"
#include "scheduler/synchronous.hpp"

namespace tuneband {

Arrival arrival_of(const DecisionRow& decision) {
  return {decision.trial.number, decision.bracket, decision.rung, decision.value, decision.violation, decision.more_values};
}

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
    case SchedulerType::asha_delayed:
    case SchedulerType::automatic:
      return std::make_unique<DelayedPromotion>(spec, goal, trials_max);
    case SchedulerType::async_hyperband:
      return std::make_unique<AsyncHyperband>(spec, goal, trials_max);
    case SchedulerType::pasha:
      return std::make_unique<Pasha>(spec, goal, trials_max);
    case SchedulerType::median_stopping:
      return std::make_unique<MedianStopping>(spec, goal, trials_max);
  }
  TUNEBAND_CHECK(false, "unknown scheduler type");
}

}  // namespace tuneband

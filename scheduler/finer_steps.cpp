#include "scheduler/finer_steps.hpp"

#include <algorithm>

#include "core/json.hpp"
#include "core/text.hpp"
#include "search_spaces/shrinkage.hpp"

namespace tuneband {

std::optional<FinerSteps> FinerSteps::of(const JobSpec& spec) {
  const auto trees = trees_trainer(spec);
  if (!trees || !spec.scheduler.restarts || !spec.keeps_best || member(spec.trainer, "finer_steps") != true) return std::nullopt;
  for (const Parameter& parameter : spec.search_space.parameters()) {
    if (parameter.name != "eta" && parameter.name != "learning_rate") continue;
    const auto* domain = std::get_if<FloatDomain>(&parameter.domain);
    if (domain != nullptr) return FinerSteps(parameter.name, domain->min, *trees);
  }
  return std::nullopt;
}

std::optional<FinerSteps::Change> FinerSteps::of_trial(const TrialRow& trial) const {
  const auto found = trial.configuration.find(parameter_);
  if (found == trial.configuration.end()) return std::nullopt;
  const double eta = number_of(found->second).value_or(0);
  const auto finer = finer_eta({.eta = eta,
                                .rounds = trial.until_resource,
                                .best = trial.best_resource,
                                .max_rounds = trees_.max_resource,
                                .shrinkage_max = trees_.shrinkage_max});
  if (!finer) return std::nullopt;
  const double next = std::max(parse_number(short_number(*finer)).value_or(*finer), least_);  // more digits say nothing
  if (next >= eta) return std::nullopt;
  Change change{trial.configuration, ""};
  change.configuration[parameter_] = next;
  change.why = "its best round was " + std::to_string(trial.best_resource) + " of " + std::to_string(trial.until_resource) +
               ", so it goes on with smaller steps, " + parameter_ + " " + short_number(next) + " instead of " +
               short_number(eta);
  return change;
}

}  // namespace tuneband

#include "scheduler/eta_adaptation.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "search_spaces/shrinkage.hpp"

namespace tuneband {

namespace {

// With a rate of 0 nothing is learned: instead of it the first step.
double above_zero(const FloatDomain& all, double eta) {
  return eta > 0 || all.step == 0 ? eta : nearest_in(all, all.min + all.step);
}

FloatDomain where_new_trials_begin(const FloatDomain& all, const TreesTrainer& trees) {
  constexpr double kLeastShrinkage = 1;
  constexpr double kWideEnough = 2;  // from its min to its max
  FloatDomain begin = all;
  const double least = eta_of_shrinkage(kLeastShrinkage, trees.max_resource);
  begin.min = nearest_in(all, least);
  if (begin.min < least) begin.min = nearest_in(all, begin.min + all.step);
  begin.max = nearest_in(all, eta_of_shrinkage(trees.shrinkage_max, trees.max_resource));
  if (begin.max >= kWideEnough * begin.min) return begin;
  begin = all;
  begin.min = above_zero(all, all.min);
  return begin;
}

}  // namespace

EtaAdaptation::EtaAdaptation(std::string parameter, const FloatDomain& all, const TreesTrainer& trees)
    : parameter_(std::move(parameter)), all_(all), begin_(where_new_trials_begin(all, trees)), trees_(trees) {}

std::optional<EtaAdaptation> EtaAdaptation::of(const JobSpec& spec) {
  const auto trees = trees_trainer(spec);
  if (!trees || !trees->adapts_eta) return std::nullopt;
  for (const char* name : {"eta", "learning_rate"}) {
    const Parameter* parameter = spec.search_space.find(name);
    const auto* domain = parameter != nullptr ? std::get_if<FloatDomain>(&parameter->domain) : nullptr;
    if (domain != nullptr) return EtaAdaptation(name, *domain, *trees);
  }
  return std::nullopt;
}

SearchSpace EtaAdaptation::space_of_new_trials(SearchSpace space) const {
  space.replace_domain(parameter_, begin_);
  return space;
}

Configuration EtaAdaptation::as_of_a_new_trial(Configuration configuration) const {
  const auto found = configuration.find(parameter_);
  if (found == configuration.end()) return configuration;
  if (spans(all_, found->second)) found->second = nearest_in(begin_, *number_of(found->second));
  return configuration;
}

std::optional<EtaAdaptation::Change> EtaAdaptation::of_trial(const TrialRow& trial) const {
  const auto found = trial.configuration.find(parameter_);
  if (found == trial.configuration.end()) return std::nullopt;
  const double eta = number_of(found->second).value_or(0);
  const auto adapted = adapted_eta({.eta = eta,
                                    .rounds = trial.until_resource,
                                    .best = trial.best_resource,
                                    .max_rounds = trees_.max_resource,
                                    .shrinkage_max = trees_.shrinkage_max});
  if (!adapted) return std::nullopt;
  const double rounded = parse_number(short_number(*adapted)).value_or(*adapted);  // more digits say nothing
  const double next = above_zero(all_, nearest_in(all_, rounded));
  constexpr double kSame = 1e-3;
  if (std::abs(next - eta) <= kSame * eta) return std::nullopt;
  Change change{trial.configuration, eta, ""};
  change.configuration[parameter_] = next;
  change.why = "its best round was " + std::to_string(trial.best_resource) + " of " + std::to_string(trial.until_resource) +
               ", so it goes on with " + (next < eta ? "smaller" : "larger") + " steps, " + parameter_ + " " +
               short_number(next) + " instead of " + short_number(eta);
  return change;
}

}  // namespace tuneband

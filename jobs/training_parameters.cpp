#include "jobs/training_parameters.hpp"

#include "core/text.hpp"
#include "jobs/xgboost_parameters.hpp"
#include "scheduler/job_spec.hpp"
#include "search_spaces/shrinkage.hpp"

namespace tuneband {

namespace {

constexpr std::uint64_t kSeedMask = 0x7fffffff;  // of a trial's seed: what XGBoost can take
constexpr double kInsideExcludedBound = 1e-6;    // how far a tuned value moves off a bound that XGBoost's range excludes

std::string parameter_text(const std::string& name, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number_float()) return value.dump();
  double number = value.get<double>();
  if (const auto* known = find_xgboost_parameter(name); known != nullptr && known->kind == ParameterKind::real) {
    if (known->range.min_excluded && number == known->range.min) number += kInsideExcludedBound;
    if (known->range.max_excluded && number == known->range.max) number -= kInsideExcludedBound;
  }
  return format_number(number);
}

// Below max_rounds the learning rate is that of the rung; the user's own text stays at max_rounds.
void shrink(std::map<std::string, std::string>& parameters, const TrialTraining& training, double shrinkage_max) {
  constexpr double kEtaDefault = 0.3;  // XGBoost's
  const auto eta = parameters.find("eta");
  const double own = eta == parameters.end() ? kEtaDefault : parse_number(eta->second).value_or(kEtaDefault);
  const double shrunk = shrunk_eta(own, training.rounds, training.max_rounds, shrinkage_max);
  if (shrunk != own) parameters["eta"] = format_number(shrunk);
}

}  // namespace

std::map<std::string, std::string> training_parameters(const XgboostSpec& spec, const TrialTraining& training) {
  std::map<std::string, std::string> named{{"seed", std::to_string(training.seed & kSeedMask)}, {"tree_method", "hist"}};
  for (const auto& [name, value] : spec.parameters) named[documented_name(name)] = value;
  for (const auto& [name, value] : training.configuration.items()) {
    if (name != kReplicasParameter) named[documented_name(name)] = parameter_text(name, value);
  }
  if (spec.fidelity == Fidelity::shrinkage) shrink(named, training, spec.shrinkage_max);
  named["seed_per_iteration"] = "1";  // what is random depends on the round, not on the rounds before
  return named;
}

}  // namespace tuneband

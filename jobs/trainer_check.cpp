// check_trainer(): the trainer, the search space and the objective against each other.
#include "core/text.hpp"
#include "jobs/trainer_check_parts.hpp"

namespace tuneband {

namespace {

TunedParameter tuned_parameter(const Parameter& parameter) {
  TunedParameter result;
  result.name = parameter.name;
  const auto add_value = [&](const Value& value) {
    result.values.push_back(to_string(value));
    result.text = result.text || std::holds_alternative<std::string>(value);
  };
  if (const auto* domain = std::get_if<FloatDomain>(&parameter.domain)) {
    result.real = true;
    result.min = domain->min;
    result.max = domain->max;
  } else if (const auto* integers = std::get_if<IntDomain>(&parameter.domain)) {
    result.min = static_cast<double>(integers->min);
    result.max = static_cast<double>(integers->max);
  } else if (const auto* categories = std::get_if<CategoricalDomain>(&parameter.domain)) {
    for (const Value& value : categories->values) add_value(value);
  } else {
    add_value(std::get<FixedDomain>(parameter.domain).value);
  }
  return result;
}

}  // namespace

std::vector<TunedParameter> tuned_parameters(const SearchSpace& space) {
  std::vector<TunedParameter> tuned;
  for (const Parameter& parameter : space.parameters()) tuned.push_back(tuned_parameter(parameter));
  return tuned;
}

void check_trainer(const TrainerSpec& trainer, const std::vector<TunedParameter>& tuned, const std::vector<MetricOfJob>& metrics,
                   Diagnostics& diagnostics, int replicas_max) {
  if (const auto* xgboost = std::get_if<XgboostSpec>(&trainer)) {
    check_xgboost(*xgboost, tuned, metrics, replicas_max, diagnostics);
  } else {
    check_command(std::get<CommandSpec>(trainer), tuned, metrics, diagnostics);
  }
}

}  // namespace tuneband

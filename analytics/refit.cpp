#include "analytics/refit.hpp"

#include <cmath>
#include <utility>

#include "core/text.hpp"
#include "scheduler/eta_adaptation.hpp"

namespace tuneband {

namespace {

Json typed(const std::string& text) {
  Json by_name = text.starts_with('{') || text.starts_with("[[\"") ? Json::parse(text, nullptr, false) : Json();
  if (by_name.is_structured()) return by_name;  // constraints on features
  const auto number = parse_number(text);
  if (!number || !std::isfinite(*number)) return text;
  Json json = Json::parse(text, nullptr, false);
  return json.is_number() ? json : Json(*number);
}

// Rows, columns, trees or pairs of rows at random; the pairs differ with the number of threads.
bool draws(const Json& parameters) {
  if (parameters.value("objective", "").starts_with("rank:")) return true;
  for (const char* share : {"subsample", "colsample_bytree", "colsample_bylevel", "colsample_bynode"}) {
    if (parameters.contains(share) && parameters[share] != 1) return true;
  }
  return parameters.contains("booster") && parameters["booster"] != "gbtree";
}

// Which may be that of a column of texts, whose features have other names in the model.
bool groups_names(const Json& parameters) {
  const Json groups = parameters.value("interaction_constraints", Json());
  return groups.is_array() || (groups.is_string() && groups.get_ref<const std::string&>().find('"') != std::string::npos);
}

}  // namespace

std::optional<KeptTraining> kept_training(const ParsedJob& job, const TrialRow& trial, const RawJson& configuration) {
  const auto* xgboost = std::get_if<XgboostSpec>(&job.trainer);
  if (xgboost == nullptr || job.trainer_fault || !trial.objective) return std::nullopt;
  const bool kept = trial.kept_value.has_value();
  TrialTraining training;
  training.configuration = Json::parse(configuration.text);
  const auto adaptation = EtaAdaptation::of(job.spec);
  if (kept && trial.kept_eta && adaptation) training.configuration[adaptation->parameter()] = *trial.kept_eta;
  training.seed = seed_of_trial(job.spec, trial.id.number);
  training.rounds = kept ? trial.kept_until_resource : trial.objective_resource;
  training.max_rounds = job.spec.scheduler.max_resource;
  const std::int64_t rounds = kept ? trial.kept_resource : trial.objective_resource;
  if (training.rounds == 0) {
    if (xgboost->fidelity == Fidelity::shrinkage) return std::nullopt;
    training.rounds = rounds;  // which changes nothing
  }
  return KeptTraining{std::move(training), rounds};
}

std::optional<views::Refit> refit_of(const ParsedJob& job, const TrialRow& trial, const RawJson& configuration) {
  const auto kept = kept_training(job, trial, configuration);
  if (!kept) return std::nullopt;
  Json parameters = Json::object();
  for (const auto& [name, value] : training_parameters(std::get<XgboostSpec>(job.trainer), kept->training))
    parameters[name] = typed(value);
  const bool exact = trial.replicas() == 1 && !draws(parameters) && !groups_names(parameters);
  return views::Refit{kept->rounds, {parameters.dump()}, exact};
}

}  // namespace tuneband

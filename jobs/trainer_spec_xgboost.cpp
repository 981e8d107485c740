// The trainer `xgboost` but for its data.
#include "core/time.hpp"
#include "core/units.hpp"
#include "jobs/trainer_spec_parts.hpp"
#include "jobs/xgboost_parameters.hpp"
#include "scheduler/job_spec.hpp"

namespace tuneband {

namespace {

constexpr std::size_t kFixedParametersMax = 200;
constexpr std::size_t kEvalMetricsMax = 50;
constexpr double kIntervalSecondsMax = 86'400;
constexpr NumberRange kShrinkageMaxRange{0.1, 1e6};

// Names are checked later, together with the search space's.
std::vector<std::pair<std::string, std::string>> read_parameters(ObjectReader& trainer) {
  std::vector<std::pair<std::string, std::string>> parameters;
  const Json* json = trainer.find("parameters");
  if (json == nullptr) return parameters;
  const std::string path = trainer.path_to("parameters");
  if (!json->is_object() || json->size() > kFixedParametersMax) {
    trainer.diagnostics().error(path, "expected an object of at most " + std::to_string(kFixedParametersMax) +
                                          " XGBoost parameters, got " + excerpt(*json));
    return parameters;
  }
  for (const auto& [name, value] : json->items()) {
    const auto* known = find_xgboost_parameter(name);
    const bool may_be_json = known != nullptr && known->constrains_features();
    auto text = may_be_json && value.is_structured() ? std::optional(value.dump()) : scalar_text(value);
    if (text && !has_nul(*text)) {
      parameters.emplace_back(name, std::move(*text));
    } else {
      trainer.diagnostics().error(join_path(path, name), "expected a number, a text, true or false, got " + excerpt(value),
                                  name == "eval_metric" ? "trainer.eval_metric takes several" : "");
    }
  }
  return parameters;
}

std::vector<std::string> read_eval_metrics(ObjectReader& trainer) {
  const Json* json = trainer.find("eval_metric");
  if (json == nullptr) return {};
  if (json->is_string()) return {trainer.text_or("eval_metric", "")};
  const std::string path = trainer.path_to("eval_metric");
  std::vector<std::string> metrics;
  if (!json->is_array() || json->empty() || json->size() > kEvalMetricsMax) {
    trainer.diagnostics().error(
        path, "expected a metric or an array of up to " + std::to_string(kEvalMetricsMax) + ", got " + excerpt(*json));
    return metrics;
  }
  for (std::size_t i = 0; i < json->size(); ++i) {
    if ((*json)[i].is_string()) {
      metrics.push_back((*json)[i].get<std::string>());
    } else {
      trainer.diagnostics().error(join_path(path, i), "expected a metric's name, got " + excerpt((*json)[i]));
    }
  }
  return metrics;
}

}  // namespace

XgboostSpec read_xgboost(ObjectReader& reader) {
  XgboostSpec spec;
  spec.data = read_data(reader);
  spec.parameters = read_parameters(reader);
  spec.eval_metrics = read_eval_metrics(reader);
  spec.eval_train = reader.boolean_or("eval_train", false);
  spec.threads = static_cast<int>(reader.integer_or("threads", 1, {1, kTrialThreadsMax}));
  spec.checkpoint_interval_ms =
      ms_of(reader.number_or("checkpoint_interval_seconds", seconds_of(spec.checkpoint_interval_ms), {0, kIntervalSecondsMax}));
  if (reader.word("sharding", {"rows", "files"}) == std::size_t{1}) spec.sharding = Sharding::files;
  if (reader.word("fidelity", {"prefix", "shrinkage"}) == std::size_t{1}) spec.fidelity = Fidelity::shrinkage;
  spec.shrinkage_max = reader.number_or("shrinkage_max", spec.shrinkage_max, kShrinkageMaxRange);
  if (spec.fidelity != Fidelity::shrinkage && reader.has("shrinkage_max")) {
    reader.diagnostics().error(reader.path_to("shrinkage_max"), "is only for the fidelity `shrinkage`");
  }
  spec.adapt_eta = reader.boolean_or("adapt_eta", false);
  if (spec.fidelity != Fidelity::shrinkage && reader.has("adapt_eta")) {
    reader.diagnostics().error(reader.path_to("adapt_eta"), "is only for the fidelity `shrinkage`, whose rungs begin anew");
  }
  if (spec.fidelity != Fidelity::shrinkage && spec.data.early_folds() < spec.data.folds()) {
    reader.diagnostics().error(reader.path_to("data.folds.early"), "is only for the fidelity `shrinkage`, whose rungs begin anew",
                               "set trainer.fidelity to shrinkage, or leave `early` out");
  }
  spec.keep_best = reader.word("keep", {"last", "best", "best_full"}).value_or(0) > 0;
  return spec;
}

}  // namespace tuneband

#include <utility>

#include "scheduler/job_spec.hpp"
#include "workers/ensemble.hpp"
#include "workers/protocol/sync.hpp"

namespace tuneband::workers {

namespace {

KeptTraining read_training(ObjectReader& model, const Json& configuration) {
  KeptTraining kept;
  const Json* value = model.require("training", "an object");
  if (value == nullptr) return kept;
  ObjectReader reader(*value, model.path_to("training"), model.diagnostics());
  for (const char* field : {"rounds", "max_rounds", "kept_rounds"}) reader.require_present(field);
  const auto rounds = [&](const char* field) { return reader.integer_or(field, 1, {1, kResourceMax}); };
  kept.training = {configuration, protocol::read_seed(reader), rounds("rounds"), rounds("max_rounds")};
  kept.rounds = rounds("kept_rounds");
  reader.finish();
  return kept;
}

TrialModel read_model(ObjectReader& reader, bool refit) {
  TrialModel model;
  for (const char* field : {"trial", "value", "file"}) reader.require_present(field);
  if (const Json* configuration = reader.require("configuration", "an object of values by name"))
    model.configuration = *configuration;
  model.trial = static_cast<int>(reader.integer_or("trial", 0, {0, kTrialsMax}));
  model.value = reader.number_or("value", 0);
  model.file = reader.text_or("file", "");
  if (refit) model.training = read_training(reader, model.configuration);
  return model;
}

}  // namespace

Result<EnsembleOrder> read_ensemble_order(std::string_view json) {
  const auto document = parse_json(json);
  if (!document) return document.error();
  Diagnostics faults;
  ObjectReader reader(*document, "", faults);
  EnsembleOrder order;
  if (const Json* job = reader.require("job", "an object")) order.job = *job;
  order.refit = reader.boolean("refit").value_or(false);
  const Json* models = reader.require("models", "an array of models");
  for (std::size_t i = 0; models != nullptr && models->is_array() && i < models->size(); ++i) {
    ObjectReader one((*models)[i], join_path("models", i), faults);
    order.models.push_back(read_model(one, order.refit));
    one.finish();
  }
  order.standard_error = reader.number("standard_error", {.min = 0});
  reader.require_present("output");
  order.output = reader.text_or("output", "");
  reader.finish();
  if (faults.ok() && order.models.empty()) faults.error("models", "are none");
  if (!faults.ok()) return faults.errors().front();
  return order;
}

}  // namespace tuneband::workers

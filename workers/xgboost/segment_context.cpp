#include "workers/xgboost/segment_context.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/json.hpp"
#include "core/text.hpp"
#include "jobs/xgboost_parameters.hpp"
#include "os/host_name.hpp"
#include "workers/machine_fault.hpp"
#include "workers/memory_words.hpp"

namespace tuneband::workers {

namespace {

using protocol::AssignmentOrder;

std::string value_of(const XgboostParameters& parameters, const std::string& name, std::string fallback) {
  for (const auto& [known, value] : parameters) {
    if (known == name) return value;
  }
  return fallback;
}

const XgboostObjective* objective_of(const XgboostParameters& parameters) {
  return find_xgboost_objective(value_of(parameters, "objective", kXgboostObjectiveDefault));
}

std::string describe_configuration(const Json& configuration) {
  std::string text;
  for (const auto& [name, value] : configuration.items())
    text += " " + name + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
  return text.empty() ? " nothing tuned" : text;
}

}  // namespace

SegmentResult failed_segment(const char* exit, const Error& error) {
  if (error.code == kOutOfMemory) {
    return {kExitOutOfMemory, error.message + worker_memory_in_words() +
                                  "; fewer rows, a smaller max_depth or max_bin, or fewer workers need less"};
  }
  return {.exit = exit, .message = describe(error), .waits_for = machine_fault(error)};
}

SegmentResult unreadable_data(const Error& error) {
  SegmentResult result = failed_segment(kExitDataUnreadable, error);
  if (error.code != ErrorCode::not_found) return result;
  result.message += " (on " + os::host_name() + ")";
  result.waits_for = waiting::kReadableData;
  return result;
}

namespace {

// The threads of `shotgun`, the default of linear models, write into one model without waiting for each other.
bool is_racing(const XgboostParameters& parameters) {
  return value_of(parameters, "booster", "") == "gblinear" && value_of(parameters, "updater", "") != "coord_descent";
}

}  // namespace

XgboostParameters parameters_of(const XgboostSpec& spec, const TrialTraining& training, int threads) {
  auto named = training_parameters(spec, training);
  named.emplace("verbosity", "1");
  named.emplace("validate_parameters", "1");
  named["disable_default_eval_metric"] = "1";
  XgboostParameters parameters(named.begin(), named.end());
  parameters.emplace_back("nthread", std::to_string(is_racing(parameters) ? 1 : std::min(spec.threads, threads)));
  return parameters;
}

XgboostParameters parameters_of(const SegmentContext& segment) {
  const AssignmentOrder& order = segment.order;
  auto parameters =
      parameters_of(segment.spec, {order.configuration, order.seed, order.until_resource, order.max_resource}, segment.threads);
  for (const std::string& metric : eval_metrics_for(segment.spec, order.objective_metric))
    parameters.emplace_back("eval_metric", metric);
  return parameters;
}

XgboostTask task_of(const XgboostParameters& parameters) {
  const auto* objective = objective_of(parameters);
  return objective == nullptr ? XgboostTask::regression : objective->task;
}

void add_class_count(XgboostParameters& parameters, const LabelColumn& column, const DataLabels& labels) {
  if (task_of(parameters) != XgboostTask::multiclass || !value_of(parameters, "num_class", "").empty()) return;
  parameters.emplace_back("num_class", std::to_string(class_count(column, labels)));
}

Result<void> suit_labels(XgboostParameters& parameters, const WarmData& data) {
  const auto* objective = objective_of(parameters);
  if (objective == nullptr) return {};  // XGBoost will say so
  const auto classes = parse_number(value_of(parameters, "num_class", "0"));
  constexpr double kIntMax = 1e9;
  const int count = classes && *classes >= 0 && *classes <= kIntMax ? static_cast<int>(*classes) : 0;
  auto checked = check_labels(*objective, count, data.encoding.label, data.labels);
  if (checked) add_class_count(parameters, data.encoding.label, data.labels);
  return checked;
}

std::string describe_segment(const AssignmentOrder& order) {
  std::string text = "trial " + std::to_string(order.trial) + " of job " + order.job_name + ", rounds " +
                     std::to_string(order.from_resource) + " to " + std::to_string(order.until_resource) + ", attempt " +
                     std::to_string(order.attempt);
  if (order.group) text += ", rank " + std::to_string(order.group->rank) + " of " + std::to_string(order.group->world_size);
  return text + ":" + describe_configuration(order.configuration);
}

std::optional<StoredModel> stored_model(const SegmentContext& segment) {
  if (segment.order.from_resource == 0) return std::nullopt;
  std::vector<std::string> notes;
  const AssignmentOrder& order = segment.order;
  auto stored = newest_model(order.trial_dir, order.files_epoch, order.from_resource, notes);
  for (const std::string& note : notes) segment.log.note(note);
  return stored;
}

void note_start(const SegmentContext& segment, std::int64_t resource) {
  if (resource >= segment.order.from_resource) return;
  segment.log.note("there is no checkpoint of " + std::to_string(segment.order.from_resource) + " rounds: goes on from " +
                   std::to_string(resource));
}

}  // namespace tuneband::workers

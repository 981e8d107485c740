// Trials of the trainer `xgboost`: boosting rounds in this process, on data kept warm, resumable bit for bit.
// docs/xgboost-trainer.md.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <optional>

#include "core/json.hpp"
#include "core/text.hpp"
#include "workers/data_cache.hpp"
#include "workers/model_files.hpp"
#include "workers/protocol/trainer_spec.hpp"
#include "workers/protocol/xgboost_parameters.hpp"
#include "workers/trial_runner.hpp"
#include "workers/xgboost_session.hpp"

namespace tuneband::workers {

namespace {

using protocol::AssignmentOrder;
using protocol::XgboostSpec;
using SteadyClock = std::chrono::steady_clock;

constexpr int kNanRoundsMax = 10;                         // in a row; then the trial is given up
constexpr double kInsideExcludedBound = 1e-6;             // how far a tuned value moves off a bound that XGBoost's range excludes
constexpr std::uint64_t kSeedMask = 0x7fffffff;           // of a trial's seed: what XGBoost can take
constexpr std::size_t kDescriptionSizeMax = 1024 * 1024;  // bytes, of the features in a model file
constexpr const char* kFeaturesAttribute = "tuneband_features";

SegmentResult failed(const char* exit, const Error& error) {
  if (error.code == kOutOfMemory) {
    return {kExitOutOfMemory, error.message + "; fewer rows, a smaller max_depth or max_bin, or fewer workers need less"};
  }
  return {exit, describe(error)};
}

std::string parameter_text(const std::string& name, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number_float()) return value.dump();
  double number = value.get<double>();
  if (const auto* known = protocol::find_xgboost_parameter(name);
      known != nullptr && known->kind == protocol::ParameterKind::real) {
    if (known->range.min_excluded && number == known->range.min) number += kInsideExcludedBound;
    if (known->range.max_excluded && number == known->range.max) number -= kInsideExcludedBound;
  }
  return format_number(number);
}

// By documented name, so that "learning_rate" and "eta" are one.
std::string documented_name(const std::string& name) {
  const auto* known = protocol::find_xgboost_parameter(name);
  return known == nullptr ? name : known->name;
}

XgboostParameters parameters_of(const XgboostSpec& spec, const AssignmentOrder& order, int threads) {
  std::map<std::string, std::string> named{{"seed", std::to_string(order.seed & kSeedMask)},
                                           {"tree_method", "hist"},
                                           {"verbosity", "1"},
                                           {"validate_parameters", "1"}};
  for (const auto& [name, value] : spec.parameters) named[documented_name(name)] = value;
  for (const auto& [name, value] : order.configuration.items()) named[documented_name(name)] = parameter_text(name, value);
  named["nthread"] = std::to_string(threads);
  named["seed_per_iteration"] = "1";  // what is random depends on the round, not on the rounds before
  named["disable_default_eval_metric"] = "1";
  XgboostParameters parameters(named.begin(), named.end());
  for (const std::string& metric : protocol::eval_metrics_for(spec, order.objective_metric))
    parameters.emplace_back("eval_metric", metric);
  return parameters;
}

std::string value_of(const XgboostParameters& parameters, const std::string& name, std::string fallback) {
  for (const auto& [known, value] : parameters) {
    if (known == name) return value;
  }
  return fallback;
}

Result<void> check_labels_of(const WarmData& data, const XgboostParameters& parameters) {
  const auto* objective = protocol::find_xgboost_objective(value_of(parameters, "objective", protocol::kXgboostObjectiveDefault));
  if (objective == nullptr) return {};  // XGBoost will say so
  const auto classes = parse_number(value_of(parameters, "num_class", "0"));
  constexpr double kIntMax = 1e9;
  const int count = classes && *classes >= 0 && *classes <= kIntMax ? static_cast<int>(*classes) : 0;
  return check_labels(*objective, count, data.encoding.label, data.train_labels, data.validation_labels);
}

// How a user of the model file makes its features from a table: in the file itself, as a text of JSON.
std::string describe_features(const CsvEncoding& encoding) {
  constexpr const char* kKinds[] = {"numeric", "one_hot", "ordinal"};
  Json features = Json::array();
  for (const FeatureColumn& feature : encoding.features) {
    Json described{{"column", feature.name}, {"kind", kKinds[static_cast<std::size_t>(feature.kind)]}};
    if (feature.kind != ColumnKind::numeric) described["categories"] = feature.categories;
    features.push_back(std::move(described));
  }
  const Json all{
      {"features", std::move(features)},
      {"label", {{"column", encoding.label.name}, {"classes", encoding.label.classes}, {"positive", encoding.label.positive}}}};
  return all.dump(-1, ' ', true, Json::error_handler_t::replace);
}

Result<XgboostBooster> make_booster(const XgboostSpec& spec, const WarmData& data, XgboostParameters parameters) {
  std::vector<EvaluationSet> evaluated{{"validation", &data.validation}};
  if (spec.eval_train) evaluated.push_back({"train", &data.train});
  auto booster = XgboostBooster::create(data.train, std::move(evaluated), std::move(parameters));
  if (!booster || data.encoding.features.empty()) return booster;
  if (auto named = booster->set_feature_names(data.encoding.feature_names()); !named) return named.error();
  const std::string description = describe_features(data.encoding);
  if (description.size() > kDescriptionSizeMax) return booster;
  if (auto described = booster->set_attribute(kFeaturesAttribute, description); !described) return described.error();
  return booster;
}

std::string describe_configuration(const Json& configuration) {
  std::string text;
  for (const auto& [name, value] : configuration.items())
    text += " " + name + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
  return text.empty() ? " nothing tuned" : text;
}

std::string describe_round(std::int64_t resource, const Metrics& metrics) {
  std::string line = "round " + std::to_string(resource);
  for (const auto& [name, value] : metrics) line += "  " + name + " " + format_number(value);
  return line + "\n";
}

std::optional<double> find_metric(const Metrics& metrics, const std::string& name) {
  for (const auto& [known, value] : metrics) {
    if (known == name) return value;
  }
  return std::nullopt;
}

// One trial as far as it is trained, in memory.
struct Training {
  std::int64_t job = 0;
  int trial = 0;
  std::string trial_dir;
  std::int64_t resource = 0;             // rounds done
  std::int64_t stored_resource = 0;      // rounds on disk
  std::shared_ptr<const WarmData> data;  // outlives the booster
  std::optional<XgboostBooster> booster;

  bool goes_on_with(const AssignmentOrder& order, const std::shared_ptr<const WarmData>& its_data) const {
    return booster && job == order.job && trial == order.trial && trial_dir == order.trial_dir &&
           resource == order.from_resource && data == its_data;
  }
};

class Segment {
 public:
  Segment(const AssignmentOrder& order, const XgboostSpec& spec, TrialReporter& reporter, TrialLog& log, Training& training)
      : order_(order), spec_(spec), reporter_(reporter), log_(log), training_(training), stored_at_(SteadyClock::now()) {}

  SegmentResult run() {
    if (training_.resource == order_.until_resource && training_.resource > 0) {  // trained before, but maybe never heard of
      if (auto failure = observe()) return *failure;
    }
    while (training_.resource < order_.until_resource) {
      if (reporter_.should_stop()) return finish(kExitStopped);
      if (auto trained = training_.booster->train_round(static_cast<int>(training_.resource)); !trained) {
        return failed(kExitInvalidParameters, trained.error());
      }
      ++training_.resource;
      if (auto failure = observe()) return *failure;
      if (checkpoint_due()) {
        if (auto stored = store(); !stored) return failed(kExitCrashed, stored.error());
      }
    }
    return finish(kExitCompleted);
  }

 private:
  std::optional<SegmentResult> observe() {
    auto metrics = training_.booster->evaluate(static_cast<int>(training_.resource) - 1);
    if (!metrics) return failed(kExitInvalidParameters, metrics.error());
    log_.write(describe_round(training_.resource, *metrics));
    const auto objective = find_metric(*metrics, order_.objective_metric);
    if (!objective) {
      std::string names;
      for (const auto& [name, value] : *metrics) names += (names.empty() ? "" : ", ") + name;
      return SegmentResult{kExitNoMetric,
                           "XGBoost evaluates " + names + ", and the objective is `" + order_.objective_metric + "`"};
    }
    nan_rounds_ = std::isnan(*objective) ? nan_rounds_ + 1 : 0;
    reporter_.observe(training_.resource, std::move(*metrics));
    if (nan_rounds_ < kNanRoundsMax) return std::nullopt;
    return SegmentResult{kExitNanMetric,
                         "`" + order_.objective_metric + "` was NaN for " + std::to_string(kNanRoundsMax) +
                             " rounds in a row; a smaller eta may help, or the validation data has one class only"};
  }

  bool checkpoint_due() const {
    return training_.resource < order_.until_resource &&
           SteadyClock::now() - stored_at_ >= std::chrono::milliseconds(spec_.checkpoint_interval_ms);
  }

  Result<void> store() {
    if (training_.resource == training_.stored_resource) return {};
    auto model = training_.booster->save();
    if (!model) return model.error();
    if (auto stored = store_model(order_.trial_dir, training_.resource, *model); !stored) return stored;
    training_.stored_resource = training_.resource;
    stored_at_ = SteadyClock::now();
    reporter_.checkpointed(training_.resource);
    return {};
  }

  SegmentResult finish(const char* exit) {
    if (auto stored = store(); !stored) return failed(kExitCrashed, stored.error());
    log_.note(std::string(exit) + " at round " + std::to_string(training_.resource));
    return {exit, ""};
  }

  const AssignmentOrder& order_;
  const XgboostSpec& spec_;
  TrialReporter& reporter_;
  TrialLog& log_;
  Training& training_;
  SteadyClock::time_point stored_at_;
  int nan_rounds_ = 0;
};

class XgboostRunner final : public TrialRunner {
 public:
  explicit XgboostRunner(const RunnerOptions& options) : options_(options) {}

  SegmentResult run(const AssignmentOrder& order, TrialReporter& reporter, TrialLog& log) override {
    SegmentResult result;
    std::vector<std::string> messages;
    try {
      const XgboostMessages listening(messages);
      result = run_segment(order, reporter, log);
    } catch (const std::bad_alloc&) {
      result = failed(kExitOutOfMemory, {kOutOfMemory, "the worker ran out of memory", "", ""});
    }
    for (const std::string& message : messages) log.note("XGBoost: " + message);
    const bool resumable = result.exit == kExitCompleted || result.exit == kExitStopped;
    if (!resumable) {
      log.note(result.exit + ": " + result.message);
      release();
    }
    if (result.exit == kExitOutOfMemory) cache_.clear();
    return result;
  }

  void release() override { training_.reset(); }

  std::vector<std::string> data_keys() const override { return cache_.keys(); }

 private:
  SegmentResult run_segment(const AssignmentOrder& order, TrialReporter& reporter, TrialLog& log) {
    Diagnostics faults;
    const auto trainer = protocol::parse_trainer(order.trainer, "trainer", "/", faults);
    const auto* spec = std::get_if<XgboostSpec>(&trainer);
    if (!faults.ok()) return failed(kExitInvalidParameters, faults.errors().front());
    if (spec == nullptr) return {kExitInvalidParameters, "the trainer is not of the type xgboost"};
    log.note("trial " + std::to_string(order.trial) + " of job " + order.job_name + ", rounds " +
             std::to_string(order.from_resource) + " to " + std::to_string(order.until_resource) + ", attempt " +
             std::to_string(order.attempt) + ":" + describe_configuration(order.configuration));
    const auto found = cache_.get(*spec);
    if (!found) return failed(kExitDataUnreadable, found.error());
    log.note(std::to_string(found->data->train.rows()) + " rows to train on, " + std::to_string(found->data->validation.rows()) +
             " to validate, " + std::to_string(found->data->features) + " features" + (found->warm ? ", in memory" : ", read"));
    auto parameters = parameters_of(*spec, order, std::min(spec->threads, options_.threads));
    if (auto checked = check_labels_of(*found->data, parameters); !checked) return failed(kExitDataUnreadable, checked.error());
    if (!training_ || !training_->goes_on_with(order, found->data)) {
      release();
      if (auto begun = begin(order, *spec, found->data, std::move(parameters), log); !begun)
        return failed(kExitInvalidParameters, begun.error());
    }
    return Segment(order, *spec, reporter, log, *training_).run();
  }

  // From the newest whole checkpoint, else from nothing.
  Result<void> begin(const AssignmentOrder& order, const XgboostSpec& spec, std::shared_ptr<const WarmData> data,
                     XgboostParameters parameters, TrialLog& log) {
    auto booster = make_booster(spec, *data, std::move(parameters));
    if (!booster) return booster.error();
    Training training{order.job, order.trial, order.trial_dir, 0, 0, std::move(data), std::move(*booster)};
    std::vector<std::string> notes;
    const auto stored = order.from_resource > 0 ? newest_model(order.trial_dir, order.from_resource, notes) : std::nullopt;
    for (const std::string& note : notes) log.note(note);
    if (stored) {
      if (auto loaded = training.booster->load(stored->bytes, static_cast<int>(stored->resource)); !loaded) return loaded;
      training.resource = training.stored_resource = stored->resource;
    }
    if (training.resource < order.from_resource) {
      log.note("there is no checkpoint of " + std::to_string(order.from_resource) + " rounds: goes on from " +
               std::to_string(training.resource));
    }
    training_.emplace(std::move(training));
    return {};
  }

  RunnerOptions options_;
  DataCache cache_;
  std::optional<Training> training_;
};

}  // namespace

std::unique_ptr<TrialRunner> make_xgboost_runner(const RunnerOptions& options) {
  return std::make_unique<XgboostRunner>(options);
}

}  // namespace tuneband::workers

#include "workers/xgboost/xgboost_training.hpp"

#include <chrono>
#include <cmath>
#include <map>
#include <span>

#include "core/json.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "jobs/training_parameters.hpp"
#include "jobs/xgboost_parameters.hpp"
#include "scheduler/job_spec.hpp"
#include "workers/data/feature_places.hpp"
#include "workers/data/model_features.hpp"
#include "workers/machine_fault.hpp"
#include "workers/memory_words.hpp"
#include "workers/thread_work.hpp"
#include "workers/xgboost/xgboost_tensors.hpp"

namespace tuneband::workers {

namespace {

using protocol::AssignmentOrder;
using SteadyClock = std::chrono::steady_clock;

constexpr int kNanRoundsMax = 10;  // in a row; then the trial is given up
constexpr auto kTrainedAgainSoon = std::chrono::seconds(1);
constexpr std::size_t kDescriptionSizeMax = 1024 * 1024;         // bytes, of the features in a model file
constexpr const char* kBestAttribute = "tuneband_best";          // of a checkpoint, where the best round is kept: which it is
constexpr const char* kReplicasAttribute = "tuneband_replicas";  // of a model that a group trained: how many ranks it had

std::string value_of(const XgboostParameters& parameters, const std::string& name, std::string fallback) {
  for (const auto& [known, value] : parameters) {
    if (known == name) return value;
  }
  return fallback;
}

const XgboostObjective* objective_of(const XgboostParameters& parameters) {
  return find_xgboost_objective(value_of(parameters, "objective", kXgboostObjectiveDefault));
}

std::vector<EvaluationSet> evaluation_sets(const XgboostSpec& spec, const XgboostMatrix& train, const XgboostMatrix& validation) {
  std::vector<EvaluationSet> sets{{"validation", &validation}};
  if (spec.eval_train) sets.push_back({"train", &train});
  return sets;
}

Result<XgboostBooster> make_booster(const XgboostSpec& spec, const WarmData& data, int world_size, XgboostParameters parameters) {
  std::vector<EvaluationSet> sets;
  if (data.folds.empty()) sets = evaluation_sets(spec, data.train, data.validation);
  auto booster = XgboostBooster::create(data.train, sets, std::move(parameters));
  if (!booster) return booster;
  if (world_size > 1) {
    if (auto kept = booster->set_attribute(kReplicasAttribute, std::to_string(world_size)); !kept) return kept.error();
  }
  const bool named_features = !data.encoding.features.empty();
  if (!named_features && data.encoding.label.classes.empty()) return booster;
  if (named_features) {
    if (auto named = booster->set_feature_names(data.encoding.feature_names()); !named) return named.error();
    if (const std::string types = data.encoding.feature_types(); !types.empty()) {
      if (auto typed = booster->set_feature_types(types); !typed) return typed.error();
    }
  }
  const std::string description = describe_features(data.encoding);
  if (description.size() > kDescriptionSizeMax) return booster;
  if (auto described = booster->set_attribute(kFeaturesAttribute, description); !described) return described.error();
  return booster;
}

Result<std::vector<XgboostBooster>> make_folds(const SegmentContext& segment, const WarmData& data,
                                               const XgboostParameters& parameters) {
  const XgboostSpec& spec = segment.spec;
  const bool all = segment.order.until_resource >= segment.order.max_resource;
  std::vector<XgboostBooster> boosters;
  for (const FoldMatrices& fold :
       std::span(data.folds).first(static_cast<std::size_t>(all ? spec.data.folds() : spec.data.early_folds()))) {
    auto booster = XgboostBooster::create(fold.train, evaluation_sets(spec, fold.train, fold.validation), parameters);
    if (!booster) return booster.error();
    boosters.push_back(std::move(*booster));
  }
  return boosters;
}

// Constraints on features by names of columns become those by places, as XGBoost reads them.
Result<void> place_features(XgboostParameters& parameters, const WarmData& data) {
  for (auto& [name, value] : parameters) {
    const auto* known = find_xgboost_parameter(name);
    if (known == nullptr || !known->constrains_features()) continue;
    auto placed = constraints_by_place(*known, value, data.encoding, data.features);
    if (!placed) return Error{placed.error().code, "`" + name + "` " + placed.error().message, "", placed.error().hint};
    value = std::move(*placed);
  }
  return {};
}

// Of each metric the mean over the folds, which all have the same ones; of the objective also its standard error, the standard
// deviation of the folds' values by the root of their number.
Metrics over_folds(const std::vector<Metrics>& folds, const std::string& objective) {
  const auto count = static_cast<double>(folds.size());
  Metrics metrics;
  for (std::size_t i = 0; i < folds.front().size(); ++i) {
    const std::string& name = folds.front()[i].first;
    double mean = 0;
    for (const Metrics& fold : folds) mean += fold[i].second / count;
    double squares = 0;
    for (const Metrics& fold : folds) squares += (fold[i].second - mean) * (fold[i].second - mean);
    metrics.emplace_back(name, mean);
    if (name == objective) metrics.emplace_back(name + kStandardErrorEnding, std::sqrt(squares / (count - 1) / count));
  }
  return metrics;
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

// {"resource": 7, "metrics": {"validation-auc": 0.79}}, in a checkpoint of this program.
std::string describe_best(const protocol::Observation& best) {
  Json metrics = Json::object();
  for (const auto& [name, value] : best.metrics) metrics[name] = number_to_json(value);
  return Json{{"resource", best.resource}, {"metrics", std::move(metrics)}}.dump();
}

std::optional<protocol::Observation> best_from(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("resource") || !json["resource"].is_number_integer() || !json.contains("metrics") ||
      !json["metrics"].is_object()) {
    return std::nullopt;
  }
  protocol::Observation best{json["resource"].get<std::int64_t>(), {}};
  for (const auto& [name, value] : json["metrics"].items()) {
    if (const auto number = number_from_json(value)) best.metrics.emplace_back(name, *number);
  }
  return best;
}

}  // namespace

SegmentResult failed_segment(const char* exit, const Error& error) {
  if (error.code == kOutOfMemory) {
    return {kExitOutOfMemory, error.message + worker_memory_in_words() +
                                  "; fewer rows, a smaller max_depth or max_bin, or fewer workers need less"};
  }
  return {.exit = exit, .message = describe(error), .waits_for = machine_fault(error)};
}

XgboostParameters parameters_of(const SegmentContext& segment) {
  const AssignmentOrder& order = segment.order;
  auto named = training_parameters(segment.spec, {order.configuration, order.seed, order.until_resource, order.max_resource});
  named.emplace("verbosity", "1");
  named.emplace("validate_parameters", "1");
  named["nthread"] = std::to_string(std::min(segment.spec.threads, segment.threads));
  named["disable_default_eval_metric"] = "1";
  XgboostParameters parameters(named.begin(), named.end());
  for (const std::string& metric : eval_metrics_for(segment.spec, segment.order.objective_metric))
    parameters.emplace_back("eval_metric", metric);
  return parameters;
}

XgboostTask task_of(const XgboostParameters& parameters) {
  const auto* objective = objective_of(parameters);
  return objective == nullptr ? XgboostTask::regression : objective->task;
}

Result<void> check_labels_of(const WarmData& data, const XgboostParameters& parameters) {
  const auto* objective = objective_of(parameters);
  if (objective == nullptr) return {};  // XGBoost will say so
  const auto classes = parse_number(value_of(parameters, "num_class", "0"));
  constexpr double kIntMax = 1e9;
  const int count = classes && *classes >= 0 && *classes <= kIntMax ? static_cast<int>(*classes) : 0;
  return check_labels(*objective, count, data.encoding.label, data.labels);
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

void note_start(const SegmentContext& segment, const XgboostTraining& training) {
  if (training.resource() >= segment.order.from_resource) return;
  segment.log.note("there is no checkpoint of " + std::to_string(segment.order.from_resource) + " rounds: goes on from " +
                   std::to_string(training.resource()));
}

// ---- a segment ---------------------------------------------------------------------------------------------------------------

class XgboostTraining::Segment {
 public:
  Segment(XgboostTraining& training, const SegmentContext& context, Communicator& communicator)
      : training_(training),
        order_(context.order),
        spec_(context.spec),
        reporter_(context.reporter),
        log_(context.log),
        communicator_(communicator),
        stored_resource_(training.resource_ == order_.from_resource ? order_.from_resource : 0),
        stored_at_(SteadyClock::now()) {
    const std::int64_t begin = training.resource_ == 0 ? -1 : training.resource_;
    if (auto recorder = make_recorder(order_, debugger::TrainerKind::xgboost, begin)) {
      const int threads = std::min(spec_.threads, context.threads);
      tensors_.emplace(std::move(recorder), parameters_of(context), training.data_, threads, begin < 0);
    }
    saved_resource_ = training.resource_;
  }

  SegmentResult run() {
    std::optional<SegmentResult> fault;
    const bool again = std::exchange(training_.epoch_, order_.epoch) == order_.epoch;  // after a fault of the machine
    if (!again) reporter_.began(training_.resource_);
    if (again && training_.resource_ < order_.until_resource) fault = store();
    // Trained before, but maybe never heard of.
    if (training_.resource_ == order_.until_resource && training_.resource_ > 0) fault = observe();
    while (true) {
      const Agreement agreed = agree(communicator_, fault, reporter_.should_stop());
      if (agreed.end) return *agreed.end;
      if (training_.resource_ >= order_.until_resource) return finish(kExitCompleted);
      if (agreed.stop) return finish(kExitStopped);
      if (auto broken = compare_ranks()) return *broken;
      if (auto trained = training_.train_round(); !trained) return out_of_step(kExitInvalidParameters, trained.error());
      ++rounds_since_compared_;
      fault = observe();
      if (!fault && checkpoint_due()) fault = store();
    }
  }

 private:
  // In step, now and then: how unevenly the ranks have worked since the last time.
  std::optional<SegmentResult> compare_ranks() {
    if (communicator_.alone() || order_.debug.is_null() || rounds_since_compared_ < kRoundsCompared) return std::nullopt;
    rounds_since_compared_ = 0;
    const std::uint64_t work = work_.take_ns();
    const auto largest = communicator_.allreduce_max({work, ~work});
    if (!largest) return group_broke(communicator_, largest.error());
    if (tensors_) tensors_->ranks_compared({(*largest)[0], ~(*largest)[1]});
    return std::nullopt;
  }

  // Of a step that the ranks take together, and which this one cannot end.
  SegmentResult out_of_step(const char* exit, const Error& error) {
    if (error.code == kGroupBroke) return group_broke(communicator_, error);
    communicator_.out_of_step();
    return failed_segment(exit, error);
  }

  // In step: XGBoost sums a metric up over the ranks. Each has the whole validation data, so that the value is that of the whole;
  // of the training data each has a part.
  //
  // Not on a thread of its own, where it would be no part of the group: XGBoost keeps the predictions of a booster by thread and
  // by address, forgets them on the thread that frees the booster alone, and would take them for those of a later one.
  std::optional<SegmentResult> observe() {
    auto metrics = training_.evaluate(spec_, order_.objective_metric);
    if (!metrics) return out_of_step(kExitInvalidParameters, metrics.error());
    note_best(*metrics);
    auto stopped_by_rule = save_tensors(*metrics);
    if (!communicator_.first()) return stopped_by_rule;
    log_.write(describe_round(training_.resource_, *metrics));
    const auto objective = find_metric(*metrics, order_.objective_metric);
    if (!objective) {
      std::string names;
      for (const auto& [name, value] : *metrics) names += (names.empty() ? "" : ", ") + name;
      return SegmentResult{kExitNoMetric,
                           "XGBoost evaluates " + names + ", and the objective is `" + order_.objective_metric + "`"};
    }
    nan_rounds_ = std::isnan(*objective) ? nan_rounds_ + 1 : 0;
    reporter_.observe(training_.resource_, std::move(*metrics));
    if (stopped_by_rule) return stopped_by_rule;
    if (nan_rounds_ < kNanRoundsMax) return std::nullopt;
    return SegmentResult{kExitNanMetric,
                         "`" + order_.objective_metric + "` was NaN for " + std::to_string(kNanRoundsMax) +
                             " rounds in a row; a smaller eta may help, or the validation data lacks one of the classes"};
  }

  // Of a round that was not saved before this segment.
  std::optional<SegmentResult> save_tensors(const Metrics& metrics) {
    if (!tensors_ || training_.resource_ <= saved_resource_) return std::nullopt;
    return tensors_->round_done(training_.resource_, training_.booster_, metrics, training_.resource_ == order_.until_resource,
                                reporter_, log_);
  }

  bool better(double value, double than) const { return order_.maximize ? value > than : value < than; }

  // On every rank, which all measure the same.
  void note_best(const Metrics& metrics) {
    const auto objective = find_metric(metrics, order_.objective_metric);
    if (!spec_.keep_best || !objective || !std::isfinite(*objective)) return;
    if (training_.best_ && !better(*objective, *find_metric(training_.best_->metrics, order_.objective_metric))) return;
    training_.best_ = protocol::Observation{training_.resource_, metrics};
  }

  // Whether this training's best round is better than what a lower rung had.
  bool betters_lower_rungs() const {
    const double value = *find_metric(training_.best_->metrics, order_.objective_metric);
    return !order_.kept_value || better(value, *order_.kept_value);
  }

  // Where a segment ends, in step: the value of what model.ubj is to be on the test rows, which nothing else has seen. Only the
  // server gets to know it: a log that has it would tempt to choose by it.
  std::optional<SegmentResult> measure_test() {
    const WarmData& data = *training_.data_;
    const bool last = !spec_.keep_best;
    if (data.test.handle() == nullptr || (!last && !(training_.best_ && betters_lower_rungs()))) return std::nullopt;
    const std::vector<EvaluationSet> sets{{"test", &data.test}};
    const auto metrics = last ? training_.booster_.evaluate(static_cast<int>(training_.resource_) - 1, sets)
                              : training_.booster_.evaluate_first(static_cast<int>(training_.best_->resource), sets);
    if (!metrics) return out_of_step(kExitInvalidParameters, metrics.error());
    const std::string& objective = order_.objective_metric;
    const auto value = find_metric(*metrics, "test-" + objective.substr(objective.find('-') + 1));
    if (value && std::isfinite(*value)) {
      test_value_ = value;
    } else {
      log_.note("the value on the test rows is not a finite number");
    }
    return std::nullopt;
  }

  // What model.ubj is to be: the best round of this training; empty when a lower rung had a better one, or it is not kept. All
  // ranks make it: XGBoost makes updaters with it, and those of `approx` draw their seed together.
  Result<std::string> best_model() {
    if (!training_.best_ || !betters_lower_rungs()) return std::string();
    const double value = *find_metric(training_.best_->metrics, order_.objective_metric);
    const auto rounds = static_cast<int>(training_.best_->resource);
    // As other programs know them: best_iteration counts from 0.
    return training_.booster_.save_first(
        rounds, {{kBestAttribute, ""}, {"best_iteration", std::to_string(rounds - 1)}, {"best_score", format_number(value)}});
  }

  std::optional<SegmentResult> keep(const Result<std::string>& best) {
    if (best && best->empty()) return std::nullopt;
    const auto kept = best ? store_kept_model(place(), training_.best_->resource, *best, flush()) : Result<void>(best.error());
    return kept ? std::nullopt : std::optional(failed_segment(kExitCrashed, kept.error()));
  }

  Checkpoint place() const { return {order_.trial_dir, order_.epoch, training_.resource_, reporter_.checkpoint_taken()}; }

  Result<StoredModel> checkpoint() {
    if (training_.best_) {
      if (auto noted = training_.booster_.set_attribute(kBestAttribute, describe_best(*training_.best_)); !noted)
        return noted.error();
    }
    auto model = training_.booster_.save();
    if (!model) return model.error();
    StoredModel stored{training_.resource_, std::move(*model)};
    for (XgboostBooster& fold : training_.folds_) {
      auto of_fold = fold.save();
      if (!of_fold) return of_fold.error();
      stored.folds.push_back(std::move(*of_fold));
    }
    return stored;
  }

  bool checkpoint_due() const {
    return communicator_.first() && training_.resource_ < order_.until_resource &&
           SteadyClock::now() - stored_at_ >= std::chrono::milliseconds(spec_.checkpoint_interval_ms);
  }

  std::optional<SegmentResult> store() {
    if (training_.resource_ == stored_resource_) return std::nullopt;
    auto model = checkpoint();
    if (!model) return failed_segment(kExitCrashed, model.error());
    return store(*model);
  }

  std::optional<SegmentResult> store(const StoredModel& model) {
    if (training_.resource_ == stored_resource_) return std::nullopt;
    if (auto stored = store_model(place(), model.bytes, flush(), model.folds); !stored)
      return failed_segment(kExitCrashed, stored.error());
    stored_resource_ = training_.resource_;
    stored_at_ = SteadyClock::now();
    reporter_.checkpointed(training_.resource_);
    return std::nullopt;
  }

  // To wait for the disk takes longer than a round on a small table does. A power failure may cost what is trained again in a
  // moment, but no more than that, and no model that is a result.
  Flush flush() const {
    const bool result = training_.resource_ == order_.max_resource;
    const bool soon_done_again = training_.began_ && SteadyClock::now() - *training_.began_ < kTrainedAgainSoon;
    return !result && soon_done_again ? Flush::no : Flush::yes;
  }

  SegmentResult finish(const char* exit) {
    // Of one that is ended on its way the model may be its job's best if it was on the way to max_resource.
    const bool full = spec_.keep_best && order_.until_resource == order_.max_resource;
    if (full || training_.resource_ >= order_.until_resource) {
      if (auto fault = measure_test()) return *fault;
    }
    // Before the checkpoint, which is the word that the segment is done.
    if (communicator_.alone()) {
      if (auto fault = keep(best_model())) return *fault;
    }
    if (auto fault = communicator_.alone() ? store() : finish_together()) return *fault;
    log_.note(std::string(exit) + " at round " + std::to_string(training_.resource_) +
              (training_.best_ ? ", the best is round " + std::to_string(training_.best_->resource) : ""));
    return {.exit = exit, .message = "", .kept = training_.best_, .test_value = test_value_};
  }

  // All ranks must have come to the same model, byte for byte: else what was measured is not what the group trained.
  std::optional<SegmentResult> finish_together() {
    auto model = checkpoint();
    std::optional<SegmentResult> fault;
    if (!model) fault = failed_segment(kExitCrashed, model.error());
    if (const Agreement agreed = agree(communicator_, fault); agreed.end) return agreed.end;
    const std::uint64_t fingerprint = stable_hash(model->bytes);
    const auto seen = communicator_.allreduce_max({fingerprint, ~fingerprint});
    if (!seen) return group_broke(communicator_, seen.error());
    if ((*seen)[0] != ~(*seen)[1]) return SegmentResult{kExitCrashed, "the ranks have come to different models"};
    log_.note("the model of all ranks has the fingerprint " + std::to_string(fingerprint));
    const auto best = best_model();
    if (!communicator_.first()) return std::nullopt;
    if (auto unkept = keep(best)) return unkept;
    return store(*model);
  }

  XgboostTraining& training_;
  const AssignmentOrder& order_;
  const XgboostSpec& spec_;
  TrialReporter& reporter_;
  TrialLog& log_;
  Communicator& communicator_;
  std::int64_t stored_resource_;  // rounds that the server can give to another: where it began, or stored since
  SteadyClock::time_point stored_at_;
  std::optional<double> test_value_;
  int nan_rounds_ = 0;
  static constexpr int kRoundsCompared = 10;
  int rounds_since_compared_ = 0;
  ThreadWork work_;
  std::optional<XgboostTensors> tensors_;  // nothing: the job has no debugger
  std::int64_t saved_resource_ = 0;        // where this segment began
};

// ---- a trial -----------------------------------------------------------------------------------------------------------------

Result<XgboostTraining> XgboostTraining::begin(const SegmentContext& segment, std::shared_ptr<const WarmData> data,
                                               int world_size, XgboostParameters parameters) {
  if (auto placed = place_features(parameters, *data); !placed) return placed.error();
  auto folds = make_folds(segment, *data, parameters);
  if (!folds) return folds.error();
  auto booster = make_booster(segment.spec, *data, world_size, std::move(parameters));
  if (!booster) return booster.error();
  XgboostTraining training(std::move(*booster), std::move(data));
  training.folds_ = std::move(*folds);
  training.job_ = segment.order.job;
  training.trial_ = segment.order.trial;
  training.trial_dir_ = segment.order.trial_dir;
  if (segment.spec.fidelity == Fidelity::shrinkage) training.rung_resource_ = segment.order.until_resource;
  training.world_size_ = world_size;
  training.began_ = SteadyClock::now();
  return training;
}

bool XgboostTraining::goes_on_with(const AssignmentOrder& order, const std::shared_ptr<const WarmData>& data) const {
  const bool there = resource_ == order.from_resource || epoch_ == order.epoch;
  return job_ == order.job && trial_ == order.trial && trial_dir_ == order.trial_dir && there &&
         (rung_resource_ == 0 || rung_resource_ == order.until_resource) && data_ == data;
}

Result<void> XgboostTraining::load(const StoredModel& model) {
  if (auto loaded = booster_.load(model.bytes, static_cast<int>(model.resource)); !loaded) return loaded;
  if (model.folds.size() != folds_.size())
    return Error{ErrorCode::invalid_argument, "the checkpoint is not one of " + std::to_string(folds_.size()) + " folds", "", ""};
  for (std::size_t fold = 0; fold < folds_.size(); ++fold) {
    if (auto loaded = folds_[fold].load(model.folds[fold], static_cast<int>(model.resource)); !loaded) return loaded;
  }
  const auto replicas = booster_.attribute(kReplicasAttribute);
  if (!replicas) return replicas.error();
  const std::string expected = world_size_ == 1 ? "" : std::to_string(world_size_);
  if (*replicas != expected) {
    return Error{ErrorCode::invalid_argument,
                 "the checkpoint was trained by " + (replicas->empty() ? "1" : *replicas) + " replicas, and cannot go on with " +
                     std::to_string(world_size_),
                 "", ""};
  }
  const auto best = booster_.attribute(kBestAttribute);
  if (!best) return best.error();
  best_ = best->empty() ? std::nullopt : best_from(*best);
  resource_ = model.resource;
  began_.reset();
  return {};
}

Result<void> XgboostTraining::train_round() {
  const auto round = static_cast<int>(resource_);
  for (XgboostBooster& fold : folds_) {
    if (auto trained = fold.train_round(round); !trained) return trained;
  }
  if (auto trained = booster_.train_round(round); !trained) return trained;
  ++resource_;
  return {};
}

Result<Metrics> XgboostTraining::evaluate(const XgboostSpec& spec, const std::string& objective) {
  const auto round = static_cast<int>(resource_) - 1;
  if (folds_.empty()) return booster_.evaluate(round, evaluation_sets(spec, data_->train, data_->validation));
  std::vector<Metrics> all;
  for (std::size_t fold = 0; fold < folds_.size(); ++fold) {
    const FoldMatrices& rows = data_->folds[fold];
    auto metrics = folds_[fold].evaluate(round, evaluation_sets(spec, rows.train, rows.validation));
    if (!metrics) return metrics.error();
    all.push_back(std::move(*metrics));
  }
  return over_folds(all, objective);
}

SegmentResult XgboostTraining::run(const SegmentContext& segment, Communicator& communicator) {
  return Segment(*this, segment, communicator).run();
}

}  // namespace tuneband::workers

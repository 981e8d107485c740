// What a training does in a segment.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "core/text.hpp"
#include "scheduler/job_spec.hpp"
#include "workers/tensor_recorder.hpp"
#include "workers/thread_work.hpp"
#include "workers/xgboost/bootstrap.hpp"
#include "workers/xgboost/checkpoint_policy.hpp"
#include "workers/xgboost/xgboost_tensors.hpp"
#include "workers/xgboost/xgboost_training.hpp"

namespace tuneband::workers {

namespace {

using protocol::AssignmentOrder;
using SegmentClock = std::chrono::steady_clock;

constexpr int kNanRoundsMax = 10;  // in a row; then the trial is given up
constexpr int kRoundsCompared = 10;

std::string describe_round(std::int64_t resource, const Metrics& metrics) {
  std::string line = "round " + std::to_string(resource);
  for (const auto& [name, value] : metrics) line += "  " + name + " " + format_number(value);
  return line + "\n";
}

}  // namespace

class XgboostTraining::Segment {
 public:
  Segment(XgboostTraining& training, const SegmentContext& context, Communicator& communicator)
      : training_(training),
        order_(context.order),
        spec_(context.spec),
        reporter_(context.reporter),
        log_(context.log),
        communicator_(communicator),
        checkpoints_(order_, std::chrono::milliseconds(spec_.checkpoint_interval_ms), training.resource(), training.began_,
                     SegmentClock::now()),
        saved_resource_(training.resource()) {
    const std::int64_t begin = training.resource() == 0 ? debugger::files::kFromNothing : training.resource();
    if (auto recorder = make_recorder(order_, debugger::TrainerKind::xgboost, begin)) {
      const int threads = std::min(spec_.threads, context.threads);
      tensors_.emplace(std::move(recorder), parameters_of(context), training.boosters_.data(), threads, begin < 0);
    }
  }

  SegmentResult run() {
    std::optional<SegmentResult> fault;
    const bool again = std::exchange(training_.epoch_, order_.epoch) == order_.epoch;  // after a fault of the machine
    if (!again) reporter_.began(training_.resource());
    if (again && training_.resource() < order_.until_resource) fault = store();
    // Trained before, but maybe never heard of.
    if (training_.resource() == order_.until_resource && training_.resource() > 0) fault = observe();
    while (true) {
      const Agreement agreed = agree(communicator_, fault, reporter_.should_stop());
      if (agreed.end) return *agreed.end;
      if (training_.resource() >= order_.until_resource) return finish(kExitCompleted);
      if (agreed.stop) return finish(kExitStopped);
      if (auto broken = compare_ranks()) return *broken;
      if (auto trained = training_.boosters_.train_round(); !trained) return out_of_step(kExitInvalidParameters, trained.error());
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
    auto metrics = training_.boosters_.evaluate(spec_, order_.objective_metric);
    if (!metrics) return out_of_step(kExitInvalidParameters, metrics.error());
    if (spec_.keep_best) training_.best_.take(training_.resource(), *metrics, order_);
    if (auto fault = add_error_of_last(*metrics)) return fault;
    auto stopped_by_rule = save_tensors(*metrics);
    if (!communicator_.first()) return stopped_by_rule;
    log_.write(describe_round(training_.resource(), *metrics));
    const auto objective = find_metric(*metrics, order_.objective_metric);
    if (!objective) {
      std::string names;
      for (const auto& [name, value] : *metrics) names += (names.empty() ? "" : ", ") + name;
      return SegmentResult{kExitNoMetric,
                           "XGBoost evaluates " + names + ", and the objective is `" + order_.objective_metric + "`"};
    }
    nan_rounds_ = std::isnan(*objective) ? nan_rounds_ + 1 : 0;
    reporter_.observe(training_.resource(), std::move(*metrics));
    if (stopped_by_rule) return stopped_by_rule;
    if (nan_rounds_ < kNanRoundsMax) return std::nullopt;
    return SegmentResult{kExitNanMetric,
                         "`" + order_.objective_metric + "` was NaN for " + std::to_string(kNanRoundsMax) +
                             " rounds in a row; a smaller eta may help, or the validation data lacks one of the classes"};
  }

  // Of a round that was not saved before this segment.
  std::optional<SegmentResult> save_tensors(const Metrics& metrics) {
    if (!tensors_ || training_.resource() <= saved_resource_) return std::nullopt;
    return tensors_->round_done(training_.resource(), training_.boosters_.whole(), metrics,
                                training_.resource() == order_.until_resource, reporter_, log_);
  }

  // Of a whole training whose last round counts, beside the objective: its standard error.
  std::optional<SegmentResult> add_error_of_last(Metrics& metrics) {
    const auto value = find_metric(metrics, order_.objective_metric);
    if (spec_.keep_best || training_.resource() != order_.max_resource || !value) return std::nullopt;
    const auto wanted = wants_error_of(*value);
    if (!wanted) return out_of_step(kExitInvalidParameters, wanted.error());
    if (!*wanted) return std::nullopt;
    const auto error = validation_error(training_.boosters_.whole(), training_.resource());
    if (!error) return out_of_step(kExitInvalidParameters, error.error());
    if (*error) metrics.emplace_back(order_.objective_metric + kStandardErrorEnding, **error);
    return std::nullopt;
  }

  // In step: whether a value is of rows to validate on, and may become the job's best. Folds have an error of their own.
  Result<bool> wants_error_of(double value) {
    const bool measured = training_.boosters_.data()->validation.handle() != nullptr;
    if (!measured || !order_.objective_metric.starts_with("validation-")) return false;
    // What was the best when each rank was told may differ.
    const auto wanted = communicator_.allreduce_max({order_.betters(value, order_.best_value) ? 1U : 0U});
    if (!wanted) return wanted.error();
    return wanted->front() != 0;
  }

  Result<std::optional<double>> validation_error(XgboostBooster& model, std::int64_t rounds) {
    const EvaluationSet set{"validation", &training_.boosters_.data()->validation};
    return bootstrap_error(model, static_cast<int>(rounds) - 1, set, order_.objective_metric);
  }

  // Where a segment ends, in step: what else is known of what model.ubj is to be.
  std::optional<SegmentResult> measure_model() {
    if (!spec_.keep_best) return measure_test(training_.boosters_.whole(), training_.resource());
    if (!training_.best_.betters_lower_rungs(order_)) return std::nullopt;
    const auto wanted = wants_error_of(training_.best_.value(order_));
    if (!wanted) return out_of_step(kExitInvalidParameters, wanted.error());
    if (!*wanted && training_.boosters_.data()->test.handle() == nullptr) return std::nullopt;
    const std::int64_t rounds = training_.best_.round();
    auto model = training_.boosters_.whole().first(static_cast<int>(rounds));
    if (!model) return out_of_step(kExitInvalidParameters, model.error());
    if (auto fault = measure_test(*model, rounds)) return fault;
    if (!*wanted) return std::nullopt;
    const auto error = validation_error(*model, rounds);
    if (!error) return out_of_step(kExitInvalidParameters, error.error());
    error_of_best_ = *error;
    return std::nullopt;
  }

  // In step: its value on the test rows, which nothing else has seen. Only the server gets to know it: a log that has it would
  // tempt to choose by it.
  std::optional<SegmentResult> measure_test(XgboostBooster& model, std::int64_t rounds) {
    const WarmData& data = *training_.boosters_.data();
    if (data.test.handle() == nullptr) return std::nullopt;
    const auto metrics = model.evaluate(static_cast<int>(rounds) - 1, {{"test", &data.test}});
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

  // What the segment leaves, and the standard error of its value.
  std::optional<protocol::Observation> kept() const {
    auto kept = training_.best_.observation();
    if (kept && error_of_best_) kept->metrics.emplace_back(order_.objective_metric + kStandardErrorEnding, *error_of_best_);
    return kept;
  }

  // What model.ubj is to be: the best round of this training; empty when a lower rung had a better one, or it is not kept. All
  // ranks make it: XGBoost makes updaters with it, and those of `approx` draw their seed together.
  Result<std::string> best_model() {
    const BestRound& best = training_.best_;
    if (!best.betters_lower_rungs(order_)) return std::string();
    const auto rounds = static_cast<int>(best.round());
    // As other programs know them: best_iteration counts from 0.
    return training_.boosters_.whole().save_first(rounds, {{kBestAttribute, ""},
                                                           {"best_iteration", std::to_string(rounds - 1)},
                                                           {"best_score", format_number(best.value(order_))}});
  }

  std::optional<SegmentResult> keep(const Result<std::string>& best) {
    if (best && best->empty()) return std::nullopt;
    const auto kept = best ? store_kept_model(place(), training_.best_.round(), *best, flush()) : Result<void>(best.error());
    return kept ? std::nullopt : std::optional(failed_segment(kExitCrashed, kept.error()));
  }

  Checkpoint place() const { return {order_.trial_dir, order_.epoch, training_.resource(), reporter_.checkpoint_taken()}; }

  bool checkpoint_due() const { return communicator_.first() && checkpoints_.is_due(training_.resource(), SegmentClock::now()); }

  Flush flush() const { return checkpoints_.flush(training_.resource(), SegmentClock::now()); }

  std::optional<SegmentResult> store() {
    if (!checkpoints_.is_new(training_.resource())) return std::nullopt;
    const auto model = training_.save();
    return model ? store(*model) : failed_segment(kExitCrashed, model.error());
  }

  std::optional<SegmentResult> store(const StoredModel& model) {
    if (!checkpoints_.is_new(model.resource)) return std::nullopt;
    if (auto stored = store_model(place(), model.bytes, flush(), model.folds); !stored)
      return failed_segment(kExitCrashed, stored.error());
    checkpoints_.stored(model.resource, SegmentClock::now());
    reporter_.checkpointed(model.resource);
    return std::nullopt;
  }

  SegmentResult finish(const char* exit) {
    // Of one that is ended on its way the model may be its job's best: a full training's, or one that met the target.
    if (spec_.keep_best || training_.resource() >= order_.until_resource) {
      if (auto fault = measure_model()) return *fault;
    }
    // Before the checkpoint, which is the word that the segment is done.
    if (communicator_.alone()) {
      if (auto fault = keep(best_model())) return *fault;
    }
    if (auto fault = communicator_.alone() ? store() : finish_together()) return *fault;
    log_.note(std::string(exit) + " at round " + std::to_string(training_.resource()) +
              (training_.best_ ? ", the best is round " + std::to_string(training_.best_.round()) : ""));
    return {.exit = exit, .message = "", .kept = kept(), .test_value = test_value_};
  }

  // All ranks must have come to the same model, byte for byte: else what was measured is not what the group trained.
  std::optional<SegmentResult> finish_together() {
    const auto model = training_.save();
    std::optional<SegmentResult> fault;
    if (!model) fault = failed_segment(kExitCrashed, model.error());
    if (const Agreement agreed = agree(communicator_, fault); agreed.end) return agreed.end;
    const std::uint64_t fingerprint = stable_hash(model->bytes);
    const auto same = is_the_same(communicator_, fingerprint);
    if (!same) return group_broke(communicator_, same.error());
    if (!*same) return SegmentResult{kExitCrashed, "the ranks have come to different models"};
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
  CheckpointPolicy checkpoints_;
  std::optional<double> test_value_;
  std::optional<double> error_of_best_;
  int nan_rounds_ = 0;
  int rounds_since_compared_ = 0;
  ThreadWork work_;
  std::optional<XgboostTensors> tensors_;  // nothing: the job has no debugger
  std::int64_t saved_resource_;            // where this segment began
};

SegmentResult XgboostTraining::run(const SegmentContext& segment, Communicator& communicator) {
  return Segment(*this, segment, communicator).run();
}

}  // namespace tuneband::workers

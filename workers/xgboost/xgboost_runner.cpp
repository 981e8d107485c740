// Trials of the trainer `xgboost`: boosting rounds in this process, on data kept warm, resumable bit for bit.
// docs/xgboost-trainer.md.
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "workers/data/data_cache.hpp"
#include "workers/data/data_seal.hpp"
#include "workers/data/load_progress.hpp"
#include "workers/trial_runner.hpp"
#include "workers/xgboost/xgboost_group.hpp"
#include "workers/xgboost/xgboost_training.hpp"

namespace tuneband::workers {

namespace {

using protocol::AssignmentOrder;

class XgboostRunner final : public TrialRunner {
 public:
  explicit XgboostRunner(const RunnerOptions& options)
      : options_(options), cache_(data_bytes_max(options.threads)), group_(options) {}

  SegmentResult run(const AssignmentOrder& order, TrialReporter& reporter, TrialLog& log) override {
    SegmentResult result;
    try {
      result = run_segment(order, reporter, log);
    } catch (const std::bad_alloc&) {
      result = failed_segment(kExitOutOfMemory, {kOutOfMemory, "the worker ran out of memory", "", ""});
    }
    const bool resumable = result.exit == kExitCompleted || result.exit == kExitStopped;
    if (!resumable && result.waits_for.empty()) release();
    if (result.exit == kExitOutOfMemory) {
      cache_.clear();
      group_.end();
    }
    return result;
  }

  void release() override {
    training_.reset();
    group_.release();
  }

  bool may_hang(const AssignmentOrder& order) const override { return order.group.has_value(); }

  std::vector<std::string> data_keys() const override { return cache_.keys(); }

 private:
  SegmentResult run_segment(const AssignmentOrder& order, TrialReporter& reporter, TrialLog& log) {
    Diagnostics faults;
    const auto trainer = parse_trainer(order.trainer, "trainer", faults);
    const auto* spec = std::get_if<XgboostSpec>(&trainer);
    if (!faults.ok()) return failed_segment(kExitInvalidParameters, faults.errors().front());
    if (spec == nullptr) return {kExitInvalidParameters, "the trainer is not of the type xgboost"};
    if (std::exchange(described_epoch_, order.epoch) != order.epoch) log.note(describe_segment(order));
    const SegmentContext segment{order, *spec, reporter, log, options_.threads};
    if (order.group) {
      training_.reset();
      reporter.waits_for_others(true);  // whom it waits for at the longest, the group knows
      return group_.run(segment);
    }
    std::vector<std::string> messages;
    SegmentResult result;
    {
      const XgboostMessages listening(messages);
      result = run_alone(segment);
    }
    for (const std::string& message : messages) log.note("XGBoost: " + message);
    return result;
  }

  SegmentResult run_alone(const SegmentContext& segment) {
    auto parameters = parameters_of(segment);
    const auto found = cache_.get(segment.spec, task_of(parameters), noting_progress(segment.spec.data, segment.log),
                                  [this] { training_.reset(); });  // its data may have to make room
    if (!found) return unreadable_data(found.error());
    segment.log.note(describe_rows(*found->data, segment.folds()) + ", " + std::to_string(found->data->features) + " features" +
                     (found->warm ? ", in memory" : ", read") +
                     (found->data->from_signs ? "; the labels -1 and 1 are trained as 0 and 1" : ""));
    auto checked = require_same_data(segment.order.trial_dir, found->data->checksum);
    if (checked) checked = suit_labels(parameters, *found->data);
    if (!checked) return failed_segment(kExitDataUnreadable, checked.error());
    if (!training_ || !training_->goes_on_with(segment.order, found->data)) {
      release();
      if (auto begun = begin(segment, found->data, std::move(parameters)); !begun)
        return failed_segment(kExitInvalidParameters, begun.error());
    }
    SoleRank alone;
    return training_->run(segment, alone);
  }

  static std::string describe_rows(const WarmData& data, int trained) {
    const auto folds = static_cast<int>(data.folds.size());
    const std::size_t tested = data.test.rows();
    const std::string of_all = trained < folds ? std::to_string(trained) + " of " : "";
    return std::to_string(data.train.rows()) + " rows to train on, " +
           (folds > 0 ? of_all + std::to_string(folds) + " folds of them" : std::to_string(data.validation.rows())) +
           " to validate" + (tested > 0 ? ", " + std::to_string(tested) + " to test" : "");
  }

  // From the newest whole checkpoint, else from nothing.
  Result<void> begin(const SegmentContext& segment, std::shared_ptr<const WarmData> data, XgboostParameters parameters) {
    auto training = XgboostTraining::begin(segment, std::move(data), 1, std::move(parameters));
    if (!training) return training.error();
    if (const auto stored = stored_model(segment)) {
      if (auto loaded = training->load(*stored); !loaded) return loaded;
    }
    note_start(segment, training->resource());
    training_.emplace(std::move(*training));
    return {};
  }

  RunnerOptions options_;
  DataCache cache_;
  std::optional<XgboostTraining> training_;
  std::int64_t described_epoch_ = 0;
  XgboostGroup group_;
};

}  // namespace

std::unique_ptr<TrialRunner> make_xgboost_runner(const RunnerOptions& options) {
  return std::make_unique<XgboostRunner>(options);
}

}  // namespace tuneband::workers

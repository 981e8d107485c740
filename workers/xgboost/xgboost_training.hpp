// A trial of the trainer `xgboost` in memory, and what it does in a segment: round after round, each measured, with checkpoints.
// The same on one worker and on each rank of a group. A cross-validation is as many trainings in step as there are folds, which
// are measured, and one on all rows, whose model the trial has. docs/xgboost-trainer.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "jobs/trainer_spec.hpp"
#include "workers/data/data_cache.hpp"
#include "workers/trial_runner.hpp"
#include "workers/xgboost/communicator.hpp"
#include "workers/xgboost/model_files.hpp"
#include "workers/xgboost/xgboost_session.hpp"

namespace tuneband::workers {

// What a segment works with: the order, and what of it was read already.
struct SegmentContext {
  const protocol::AssignmentOrder& order;
  const XgboostSpec& spec;
  TrialReporter& reporter;
  TrialLog& log;
  int threads = 1;
};

// `exit` with the error's words; out of memory and a broken group are exits of their own.
SegmentResult failed_segment(const char* exit, const Error& error);

// What XGBoost is given: the job's fixed parameters, the configuration, and what the trainer adds.
XgboostParameters parameters_of(const SegmentContext& segment);

// What their objective is for.
XgboostTask task_of(const XgboostParameters& parameters);

Result<void> check_labels_of(const WarmData& data, const XgboostParameters& parameters);

// The first line of a segment in its trial's log.
std::string describe_segment(const protocol::AssignmentOrder& order);

// The newest whole checkpoint that the order can begin with, if it does not begin with nothing.
std::optional<StoredModel> stored_model(const SegmentContext& segment);

class XgboostTraining {
 public:
  // Nothing is trained yet. `data`: its validation matrix is there on rank 0 alone. Errors: XGBoost's.
  static Result<XgboostTraining> begin(const SegmentContext& segment, std::shared_ptr<const WarmData> data, int world_size,
                                       XgboostParameters parameters);

  // Whether this trial stands where the order begins, or in the midst of it.
  bool goes_on_with(const protocol::AssignmentOrder& order, const std::shared_ptr<const WarmData>& data) const;
  // Goes on from a model that was stored. Errors: XGBoost's; it was trained by a group of another size.
  Result<void> load(const StoredModel& model);

  std::int64_t resource() const { return resource_; }

  // In step with the other ranks: trains until the order's until_resource, or until some rank is asked to stop.
  SegmentResult run(const SegmentContext& segment, Communicator& communicator);

 private:
  class Segment;
  XgboostTraining(XgboostBooster booster, std::shared_ptr<const WarmData> data)
      : data_(std::move(data)), booster_(std::move(booster)) {}

  // In step with the other ranks: the next round, in all folds too. Errors: XGBoost's.
  Result<void> train_round();
  // In step: each metric after the last round; of folds their mean, and of the objective its standard error.
  Result<Metrics> evaluate(const XgboostSpec& spec, const std::string& objective);

  std::int64_t job_ = 0;
  int trial_ = 0;
  std::string trial_dir_;
  std::int64_t epoch_ = 0;  // of the last order
  int world_size_ = 1;
  std::optional<protocol::Observation> best_;                   // so far, where the best round is kept
  std::int64_t rung_resource_ = 0;                              // trains for this rung alone; 0: for all of them
  std::int64_t resource_ = 0;                                   // rounds done
  std::optional<std::chrono::steady_clock::time_point> began_;  // with nothing; nothing: with a stored model
  std::shared_ptr<const WarmData> data_;                        // outlives the booster
  XgboostBooster booster_;                                      // of all rows to train on: the trial's model
  std::vector<XgboostBooster> folds_;  // of a cross-validation: on the rows of each fold of the data, as far as booster_
};

// Tells the log when there was no checkpoint as far as the order begins.
void note_start(const SegmentContext& segment, const XgboostTraining& training);

}  // namespace tuneband::workers

// A trial of the trainer `xgboost` in memory, and what it does in a segment: round after round, each measured, with checkpoints.
// The same on one worker and on each rank of a group. docs/xgboost-trainer.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "workers/data/data_cache.hpp"
#include "workers/trial_runner.hpp"
#include "workers/xgboost/best_round.hpp"
#include "workers/xgboost/communicator.hpp"
#include "workers/xgboost/model_files.hpp"
#include "workers/xgboost/segment_context.hpp"
#include "workers/xgboost/trial_boosters.hpp"

namespace tuneband::workers {

class XgboostTraining {
 public:
  // Nothing is trained yet. `data`: of a rank its part of the rows to train on, and all others. Errors: XGBoost's; a constraint
  // on a feature that is not there.
  static Result<XgboostTraining> begin(const SegmentContext& segment, std::shared_ptr<const WarmData> data, int world_size,
                                       XgboostParameters parameters);

  // Whether this trial stands where the order begins, or in the midst of it.
  bool goes_on_with(const protocol::AssignmentOrder& order, const std::shared_ptr<const WarmData>& data) const;
  // Goes on from a model that was stored. Errors: XGBoost's; it was trained by a group of another size.
  Result<void> load(const StoredModel& model);

  std::int64_t resource() const { return boosters_.rounds(); }  // rounds done

  // In step with the other ranks: trains until the order's until_resource, or until some rank is asked to stop.
  SegmentResult run(const SegmentContext& segment, Communicator& communicator);

 private:
  class Segment;
  XgboostTraining(const SegmentContext& segment, TrialBoosters boosters);
  // What load() goes on from.
  Result<StoredModel> save();

  std::int64_t job_ = 0;
  int trial_ = 0;
  std::string trial_dir_;
  std::int64_t epoch_ = 0;                                      // of the last order
  std::int64_t rung_resource_ = 0;                              // trains for this rung alone; 0: for all of them
  std::optional<std::chrono::steady_clock::time_point> began_;  // with nothing; nothing: with a stored model
  TrialBoosters boosters_;
  BestRound best_;  // so far, where it is kept
};

}  // namespace tuneband::workers

// The boosters of one trial, in step: one on all rows to train on, which is the trial's model, and of a cross-validation one on
// the rows of each fold, which are measured in its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/metrics.hpp"
#include "workers/data/data_cache.hpp"
#include "workers/xgboost/model_files.hpp"
#include "workers/xgboost/segment_context.hpp"
#include "workers/xgboost/xgboost_session.hpp"

namespace tuneband::workers {

// Keeps in the model how its features are made from columns, and what its classes are called, where there is something to say.
Result<void> describe_features_in(XgboostBooster& booster, const CsvEncoding& encoding);

// Constraints on features by names of columns become those by places, as XGBoost reads them. `features`: of a row.
Result<void> place_features(XgboostParameters& parameters, const CsvEncoding& encoding, std::size_t features);

class TrialBoosters {
 public:
  // Nothing is trained yet. `data`: of a rank its part of the rows to train on, and all others. Errors: XGBoost's; a constraint
  // on a feature that is not there.
  static Result<TrialBoosters> create(const SegmentContext& segment, std::shared_ptr<const WarmData> data, int world_size,
                                      XgboostParameters parameters);

  std::int64_t rounds() const { return rounds_; }  // done
  XgboostBooster& whole() { return whole_; }       // of all rows to train on
  const std::shared_ptr<const WarmData>& data() const { return data_; }

  // In step with the other ranks: the next round, in all folds too. Errors: XGBoost's.
  Result<void> train_round();
  // In step: each metric after the last round; of folds their mean, and of the objective its standard error.
  Result<Metrics> evaluate(const XgboostSpec& spec, const std::string& objective);

  Result<StoredModel> save();
  // Errors: XGBoost's; the model has other folds, or was trained by a group of another size.
  Result<void> load(const StoredModel& model);

 private:
  TrialBoosters(std::shared_ptr<const WarmData> data, XgboostBooster whole, std::vector<XgboostBooster> folds, int world_size)
      : data_(std::move(data)), whole_(std::move(whole)), folds_(std::move(folds)), world_size_(world_size) {}

  std::shared_ptr<const WarmData> data_;  // outlives the boosters
  XgboostBooster whole_;
  std::vector<XgboostBooster> folds_;
  int world_size_ = 1;
  std::int64_t rounds_ = 0;
};

}  // namespace tuneband::workers

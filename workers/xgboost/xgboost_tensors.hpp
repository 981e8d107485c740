// What the debugger sees of a trial of XGBoost: after a round, the tensors of the collections that want one. docs/debugger.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "os/process_usage.hpp"
#include "workers/data/data_cache.hpp"
#include "workers/tensor_recorder.hpp"
#include "workers/xgboost/xgboost_session.hpp"

namespace tuneband::workers {

// Of the ranks, since they were compared the last time: what the busiest had to do, and the least busy, in nanoseconds.
struct RanksWork {
  std::uint64_t most_ns = 0;
  std::uint64_t least_ns = 0;
};

class XgboostTensors {
 public:
  XgboostTensors(std::unique_ptr<debugger::files::Recorder> recorder, const XgboostParameters& parameters,
                 std::shared_ptr<const WarmData> data, int threads, bool from_nothing);

  // After round number `step`, from 1; `last` of the segment. Nothing that goes wrong here is the training's fault: it is told
  // once, in the log.
  std::optional<SegmentResult> round_done(std::int64_t step, XgboostBooster& booster, const Metrics& metrics, bool last,
                                          TrialReporter& reporter, TrialLog& log);

  // Goes with the resources of the next round that has them.
  void ranks_compared(const RanksWork& work) { ranks_work_ = work; }

 private:
  void add_resources(std::int64_t step);
  void add_imbalance(std::int64_t step);
  void add_predictions(std::int64_t step, XgboostBooster& booster);
  void add_gradients(std::int64_t step, XgboostBooster& booster);
  void add_importance(std::int64_t step, XgboostBooster& booster);
  void add_coefficients(std::int64_t step, const Result<FeatureScores>& coefficients);
  void add_trees(std::int64_t step, XgboostBooster& booster);
  void add_shap(std::int64_t step, XgboostBooster& booster);
  void add_array(std::int64_t step, const std::string& name, const PredictedRows& rows);
  bool wants(const char* collection, std::int64_t step) const { return recorder_->wants(collection, step); }
  // Notes the error, and whether there is a value.
  template <class T>
  bool there(const Result<T>& result) {
    if (!result && trouble_.empty()) trouble_ = describe(result.error());
    return result.has_value();
  }

  std::unique_ptr<debugger::files::Recorder> recorder_;
  std::shared_ptr<const WarmData> data_;
  XgboostParameters parameters_;
  bool is_linear_;
  bool changes_earlier_trees_;
  os::ProcessUsage usage_;
  std::int64_t saved_step_ = 0;
  bool first_step_ = true;
  std::optional<RanksWork> ranks_work_;
  std::string trouble_;
  bool trouble_told_ = false;

  // Contributions add up over trees: those of the rounds until shap_rounds_, of the first rows of the validation data.
  std::optional<XgboostMatrix> shap_rows_;
  std::vector<double> shap_;
  int shap_rounds_ = 0;
};

}  // namespace tuneband::workers

// What a segment of the trainer `xgboost` works with, what of it XGBoost is given, and how it fails.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "jobs/trainer_spec.hpp"
#include "jobs/training_parameters.hpp"
#include "workers/data/data_cache.hpp"
#include "workers/trial_runner.hpp"
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

  // Of the job's folds, the first: those that this segment trains.
  int folds() const { return order.until_resource < order.max_resource ? spec.data.early_folds() : spec.data.folds(); }
};

// `exit` with the error's words, and what of the machine it waits for; out of memory is an exit of its own. A broken group is
// told by group_broke().
SegmentResult failed_segment(const char* exit, const Error& error);
// The job was taken, so its files were there: they may come back, as a mount does, or be there on other machines. What is in them
// does not mend itself.
SegmentResult unreadable_data(const Error& error);

// What XGBoost is given: the job's fixed parameters, the configuration, and what the trainer adds, but for metrics.
XgboostParameters parameters_of(const XgboostSpec& spec, const TrialTraining& training, int threads);
// The same of a segment, with its metrics.
XgboostParameters parameters_of(const SegmentContext& segment);

// What their objective is for.
XgboostTask task_of(const XgboostParameters& parameters);

// Where they train for several classes and do not say how many: as many as the labels tell of.
void add_class_count(XgboostParameters& parameters, const LabelColumn& column, const DataLabels& labels);

// Whether the labels suit the parameters, to which what the labels tell is added.
Result<void> suit_labels(XgboostParameters& parameters, const WarmData& data);

// The first line of a segment in its trial's log.
std::string describe_segment(const protocol::AssignmentOrder& order);

// The newest whole checkpoint that the order can begin with, if it does not begin with nothing.
std::optional<StoredModel> stored_model(const SegmentContext& segment);

// Tells the log when there was no checkpoint as far as the order begins, but of `resource` rounds.
void note_start(const SegmentContext& segment, std::int64_t resource);

}  // namespace tuneband::workers

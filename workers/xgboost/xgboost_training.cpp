#include "workers/xgboost/xgboost_training.hpp"

namespace tuneband::workers {

XgboostTraining::XgboostTraining(const SegmentContext& segment, TrialBoosters boosters)
    : job_(segment.order.job),
      trial_(segment.order.trial),
      trial_dir_(segment.order.trial_dir),
      rung_resource_(segment.spec.fidelity == Fidelity::shrinkage ? segment.order.until_resource : 0),
      began_(std::chrono::steady_clock::now()),
      boosters_(std::move(boosters)) {}

Result<XgboostTraining> XgboostTraining::begin(const SegmentContext& segment, std::shared_ptr<const WarmData> data,
                                               int world_size, XgboostParameters parameters) {
  auto boosters = TrialBoosters::create(segment, std::move(data), world_size, std::move(parameters));
  if (!boosters) return boosters.error();
  return XgboostTraining(segment, std::move(*boosters));
}

bool XgboostTraining::goes_on_with(const protocol::AssignmentOrder& order, const std::shared_ptr<const WarmData>& data) const {
  const bool there = resource() == order.from_resource || epoch_ == order.epoch;
  return job_ == order.job && trial_ == order.trial && trial_dir_ == order.trial_dir && there &&
         (rung_resource_ == 0 || rung_resource_ == order.until_resource) && boosters_.data() == data;
}

Result<StoredModel> XgboostTraining::save() {
  if (best_) {
    if (auto noted = boosters_.whole().set_attribute(kBestAttribute, best_.text()); !noted) return noted.error();
  }
  return boosters_.save();
}

Result<void> XgboostTraining::load(const StoredModel& model) {
  if (auto loaded = boosters_.load(model); !loaded) return loaded;
  const auto best = boosters_.whole().attribute(kBestAttribute);
  if (!best) return best.error();
  best_ = BestRound::from_text(*best);
  began_.reset();
  return {};
}

}  // namespace tuneband::workers

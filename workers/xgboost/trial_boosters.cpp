#include "workers/xgboost/trial_boosters.hpp"

#include <cmath>
#include <span>

#include "core/statistics.hpp"
#include "scheduler/job_spec.hpp"
#include "workers/data/feature_places.hpp"
#include "workers/data/model_features.hpp"

namespace tuneband::workers {

namespace {

constexpr const char* kReplicasAttribute = "tuneband_replicas";  // of a model that a group trained: how many ranks it had

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
  if (auto described = describe_features_in(*booster, data.encoding); !described) return described.error();
  return booster;
}

Result<std::vector<XgboostBooster>> make_folds(const SegmentContext& segment, const WarmData& data,
                                               const XgboostParameters& parameters) {
  const XgboostSpec& spec = segment.spec;
  std::vector<XgboostBooster> boosters;
  for (const FoldMatrices& fold : std::span(data.folds).first(static_cast<std::size_t>(segment.folds()))) {
    auto booster = XgboostBooster::create(fold.train, evaluation_sets(spec, fold.train, fold.validation), parameters);
    if (!booster) return booster.error();
    boosters.push_back(std::move(*booster));
  }
  return boosters;
}

// Of each metric the mean over the folds, which all have the same ones; of the objective also its standard error, the standard
// deviation of the folds' values by the root of their number.
Metrics over_folds(const std::vector<Metrics>& folds, const std::string& objective) {
  Metrics metrics;
  for (std::size_t i = 0; i < folds.front().size(); ++i) {
    const std::string& name = folds.front()[i].first;
    std::vector<double> values;
    for (const Metrics& fold : folds) values.push_back(fold[i].second);
    const auto [mean, deviation] = mean_and_deviation(values);
    metrics.emplace_back(name, mean);
    if (name == objective)
      metrics.emplace_back(name + kStandardErrorEnding, deviation / std::sqrt(static_cast<double>(values.size())));
  }
  return metrics;
}

}  // namespace

Result<void> describe_features_in(XgboostBooster& booster, const CsvEncoding& encoding) {
  const bool named_features = !encoding.features.empty();
  if (!named_features && encoding.label.classes.empty()) return {};
  if (named_features) {
    if (auto named = booster.set_feature_names(encoding.feature_names()); !named) return named;
    if (const std::string types = encoding.feature_types(); !types.empty()) {
      if (auto typed = booster.set_feature_types(types); !typed) return typed;
    }
  }
  const std::string description = describe_features(encoding);
  if (description.size() > kFeaturesSizeMax) return {};
  return booster.set_attribute(kFeaturesAttribute, description);
}

Result<void> place_features(XgboostParameters& parameters, const CsvEncoding& encoding, std::size_t features) {
  for (auto& [name, value] : parameters) {
    const auto* known = find_xgboost_parameter(name);
    if (known == nullptr || !known->constrains_features()) continue;
    auto placed = constraints_by_place(*known, value, encoding, features);
    if (!placed) return Error{placed.error().code, "`" + name + "` " + placed.error().message, "", placed.error().hint};
    value = std::move(*placed);
  }
  return {};
}

Result<TrialBoosters> TrialBoosters::create(const SegmentContext& segment, std::shared_ptr<const WarmData> data, int world_size,
                                            XgboostParameters parameters) {
  if (auto placed = place_features(parameters, data->encoding, data->features); !placed) return placed.error();
  auto folds = make_folds(segment, *data, parameters);
  if (!folds) return folds.error();
  auto whole = make_booster(segment.spec, *data, world_size, std::move(parameters));
  if (!whole) return whole.error();
  return TrialBoosters(std::move(data), std::move(*whole), std::move(*folds), world_size);
}

Result<void> TrialBoosters::train_round() {
  const auto round = static_cast<int>(rounds_);
  for (XgboostBooster& fold : folds_) {
    if (auto trained = fold.train_round(round); !trained) return trained;
  }
  if (auto trained = whole_.train_round(round); !trained) return trained;
  ++rounds_;
  return {};
}

Result<Metrics> TrialBoosters::evaluate(const XgboostSpec& spec, const std::string& objective) {
  const auto round = static_cast<int>(rounds_) - 1;
  if (folds_.empty()) return whole_.evaluate(round, evaluation_sets(spec, data_->train, data_->validation));
  std::vector<Metrics> all;
  for (std::size_t fold = 0; fold < folds_.size(); ++fold) {
    const FoldMatrices& rows = data_->folds[fold];
    auto metrics = folds_[fold].evaluate(round, evaluation_sets(spec, rows.train, rows.validation));
    if (!metrics) return metrics.error();
    all.push_back(std::move(*metrics));
  }
  return over_folds(all, objective);
}

Result<StoredModel> TrialBoosters::save() {
  auto model = whole_.save();
  if (!model) return model.error();
  StoredModel stored{rounds_, std::move(*model)};
  for (XgboostBooster& fold : folds_) {
    auto of_fold = fold.save();
    if (!of_fold) return of_fold.error();
    stored.folds.push_back(std::move(*of_fold));
  }
  return stored;
}

Result<void> TrialBoosters::load(const StoredModel& model) {
  if (auto loaded = whole_.load(model.bytes, static_cast<int>(model.resource)); !loaded) return loaded;
  if (model.folds.size() != folds_.size())
    return Error{ErrorCode::invalid_argument, "the checkpoint is not one of " + std::to_string(folds_.size()) + " folds", "", ""};
  for (std::size_t fold = 0; fold < folds_.size(); ++fold) {
    if (auto loaded = folds_[fold].load(model.folds[fold], static_cast<int>(model.resource)); !loaded) return loaded;
  }
  const auto replicas = whole_.attribute(kReplicasAttribute);
  if (!replicas) return replicas.error();
  const std::string expected = world_size_ == 1 ? "" : std::to_string(world_size_);
  if (*replicas != expected) {
    return Error{ErrorCode::invalid_argument,
                 "the checkpoint was trained by " + (replicas->empty() ? "1" : *replicas) + " replicas, and cannot go on with " +
                     std::to_string(world_size_),
                 "", ""};
  }
  rounds_ = model.resource;
  return {};
}

}  // namespace tuneband::workers

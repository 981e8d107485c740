#include "scheduler/policies/model_share.hpp"

#include <cmath>

namespace tuneband {

namespace {

constexpr const char* kRule =
    "a worker was free, and of all that could be trained next the model expects to learn most for its cost from this one until ";

}  // namespace

ModelShare::ModelShare(const Rungs& rungs, bool restarts) : levels_(rungs.levels()), restarts_(restarts) {}

double ModelShare::share(double trainings) {
  const double squared = trainings * trainings;
  return kShareMax * squared / (squared + kHalfOfIt * kHalfOfIt);
}

bool ModelShare::due() const {
  const auto begun = static_cast<double>(of_model_ + of_ladder_);
  return static_cast<double>(of_model_) < share(begun / static_cast<double>(levels_.back())) * begun;
}

std::int64_t ModelShare::expected(std::int64_t spent_by_the_ladder, std::int64_t max_resource) {
  const double ladder = static_cast<double>(spent_by_the_ladder) / static_cast<double>(max_resource);
  double least = ladder;
  double most = ladder / (1 - kShareMax);
  for (int i = 0; i < 60; ++i) {
    const double middle = (least + most) / 2;
    (middle * (1 - share(middle)) < ladder ? least : most) = middle;
  }
  return std::llround((least - ladder) * static_cast<double>(max_resource));
}

std::vector<TrialAtLevel> ModelShare::waiting(const Rungs& rungs) {
  std::vector<TrialAtLevel> found;
  for (int index = rungs.top() - 1; index >= 0; --index) {
    int asked = 0;
    for (const Standing& standing : rungs.at(index).waiting()) {
      if (!standing.counts() || asked++ == kAskedOfARung) break;
      found.push_back({standing.trial, index});
    }
  }
  return found;
}

void ModelShare::start(int bracket, int sign) {
  if (bracket + 1 == static_cast<int>(levels_.size())) return;
  (bracket == 0 ? of_ladder_ : of_model_) += sign * levels_[static_cast<std::size_t>(bracket)];
}

void ModelShare::go_on(int from, int to, bool models) {
  const std::int64_t spent = restarts_ ? 0 : levels_[static_cast<std::size_t>(from)];
  (models ? of_model_ : of_ladder_) += levels_[static_cast<std::size_t>(to)] - spent;
}

void ModelShare::recall_result(int index, const DecisionRow& decision) {
  Recalled& its = recalled_[static_cast<std::size_t>(decision.trial.number)];
  if (its.stood >= 0) go_on(its.stood, index, its.models);
  its.stood = index;
  its.models = is_its(decision.rule);
}

void ModelShare::recalled() {
  for (const Recalled& its : recalled_) {
    if (its.stood >= 0 && its.heading > its.stood) go_on(its.stood, its.heading, its.models);
  }
  recalled_ = {};
}

bool ModelShare::is_its(const std::string& rule) { return rule.starts_with(kRule); }

std::string ModelShare::rule(std::int64_t until_resource) { return kRule + std::to_string(until_resource); }

}  // namespace tuneband

#include "benchmarks/search/real/joined_models.hpp"

#include <algorithm>
#include <map>

#include "workers/xgboost/ensemble_selection.hpp"
#include "workers/xgboost/margin_judge.hpp"

namespace tuneband {

namespace {

workers::MarginJudge judge_of(const RealDataset& dataset, const workers::Table& rows) {
  XgboostSpec spec;
  spec.parameters = dataset.parameters;
  return checked(workers::MarginJudge::create(rows, workers::judging_parameters(spec, {}, dataset.metric)));
}

// By trial the best of its trainings, the best trials first.
std::vector<const EndedTraining*> candidates_of(const std::vector<EndedTraining>& trainings, double spent, bool maximize,
                                                std::size_t most) {
  const auto better = [maximize](const EndedTraining* a, const EndedTraining* b) {
    return maximize ? a->best.validation > b->best.validation : a->best.validation < b->best.validation;
  };
  std::map<int, const EndedTraining*> by_trial;
  for (const EndedTraining& training : trainings) {
    if (training.spent > spent) break;
    const EndedTraining*& best = by_trial[training.trial];
    if (best == nullptr || better(&training, best)) best = &training;
  }
  std::vector<const EndedTraining*> candidates;
  for (const auto& [trial, best] : by_trial) candidates.push_back(best);
  std::ranges::stable_sort(candidates, better);
  if (candidates.size() > most) candidates.resize(most);
  return candidates;
}

std::vector<float> mean_of(const std::vector<std::vector<float>>& margins, const std::vector<int>& weights) {
  std::vector<float> mean(margins.front().size());
  int all = 0;
  for (const int weight : weights) all += weight;
  for (std::size_t i = 0; i < margins.size(); ++i) {
    for (std::size_t row = 0; row < mean.size(); ++row)
      mean[row] += margins[i][row] * static_cast<float>(weights[i]) / static_cast<float>(all);
  }
  return mean;
}

}  // namespace

Measured joined_value(const RealDataset& dataset, const Matrices& matrices, const std::vector<EndedTraining>& trainings,
                      double spent, const Joining& joining) {
  const bool maximize = dataset.goal == "maximize";
  auto validation = judge_of(dataset, dataset.validation);
  auto test = judge_of(dataset, dataset.test);
  std::vector<std::vector<float>> of_validation;
  const auto candidates = candidates_of(trainings, spent, maximize, joining.candidates);
  for (const EndedTraining* candidate : candidates) of_validation.push_back(candidate->margins->validation);
  const auto picks = checked(workers::select_ensemble(
      of_validation, [&](std::span<const float> margins) { return validation.cost_of(margins, maximize); }));
  std::vector<std::vector<float>> of_test;
  for (std::size_t i = 0; i < picks.size(); ++i) {
    const EndedTraining& candidate = *candidates[i];
    of_test.push_back(joining.refit && picks[i] > 0
                          ? refit_test_margins(dataset, matrices, candidate.training, candidate.best.round)
                          : candidate.margins->test);
  }
  return {0, checked(validation.value_of(mean_of(of_validation, picks))), checked(test.value_of(mean_of(of_test, picks)))};
}

}  // namespace tuneband

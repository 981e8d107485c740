#include "scheduler/policies/model_share.hpp"

#include <algorithm>
#include <cmath>

namespace tuneband {

bool ModelShare::due(const Rungs& rungs) const {
  double ladder = of_new_trials_;
  int goes_on = rungs.at(0).filled();
  for (int index = 0; index < rungs.top(); ++index) {
    goes_on /= rungs.eta();
    ladder += std::min(went_on_[static_cast<std::size_t>(index)], goes_on) * cost(rungs, index, index + 1);
  }
  return begun_ < ladder / (1 - kShare);
}

std::int64_t ModelShare::expected(std::int64_t spent_by_the_ladder) {
  return std::llround(static_cast<double>(spent_by_the_ladder) * kShare / (1 - kShare));
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

void ModelShare::start(const Rungs& rungs, int bracket, int sign) {
  if (bracket == rungs.top()) return;
  const double level = sign * static_cast<double>(rungs.at(bracket).level());
  begun_ += level;
  if (bracket == 0) of_new_trials_ += level;
}

void ModelShare::went_on(const Rungs& rungs, int from, int to) {
  begun_ += cost(rungs, from, to);
  ++went_on_[static_cast<std::size_t>(from)];
}

void ModelShare::recall_result(const Rungs& rungs, int trial, int index) {
  int& stood = recalled_[static_cast<std::size_t>(trial)].stood;
  if (stood >= 0) went_on(rungs, stood, index);
  stood = index;
}

void ModelShare::recalled(const Rungs& rungs) {
  for (const Recalled& trial : recalled_) {
    if (trial.stood >= 0 && trial.heading > trial.stood) went_on(rungs, trial.stood, trial.heading);
  }
  recalled_ = {};
}

double ModelShare::cost(const Rungs& rungs, int from, int to) const {
  return static_cast<double>(rungs.at(to).level() - (restarts_ ? 0 : rungs.at(from).level()));
}

std::string ModelShare::rule(std::int64_t until_resource) {
  return "a worker was free, and of all that could be trained next the model expects to learn most for its cost from this one "
         "until " +
         std::to_string(until_resource);
}

}  // namespace tuneband

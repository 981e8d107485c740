#include "scheduler/bests.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/metrics.hpp"

namespace tuneband {

bool Bests::take(const DecisionRow& result) {
  const int number = result.trial.number;
  if (result.violation > 0) forget_those_of(number);
  if (!std::isfinite(*result.value) || result.violation > 0 || !all_finite(result.more_values)) return false;
  const auto better = [&](const std::optional<BestRow>& best) {
    if (!best || spec_.objective.better(*result.value, best->value)) return true;
    return *result.value == best->value && better_of_equals(result, *best);
  };
  const BestRow best{number, result.resource, *result.value};
  if ((result.resource == spec_.scheduler.max_resource || spec_.rungs_compare()) && better(row_.best)) row_.best = best;
  if (!better(row_.best_anywhere)) return false;
  const bool equal = row_.best_anywhere && row_.best_anywhere->value == *result.value;
  row_.best_anywhere = best;
  return !equal;
}

// It went on, and breaks the constraints now: what met them before is gone.
void Bests::forget_those_of(int trial) {
  const auto is_its = [&](const std::optional<BestRow>& best) { return best && best->trial == trial; };
  if (!is_its(row_.best) && !is_its(row_.best_anywhere)) return;
  row_.best.reset();
  row_.best_anywhere.reset();
  std::map<int, std::vector<const DecisionRow*>> left;
  for (const DecisionRow& result : decisions_) {
    if (!result.value) continue;
    auto& of_trial = left[result.trial.number];
    if (result.violation > 0) {
      of_trial.clear();
    } else {
      of_trial.push_back(&result);
    }
  }
  for (const auto& [number, results] : left) {
    for (const DecisionRow* result : results) take(*result);
  }
}

// With equal values of the first objective the others decide, one after the other, so that the best is dominated by none.
bool Bests::better_of_equals(const DecisionRow& result, const BestRow& best) const {
  const int number = result.trial.number;
  if (spec_.more_objectives.empty()) return number < best.trial;
  const auto same_place = [&](const DecisionRow& one) { return one.trial.number == best.trial && one.resource == best.resource; };
  const auto its = std::find_if(decisions_.begin(), decisions_.end(), same_place);
  for (std::size_t i = 0; i < spec_.more_objectives.size() && its != decisions_.end(); ++i) {
    const double a = result.more_values[i];
    const double b = its->more_values[i];
    if (a != b) return spec_.more_objectives[i].better(a, b);
  }
  return number < best.trial;
}

}  // namespace tuneband

#include "analytics/pace.hpp"

#include <algorithm>
#include <optional>

namespace tuneband {

namespace {

// Where the trial has two stretches of different lengths.
std::optional<double> begin_of(const TrialTimes& trial) {
  if (trial.stretches.empty() || trial.stretches.front().units == trial.stretches.back().units) return std::nullopt;
  const auto [first_units, first_ms] = trial.stretches.front();
  const auto [last_units, last_ms] = trial.stretches.back();
  return static_cast<double>(first_ms * last_units - last_ms * first_units) / static_cast<double>(last_units - first_units);
}

double unit_of(const TrialTimes& trial, double begin_ms) {
  double ms = 0;
  double units = 0;
  for (const Stretch& stretch : trial.stretches) {
    ms += static_cast<double>(stretch.ms) - begin_ms;
    units += static_cast<double>(stretch.units);
  }
  return ms / units;
}

}  // namespace

double ms_to_begin(const std::vector<TrialTimes>& trials) {
  std::vector<double> found;
  for (const bool cold : {false, true}) {
    if (!found.empty()) break;
    for (const TrialTimes& trial : trials) {
      const auto begin = trial.cold == cold ? begin_of(trial) : std::nullopt;
      if (begin) found.push_back(*begin);
    }
  }
  if (found.empty()) return 0;
  std::sort(found.begin(), found.end());
  return std::max(0.0, (found[(found.size() - 1) / 2] + found[found.size() / 2]) / 2);
}

double ms_of_units(const std::vector<TrialTimes>& trials, std::int64_t TrialTimes::*units, double begin_ms, double usual_ms) {
  double all = 0;
  for (const TrialTimes& trial : trials) all += static_cast<double>(trial.*units);
  for (const bool cold : {false, true}) {
    double known = 0;
    double ms = 0;
    for (const TrialTimes& trial : trials) {
      if (trial.cold != cold || trial.stretches.empty() || trial.*units <= 0) continue;
      known += static_cast<double>(trial.*units);
      ms += unit_of(trial, begin_ms) * static_cast<double>(trial.*units);
    }
    if (known > 0) return std::max(0.0, all * ms / known);
  }
  return all * usual_ms;
}

}  // namespace tuneband

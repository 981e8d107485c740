#include "scheduler/scalarisation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/metrics.hpp"
#include "core/random.hpp"

namespace tuneband {

namespace {

constexpr double kAugmentation = 0.05;
constexpr std::size_t kEraMin = 4;
constexpr std::uint64_t kWeightStream = 0x7765696768747321;  // apart from what samplers draw

std::vector<double> values_of(const DecisionRow& decision) {
  std::vector<double> values{*decision.value};
  values.insert(values.end(), decision.more_values.begin(), decision.more_values.end());
  return values;
}

double quantile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

// Uniform over the weights whose sum is 1.
std::vector<double> random_weights(std::uint64_t seed, std::size_t era, std::size_t count) {
  std::vector<double> weights;
  for (std::size_t i = 0; i < count; ++i) {
    weights.push_back(-std::log1p(-to_unit(random_bits(seed ^ kWeightStream, {era, i}))));
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= sum;
  return weights;
}

}  // namespace

std::size_t Scalarisation::era_of(std::size_t decisions) {
  std::size_t era = 0;
  for (std::size_t next = kEraMin; next <= decisions; next = era + std::max(kEraMin, era / 4)) era = next;
  return era;
}

Scalarisation::Scalarisation(const JobSpec& spec, const std::vector<DecisionRow>& decisions) : era_(era_of(decisions.size())) {
  std::vector<std::vector<double>> columns(1 + spec.more_objectives.size());
  for (std::size_t i = 0; i < era_; ++i) {
    if (!decisions[i].value) continue;
    const std::vector<double> values = values_of(decisions[i]);
    if (!all_finite(values)) continue;
    for (std::size_t objective = 0; objective < columns.size(); ++objective) columns[objective].push_back(values[objective]);
  }
  const std::vector<double> weights = random_weights(spec.sampler.seed, era_, columns.size());
  const bool from_median = spec.sampler.type == SamplerType::tpe || spec.sampler.type == SamplerType::bohb;
  for (std::size_t objective = 0; objective < columns.size(); ++objective) {
    const Goal goal = objective == 0 ? spec.objective.goal : spec.more_objectives[objective - 1].goal;
    Axis axis{goal == Goal::maximize, 0, 1, weights[objective]};
    std::vector<double>& column = columns[objective];
    std::sort(column.begin(), column.end());
    if (!column.empty()) {
      axis.origin = from_median ? quantile(column, 0.5) : axis.maximize ? column.back() : column.front();
      double spread = quantile(column, 0.75) - quantile(column, 0.25);
      if (spread == 0) spread = column.back() - column.front();  // most of them are the same
      if (spread > 0 && std::isfinite(spread)) axis.spread = spread;
    }
    axes_.push_back(axis);
  }
}

double Scalarisation::cost(const DecisionRow& decision) const {
  const std::vector<double> values = values_of(decision);
  if (!all_finite(values)) return std::numeric_limits<double>::quiet_NaN();
  double worst = -std::numeric_limits<double>::infinity();
  double sum = 0;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const Axis& axis = axes_[i];
    const double score = axis.weight * (axis.maximize ? -1 : 1) * (values[i] - axis.origin) / axis.spread;
    worst = std::max(worst, score);
    sum += score;
  }
  return worst + kAugmentation * sum;
}

}  // namespace tuneband

#include "workers/xgboost/bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/random.hpp"
#include "core/statistics.hpp"

namespace tuneband::workers {

namespace {

constexpr std::uint64_t kSeed = 0;

// How often each of so many rows is drawn.
std::vector<float> draw_of(std::size_t rows, int number) {
  std::vector<float> times(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    const double place = random_unit(kSeed, {static_cast<std::uint64_t>(number), i});
    times[static_cast<std::size_t>(place * static_cast<double>(rows))] += 1;
  }
  return times;
}

bool all_the_same(const std::vector<double>& values) {
  return std::ranges::all_of(values, [&](double value) { return value == values.front(); });
}

}  // namespace

Result<std::optional<double>> bootstrap_error(XgboostBooster& model, int round, const EvaluationSet& set,
                                              const std::string& metric) {
  OtherWeights weights(*set.matrix);
  std::vector<double> values;
  for (int draw = 0; draw < kBootstrapDraws; ++draw) {
    if (auto set_weights = weights.multiply(draw_of(set.matrix->weighed(), draw)); !set_weights) return set_weights.error();
    const auto metrics = model.evaluate(round, {set});
    if (!metrics) return metrics.error();
    const auto value = find_metric(*metrics, metric);
    if (value && std::isfinite(*value)) values.push_back(*value);
  }
  if (all_the_same(values)) return std::optional<double>();
  return std::optional(mean_and_deviation(values).deviation);
}

}  // namespace tuneband::workers

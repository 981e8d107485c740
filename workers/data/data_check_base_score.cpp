// Whether a model can come from its base_score to the labels.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "core/text.hpp"
#include "workers/data/data_check_parts.hpp"

namespace tuneband::workers {

namespace {

constexpr double kBaseScoreDefault = 0.5;

// The value at place `n` of them in order.
double nth_of(std::vector<float>& values, std::size_t n) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(n);
  std::ranges::nth_element(values, place);
  return *place;
}

// Of the values that base_score may have the one nearest to `value`.
double nearest_base_score(const XgboostSpec& spec, const Json& job, double value) {
  return std::clamp(value, bound_of(spec, job, "base_score", "min", kBaseScoreDefault),
                    bound_of(spec, job, "base_score", "max", kBaseScoreDefault));
}

// The Pseudo-Huber loss of an error e has the derivative e / sqrt(1 + (e / huber_slope)^2) and the second one
// (1 + (e / huber_slope)^2)^(-3/2): of a large error a step of Newton's goes (e / huber_slope)^2 times too far, to where the next
// one changes nothing, or no leaf has enough of second derivatives for a split. The first tree's errors are those of base_score.
// Where the labels lie on both sides of it the steps cancel out, and a few small errors make splits possible: 5 % within 24
// slopes learned, within 81 next to nothing (2,000 rows).
void check_far_errors(const XgboostSpec& spec, const Json& job, const LoadedTables& tables, Diagnostics& diagnostics) {
  constexpr double kFar = 10;
  constexpr double kWide = 40;
  constexpr std::size_t kOneIn = 20;
  constexpr double kHuberSlopeDefault = 1;
  if (std::ranges::count(objectives_of(spec, job), "reg:pseudohubererror") == 0) return;
  std::vector<float> labels = tables.train.labels;
  const double median = nth_of(labels, labels.size() / 2);
  const double slope = bound_of(spec, job, "huber_slope", "max", kHuberSlopeDefault);
  const double nearest = nearest_base_score(spec, job, median);
  const std::string hint = "set trainer.parameters.base_score near the median, and huber_slope to the size of usual errors";
  const std::string so = " for a huber_slope of " + short_number(slope) + ": reg:pseudohubererror would learn next to nothing";
  if (std::abs(median - nearest) > kFar * slope) {
    diagnostics.warning(
        "trainer.data.label",
        "the labels, of a median of " + short_number(median) + ", are far from the base_score of " + short_number(nearest) + so,
        hint);
    return;
  }
  for (float& label : labels) label = static_cast<float>(std::abs(label - nearest));
  const double small = nth_of(labels, labels.size() / kOneIn);
  if (small <= kWide * slope) return;
  diagnostics.warning(
      "trainer.data.label",
      "nearly all labels differ by more than " + short_number(small) + " from the base_score of " + short_number(nearest) + so,
      hint);
}

// How far a round of eta 1 brings a model towards means far above it, in natural logarithms: a step of Newton's where a count's
// likelihood is not stopped by max_delta_step, which XGBoost sets to 0.7. 0: the objective has no such link.
double step_of_log_link(const std::string& objective, const XgboostSpec& spec, const Json& job) {
  constexpr double kMaxDeltaStepDefault = 0.7;
  if (objective == "count:poisson") return bound_of(spec, job, "max_delta_step", "max", kMaxDeltaStepDefault);
  if (objective == "reg:gamma") return 1;
  return objective == "reg:tweedie" ? 2 : 0;  // at its variance power of 1.5
}

// Rounds until the shortest rungs, most of which would go by on the way to the mean: a rung of a ninth of max_resource has an eta
// of 1 at most, and a training its own. Means far below base_score are no matter of rounds: there a step of reg:gamma goes
// base_score / mean too far (a tenth is still learned, of a 25th and of 3 rounds nothing is; 2,000 rows).
void check_far_means(const XgboostSpec& spec, const Json& job, const LoadedTables& tables, Diagnostics& diagnostics) {
  constexpr double kShortRung = 1.0 / 9;
  constexpr double kEtaDefault = 0.3;
  constexpr double kGammaTooFar = 10;
  const Json rounds = member(member(job, "scheduler"), "max_resource");
  const std::vector<float>& labels = tables.train.labels;
  const double mean = std::accumulate(labels.begin(), labels.end(), 0.0) / static_cast<double>(labels.size());
  const double nearest = nearest_base_score(spec, job, mean);
  if (mean <= 0 || nearest <= 0) return;
  for (const std::string& objective : objectives_of(spec, job)) {
    const double step = step_of_log_link(objective, spec, job);
    if (step <= 0) continue;
    const bool too_low = objective == "reg:gamma" && mean * kGammaTooFar < nearest;
    const double share = std::min(kShortRung, bound_of(spec, job, "eta", "max", kEtaDefault));
    const bool too_high = rounds.is_number() && std::log(mean / nearest) > step * share * rounds.get<double>();
    if (!too_low && !too_high) continue;
    diagnostics.warning(
        "trainer.data.label",
        "the labels, of a mean of " + short_number(mean) + ", are far from the base_score of " + short_number(nearest) + ": " +
            objective +
            (too_low ? " would step far beyond them" : " would spend most rounds of the lower rungs on the way to them"),
        "set trainer.parameters.base_score near the mean");
    return;
  }
}

// The squared difference of logarithms has near a label y the second derivative (y + 1)^-2, of which XGBoost makes a millionth
// where it is less. Once those of all rows are too small for two leaves, trees split no more, wherever the model is by then: of
// 3,900 labels of a median of 120 it ended worse than a constant, of a fifth of them it learned.
void check_flat_errors(const XgboostSpec& spec, const Json& job, const LoadedTables& tables, Diagnostics& diagnostics) {
  constexpr double kCurvatureMin = 1e-6;
  if (std::ranges::count(objectives_of(spec, job), "reg:squaredlogerror") == 0) return;
  std::vector<float> labels = tables.train.labels;
  double sum = 0;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const double weight = tables.train.weights.empty() ? 1 : tables.train.weights[row];
    sum += weight * std::max(std::pow(labels[row] + 1.0, -2), kCurvatureMin);
  }
  sum /= share_read(tables);
  const double least = bound_of(spec, job, "min_child_weight", "min", kMinChildWeightDefault);
  if (sum >= 2 * least) return;
  diagnostics.warning("trainer.data.label",
                      "the labels, of a median of " + short_number(nth_of(labels, labels.size() / 2)) +
                          ", are large for reg:squaredlogerror: on the way to them the rows' second derivatives fall to " +
                          short_number(sum) + " in all, and with a min_child_weight of " + short_number(least) +
                          " or more no tree splits any more",
                      "use reg:gamma with a trainer.parameters.base_score near the mean, or give the labels in a larger unit, or "
                      "their logarithms to reg:squarederror");
}

}  // namespace

void check_far_labels(const XgboostSpec& spec, const Json& job, const LoadedTables& tables, Diagnostics& diagnostics) {
  check_far_errors(spec, job, tables, diagnostics);
  check_far_means(spec, job, tables, diagnostics);
  check_flat_errors(spec, job, tables, diagnostics);
}

}  // namespace tuneband::workers

// Rules on any tensor by itself: its reductions at a step, and against those of the steps before.
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <unordered_map>

#include "core/text.hpp"
#include "debugger/rule.hpp"

namespace tuneband::debugger::rules {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class ExplodingTensor final : public Rule {
 public:
  explicit ExplodingTensor(const RuleSpec& spec) : only_nan_(spec.parameter("only_nan") != 0) {}

  std::optional<Finding> invoke_at_step(const StepTensors& step) override {
    judges();
    for (const TensorAtStep& tensor : step.tensors) {
      const Summary& summary = tensor.summary;
      const double bad = summary.nans + (only_nan_ ? 0 : summary.infs);
      if (bad == 0) continue;
      const std::string what = summary.nans > 0 ? "NaN" : "infinite";
      const std::string which = summary.count == 1
                                    ? "is " + what
                                    : "has " + short_number(bad) + " of " + short_number(summary.count) + " elements that are " +
                                          what + (summary.nans > 0 && summary.infs > 0 && !only_nan_ ? " or infinite" : "");
      return found(tensor, step.step,
                   summary.nans > 0           ? std::nan("")
                   : summary.max == kInfinity ? kInfinity
                                              : -kInfinity,
                   0, shown(tensor) + " " + which + " at step " + std::to_string(step.step));
    }
    return std::nullopt;
  }

 private:
  bool only_nan_;
};

class VanishingGradient final : public Rule {
 public:
  explicit VanishingGradient(const RuleSpec& spec) : threshold_(spec.parameter("threshold")) {}

  std::optional<Finding> invoke_at_step(const StepTensors& step) override {
    judges();
    for (const TensorAtStep& tensor : step.tensors) {
      const double mean = tensor.summary.value(Reduction::abs_mean);
      if (!(mean < threshold_)) continue;
      return found(tensor, step.step, mean, threshold_,
                   "the mean of the absolute values of " + shown(tensor) + " is " + short_number(mean) + " at step " +
                       std::to_string(step.step) + ", below " + short_number(threshold_));
    }
    return std::nullopt;
  }

 private:
  double threshold_;
};

class TensorVariance final : public Rule {
 public:
  explicit TensorVariance(const RuleSpec& spec) {
    const auto bound = [&](const std::string& name, double none) {
      const auto given = spec.parameters.find(name);
      return given == spec.parameters.end() ? none : given->second;
    };
    min_ = bound("min_threshold", -kInfinity);
    max_ = bound("max_threshold", kInfinity);
  }

  std::optional<Finding> invoke_at_step(const StepTensors& step) override {
    for (const TensorAtStep& tensor : step.tensors) {
      const double variance = tensor.summary.variance;
      if (tensor.summary.count == 0) continue;
      judges();
      if (variance >= min_ && variance <= max_) continue;
      const double bound = variance < min_ ? min_ : max_;
      return found(tensor, step.step, variance, bound,
                   "the variance of " + shown(tensor) + " is " + short_number(variance) + " at step " +
                       std::to_string(step.step) + (variance < min_ ? ", below " : ", not within ") + short_number(bound));
    }
    return std::nullopt;
  }

 private:
  double min_;
  double max_;
};

class AllZero final : public Rule {
 public:
  explicit AllZero(const RuleSpec& spec) : threshold_(spec.parameter("threshold")) {}

  std::optional<Finding> invoke_at_step(const StepTensors& step) override {
    for (const TensorAtStep& tensor : step.tensors) {
      if (tensor.summary.count == 0) continue;
      judges();
      const double percent = tensor.summary.zeros * kPercent / tensor.summary.count;
      if (percent < threshold_) continue;
      return found(
          tensor, step.step, percent, threshold_,
          short_number(percent) + " % of the elements of " + shown(tensor) + " are zero at step " + std::to_string(step.step));
    }
    return std::nullopt;
  }

 private:
  double threshold_;
};

// The last num_steps saved values are all close to each other (numpy.allclose). Of an array all its reductions are compared,
// which any change of an element moves.
class UnchangedTensor final : public Rule {
 public:
  explicit UnchangedTensor(const RuleSpec& spec)
      : steps_(static_cast<std::size_t>(spec.parameter("num_steps"))),
        rtol_(spec.parameter("rtol")),
        atol_(spec.parameter("atol")),
        equal_nan_(spec.parameter("equal_nan") != 0) {}

  std::optional<Finding> invoke_at_step(const StepTensors& step) override {
    for (const TensorAtStep& tensor : step.tensors) {
      State& state = states_[key_of(tensor)];
      state.same = state.before && close(*state.before, tensor.summary) ? state.same + 1 : 1;
      state.before = tensor.summary;
      if (++state.seen >= steps_) judges();
      if (state.same < steps_) continue;
      return found(tensor, step.step, static_cast<double>(state.same), static_cast<double>(steps_),
                   shown(tensor) + " did not change over " + std::to_string(steps_) + " saved steps, until step " +
                       std::to_string(step.step));
    }
    return std::nullopt;
  }

 private:
  struct State {
    std::optional<Summary> before;
    std::size_t same = 0;
    std::size_t seen = 0;
  };

  bool close(const Summary& a, const Summary& b) const {
    const auto numbers_a = numbers_of(a);
    const auto numbers_b = numbers_of(b);
    for (std::size_t i = 0; i < kSummaryNumbers; ++i) {
      const double x = numbers_a[i];
      const double y = numbers_b[i];
      if (std::isnan(x) && std::isnan(y) && equal_nan_) continue;
      if (x == y) continue;
      if (!(std::abs(x - y) <= atol_ + rtol_ * std::abs(y))) return false;
    }
    return true;
  }

  std::size_t steps_;
  double rtol_;
  double atol_;
  bool equal_nan_;
  std::unordered_map<std::string, State> states_;
};

// How far the weights moved since the step before, in units of their own size: norms of the difference and of the weights.
class WeightUpdateRatio final : public Rule {
 public:
  explicit WeightUpdateRatio(const RuleSpec& spec)
      : large_(spec.parameter("large_threshold")),
        small_(spec.parameter("small_threshold")),
        epsilon_(spec.parameter("epsilon")) {}

  std::optional<Finding> invoke_at_step(const StepTensors& step) override {
    std::optional<Finding> finding;
    for (const TensorAtStep& tensor : step.tensors) {
      if (tensor.raw == nullptr || tensor.raw->size() > kElementsMax) continue;
      std::vector<double> values = values_of(*tensor.raw);
      std::vector<double>& before = before_[key_of(tensor)];
      const bool comparable = before.size() == values.size() && !values.empty();
      if (comparable) judges();
      if (!finding && comparable) finding = judge(tensor, step.step, before, values);
      before = std::move(values);
    }
    return finding;
  }

 private:
  static constexpr std::size_t kElementsMax = 10'000'000;

  std::optional<Finding> judge(const TensorAtStep& tensor, std::int64_t step, const std::vector<double>& before,
                               const std::vector<double>& values) const {
    double moved = 0;
    double size = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      moved += (values[i] - before[i]) * (values[i] - before[i]);
      size += before[i] * before[i];
    }
    if (size == 0 && moved > 0) return std::nullopt;  // it began with zeros: there was no size to move by
    const double ratio = std::sqrt(moved) / (std::sqrt(size) + epsilon_);
    if (ratio >= small_ && ratio <= large_) return std::nullopt;
    const double bound = ratio < small_ ? small_ : large_;
    return found(tensor, step, ratio, bound,
                 shown(tensor) + " moved by " + short_number(ratio) + " of its size at step " + std::to_string(step) +
                     (ratio < small_ ? ", less than " : ", not within ") + short_number(bound));
  }

  double large_;
  double small_;
  double epsilon_;
  std::unordered_map<std::string, std::vector<double>> before_;
};

}  // namespace

std::vector<RuleType> tensor_rules() {
  return {
      {"exploding_tensor",
       {"*"},
       {{"only_nan", 0, 0, 1, false, true}},
       "a tensor",
       "look at the tensors before it by name, from the inputs on: scale inputs to about 1, lower the learning rate, clip "
       "gradients",
       make_rule<ExplodingTensor>},
      {"vanishing_gradient",
       {"gradients"},
       {{"threshold", 1e-7, 0, 1e9}},
       "a tensor",
       "another activation (ReLU), normalisation between layers, residual connections, or a larger learning rate",
       make_rule<VanishingGradient>},
      {"tensor_variance",
       {"weights", "gradients", "outputs"},
       {{"max_threshold", std::nullopt, 0, 1e300}, {"min_threshold", std::nullopt, 0, 1e300}},
       "a tensor with elements",
       "another initialisation, scaled inputs, or another learning rate",
       make_rule<TensorVariance>},
      {"all_zero",
       {"weights", "gradients", "outputs", "predictions", "inputs"},
       {{"threshold", 100, 0, 100}},
       "a tensor with elements",
       "look whether the layer is fed, its activation dead, or the part of the network frozen",
       make_rule<AllZero>},
      {"unchanged_tensor",
       {"weights", "gradients", "outputs", "predictions", "margins", "losses"},
       {{"num_steps", 3, 2, kRuleStepsMax, true},
        {"rtol", 1e-5, 0, 1},
        {"atol", 1e-8, 0, 1e300},
        {"equal_nan", 0, 0, 1, false, true}},
       "`num_steps` saved values of one tensor",
       "look whether the optimiser has these parameters, and whether the learning rate is above zero",
       make_rule<UnchangedTensor>},
      {"weight_update_ratio",
       {"weights"},
       {{"large_threshold", 10, 0, 1e300}, {"small_threshold", 1e-8, 0, 1e300}, {"epsilon", 1e-9, 0, 1}},
       "the whole of a tensor at two saved steps, of at most 10 million elements",
       "a smaller learning rate where it is too large, a larger one where it is too small",
       make_rule<WeightUpdateRatio>},
  };
}

}  // namespace tuneband::debugger::rules

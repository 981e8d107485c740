// Rules on what flows through a neural network. They read whole arrays whose first axis is the batch: each of the other elements
// is a node.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/text.hpp"
#include "debugger/rule.hpp"

namespace tuneband::debugger::rules {

namespace {

// Percent of the nodes whose inputs are within [low, high] in less than `inactivity` percent of the batch. Nothing: no batch.
std::optional<double> inactive_nodes(const ArrayView& array, double low, double high, double inactivity) {
  if (array.shape.empty() || array.size() == 0) return std::nullopt;
  const auto batch = static_cast<std::size_t>(array.shape.front());
  const std::size_t nodes = array.size() / batch;
  const std::vector<double> values = values_of(array);
  std::vector<std::size_t> active(nodes);
  for (std::size_t i = 0; i < values.size(); ++i) active[i % nodes] += values[i] >= low && values[i] <= high ? 1 : 0;
  const auto inactive = std::count_if(active.begin(), active.end(), [&](std::size_t count) {
    return static_cast<double>(count) * kPercent / static_cast<double>(batch) < inactivity;
  });
  return static_cast<double>(inactive) * kPercent / static_cast<double>(nodes);
}

Finding inactive_layer(const TensorAtStep& tensor, std::int64_t step, double percent, double threshold, const char* what) {
  return found(tensor, step, percent, threshold,
               short_number(percent) + " % of the nodes of " + shown(tensor) + " are " + what + " at step " +
                   std::to_string(step) + ", more than " + short_number(threshold) + " %");
}

class SaturatedActivation final : public Rule {
 public:
  explicit SaturatedActivation(const RuleSpec& spec) : spec_(spec) {}

  std::optional<Finding> invoke_at_step(const StepTensors& step) override {
    for (const TensorAtStep& tensor : step.tensors) {
      if (tensor.raw == nullptr) continue;
      const bool tanh = tensor.name.find("tanh_input") != std::string::npos;
      const bool sigmoid = tensor.name.find("sigmoid_input") != std::string::npos;
      if (!tanh && !sigmoid) continue;
      const double low = spec_.parameter(tanh ? "threshold_tanh_min" : "threshold_sigmoid_min");
      const double high = spec_.parameter(tanh ? "threshold_tanh_max" : "threshold_sigmoid_max");
      const auto percent = inactive_nodes(*tensor.raw, low, high, spec_.parameter("threshold_inactivity"));
      if (percent) judges();
      if (percent && *percent > spec_.parameter("threshold_layer"))
        return inactive_layer(tensor, step.step, *percent, spec_.parameter("threshold_layer"), "saturated");
    }
    return std::nullopt;
  }

 private:
  RuleSpec spec_;
};

class DeadRelu final : public Rule {
 public:
  explicit DeadRelu(const RuleSpec& spec)
      : inactivity_(spec.parameter("threshold_inactivity")), layer_(spec.parameter("threshold_layer")) {}

  std::optional<Finding> invoke_at_step(const StepTensors& step) override {
    for (const TensorAtStep& tensor : step.tensors) {
      if (tensor.raw == nullptr || tensor.name.find("relu_output") == std::string::npos) continue;
      const auto percent = inactive_nodes(*tensor.raw, std::numeric_limits<double>::denorm_min(),
                                          std::numeric_limits<double>::infinity(), inactivity_);
      if (percent) judges();
      if (percent && *percent > layer_) return inactive_layer(tensor, step.step, *percent, layer_, "dead");
    }
    return std::nullopt;
  }

 private:
  double inactivity_;
  double layer_;
};

// The value below which a share of `values` lies, as numpy.percentile has it. Reorders them.
double percentile(std::vector<double>& values, double share) {
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::ptrdiff_t>(std::floor(place));
  std::nth_element(values.begin(), values.begin() + below, values.end());
  const double low = values[static_cast<std::size_t>(below)];
  if (below + 1 == static_cast<std::ptrdiff_t>(values.size())) return low;
  const double high = *std::min_element(values.begin() + below + 1, values.end());
  return low + (high - low) * (place - static_cast<double>(below));
}

// In the first steps: variances of the layers' inputs far apart, gradients all alike, or a loss that does not move.
class PoorWeightInitialization final : public Rule {
 public:
  explicit PoorWeightInitialization(const RuleSpec& spec)
      : threshold_(spec.parameter("threshold")),
        range_(spec.parameter("distribution_range")),
        patience_(static_cast<int>(spec.parameter("patience"))),
        steps_(spec.parameter("steps")) {}

  std::optional<Finding> invoke_at_step(const StepTensors& step) override {
    if (counted_.first("", step.step)) ++seen_;
    if (seen_ > steps_) return std::nullopt;
    const TensorAtStep* smallest = nullptr;
    const TensorAtStep* largest = nullptr;
    for (const TensorAtStep& tensor : step.tensors) {
      if (tensor.name.find("relu_input") != std::string::npos && !std::isnan(tensor.summary.variance)) {
        if (smallest == nullptr || tensor.summary.variance < smallest->summary.variance) smallest = &tensor;
        if (largest == nullptr || tensor.summary.variance > largest->summary.variance) largest = &tensor;
      }
      const bool ordered = tensor.raw != nullptr && tensor.raw->size() > 1 && tensor.summary.nans == 0;
      if (tensor.name.starts_with("gradients/") && ordered) {
        if (auto finding = narrow(tensor, step.step)) return finding;
      }
      if (tensor.name.starts_with("losses/") && counted_.first(tensor.name, step.step)) {
        if (auto finding = flat(tensor, step.step)) return finding;
      }
    }
    if (smallest == nullptr || smallest == largest) return std::nullopt;
    judges();
    const double ratio = largest->summary.variance / smallest->summary.variance;
    if (!(ratio > threshold_)) return std::nullopt;
    return found(*largest, step.step, ratio, threshold_,
                 "the variance of " + shown(*largest) + " is " + short_number(ratio) + " times that of " + shown(*smallest) +
                     " at step " + std::to_string(step.step));
  }

 private:
  std::optional<Finding> narrow(const TensorAtStep& tensor, std::int64_t step) {
    judges();
    constexpr double kLow = 0.05;
    constexpr double kHigh = 0.95;
    std::vector<double> values = values_of(*tensor.raw);
    const double range = percentile(values, kHigh) - percentile(values, kLow);
    if (!(range < range_)) return std::nullopt;
    return found(tensor, step, range, range_,
                 "the gradients " + shown(tensor) + " lie within " + short_number(range) + " (5 % to 95 %) at step " +
                     std::to_string(step));
  }

  std::optional<Finding> flat(const TensorAtStep& tensor, std::int64_t step) {
    constexpr double kSame = 1e-5;
    judges();
    Flat& its = losses_[key_of(tensor)];
    const double loss = tensor.summary.value(Reduction::mean);
    its.steps = its.before && std::abs(loss - *its.before) <= kSame * std::abs(*its.before) ? its.steps + 1 : 0;
    its.before = loss;
    if (its.steps < patience_) return std::nullopt;
    return found(tensor, step, its.steps, patience_,
                 shown(tensor) + " did not move for " + std::to_string(its.steps) + " of the first steps");
  }

  struct Flat {
    std::optional<double> before;
    int steps = 0;
  };

  double threshold_;
  double range_;
  int patience_;
  double steps_;
  double seen_ = 0;
  std::map<std::string, Flat> losses_;
  OncePerStep counted_;
};

}  // namespace

std::vector<RuleType> activation_rules() {
  return {
      {"saturated_activation",
       {"inputs", "outputs"},
       {{"threshold_tanh_min", -9.4999, -1e300, 1e300},
        {"threshold_tanh_max", 9.4999, -1e300, 1e300},
        {"threshold_sigmoid_min", -23, -1e300, 1e300},
        {"threshold_sigmoid_max", 16.99999, -1e300, 1e300},
        {"threshold_inactivity", 1, 0, kPercent},
        {"threshold_layer", 50, 0, kPercent}},
       "a tensor whose name says `tanh_input` or `sigmoid_input`, whole",
       "smaller initial weights, normalisation before the activation, or another activation (ReLU)",
       make_rule<SaturatedActivation>},
      {"dead_relu",
       {"outputs"},
       {{"threshold_inactivity", 1, 0, kPercent}, {"threshold_layer", 50, 0, kPercent}},
       "a tensor whose name says `relu_output`, whole",
       "a smaller learning rate, another initialisation, or leaky ReLU",
       make_rule<DeadRelu>},
      {"poor_weight_initialization",
       {"inputs", "gradients", "losses"},
       {{"threshold", 10, 1, 1e300},
        {"distribution_range", 0.001, 0, 1e300},
        {"patience", 5, 1, 1e6, true},
        {"steps", 10, 1, 1e6, true}},
       "in the first `steps` steps a loss, a gradient that is whole, or two tensors whose names say `relu_input`",
       "initialise by the layers' sizes (Glorot, He), and by the activation",
       make_rule<PoorWeightInitialization>,
       true},
  };
}

}  // namespace tuneband::debugger::rules

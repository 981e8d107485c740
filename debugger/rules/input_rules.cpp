// Rules on what a network is fed.
#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "debugger/rule.hpp"

namespace tuneband::debugger::rules {

namespace {

// Images of shape (batch, ...) with the channels on the axis `channel`: the mean of each over `threshold_samples` of them.
class CheckInputImages final : public Rule {
 public:
  explicit CheckInputImages(const RuleSpec& spec)
      : mean_(spec.parameter("threshold_mean")),
        samples_(spec.parameter("threshold_samples")),
        axis_(static_cast<std::size_t>(spec.parameter("channel"))) {}

  std::optional<Finding> invoke_at_step(const StepTensors& step) override {
    for (const TensorAtStep& tensor : step.tensors) {
      constexpr std::size_t kImageDimensions = 4;
      if (tensor.raw == nullptr || tensor.raw->shape.size() != kImageDimensions || tensor.raw->size() == 0) continue;
      State& state = states_[key_of(tensor)];
      add(*tensor.raw, state);
      if (state.images < samples_) continue;
      judges();
      for (std::size_t channel = 0; channel < state.sums.size(); ++channel) {
        const double mean = state.sums[channel] / state.count;
        if (std::abs(mean) <= mean_) continue;
        return found(tensor, step.step, mean, mean_,
                     "channel " + std::to_string(channel) + " of " + shown(tensor) + " has the mean " + short_number(mean) +
                         " over " + short_number(state.images) + " images, further than " + short_number(mean_) + " from 0");
      }
    }
    return std::nullopt;
  }

 private:
  struct State {
    double images = 0;
    double count = 0;  // elements of one channel
    std::vector<double> sums;
  };

  void add(const ArrayView& array, State& state) const {
    const auto channels = static_cast<std::size_t>(array.shape[axis_]);
    std::size_t inner = 1;
    for (std::size_t axis = axis_ + 1; axis < array.shape.size(); ++axis) inner *= static_cast<std::size_t>(array.shape[axis]);
    state.sums.resize(std::max(state.sums.size(), channels));
    const std::vector<double> values = values_of(array);
    for (std::size_t i = 0; i < values.size(); ++i) state.sums[i / inner % channels] += values[i];
    state.images += static_cast<double>(array.shape.front());
    state.count += static_cast<double>(values.size() / channels);
  }

  double mean_;
  double samples_;
  std::size_t axis_;
  std::map<std::string, State> states_;
};

// How much of a batch of token numbers is one token, such as the one that fills sentences up.
class NlpSequenceRatio final : public Rule {
 public:
  explicit NlpSequenceRatio(const RuleSpec& spec)
      : token_(spec.parameter("token_value")), percent_(spec.parameter("token_threshold_percent")) {}

  std::optional<Finding> invoke_at_step(const StepTensors& step) override {
    for (const TensorAtStep& tensor : step.tensors) {
      if (tensor.raw == nullptr || tensor.raw->size() == 0) continue;
      judges();
      double count = 0;
      for_each_element(*tensor.raw, [&](double value) { count += value == token_ ? 1 : 0; });
      const double percent = count * kPercent / static_cast<double>(tensor.raw->size());
      if (percent <= percent_) continue;
      return found(tensor, step.step, percent, percent_,
                   short_number(percent) + " % of " + shown(tensor) + " is the token " + short_number(token_) + " at step " +
                       std::to_string(step.step));
    }
    return std::nullopt;
  }

 private:
  double token_;
  double percent_;
};

}  // namespace

std::vector<RuleType> input_rules() {
  return {
      {"check_input_images",
       {"inputs"},
       {{"threshold_mean", 0.2, 0, 1e300}, {"threshold_samples", 500, 1, 1e9, true}, {"channel", 1, 1, 3, true}},
       "arrays of four axes, whole, of `threshold_samples` images",
       "subtract each channel's mean from the images and divide by its deviation",
       make_rule<CheckInputImages>},
      {"nlp_sequence_ratio",
       {"inputs"},
       {{"token_value", 0, -1e18, 1e18}, {"token_threshold_percent", 50, 0, 100}},
       "a tensor with elements, whole",
       "batches of sentences of like length, so that less is filled up",
       make_rule<NlpSequenceRatio>},
  };
}

}  // namespace tuneband::debugger::rules

// `bound`: a rule that the job itself declares.
#include <algorithm>
#include <map>

#include "debugger/rule.hpp"

namespace tuneband::debugger::rules {

namespace {

class Bound final : public Rule {
 public:
  explicit Bound(const RuleSpec& spec) : declared_(*spec.declared) {
    const auto trial = spec.parameters.find("other_trial");
    if (trial != spec.parameters.end()) other_trial_ = static_cast<int>(trial->second);
  }

  std::optional<Finding> invoke_at_step(const StepTensors& step) override {
    for (const TensorAtStep& tensor : step.tensors) {
      if (declared_.relative_to && declared_.relative_to->found_in(tensor.name)) continue;
      const TensorAtStep* other = compared_with(tensor, step);
      if (other == nullptr && (declared_.relative_to || other_trial_)) continue;
      judges();
      const double unit = other == nullptr ? 1 : other->summary.value(declared_.reduction);
      const double value = tensor.summary.value(declared_.reduction) / unit;
      // NaN is outside of every bound.
      const bool outside = declared_.above ? !(value <= *declared_.above) : !(value >= *declared_.below);
      int& steps = steps_[tensor.name];
      steps = outside ? steps + 1 : 0;
      if (steps < declared_.for_steps) continue;
      return finding(tensor, other, step.step, value);
    }
    return std::nullopt;
  }

 private:
  // Null: with nothing, or it is not there at this step.
  const TensorAtStep* compared_with(const TensorAtStep& tensor, const StepTensors& step) const {
    const auto& among = other_trial_ ? step.other : step.tensors;
    if (!other_trial_ && !declared_.relative_to) return nullptr;
    const auto found = std::find_if(among.begin(), among.end(), [&](const TensorAtStep& one) {
      return other_trial_ ? one.name == tensor.name : declared_.relative_to->found_in(one.name);
    });
    return found == among.end() ? nullptr : &*found;
  }

  Finding finding(const TensorAtStep& tensor, const TensorAtStep* other, std::int64_t step, double value) const {
    const double bound = declared_.above ? *declared_.above : *declared_.below;
    std::string message = std::string(to_string(declared_.reduction)) + " of `" + tensor.name + "`";
    if (other_trial_) {
      message += " by that in trial " + std::to_string(*other_trial_);
    } else if (other != nullptr) {
      message += " by that of `" + other->name + "`";
    }
    message += " is " + short_number(value) + " at step " + std::to_string(step) +
               (declared_.above ? ", not at most " : ", not at least ") + short_number(bound);
    if (declared_.for_steps > 1) message += ", " + std::to_string(declared_.for_steps) + " saved steps in a row";
    return found(tensor.name, step, value, bound, std::move(message));
  }

  Declared declared_;
  std::optional<int> other_trial_;
  std::map<std::string, int> steps_;
};

}  // namespace

std::vector<RuleType> declared_rules() {
  return {{"bound",
           {"*"},
           {},
           "a tensor, and at the same step what it is to be divided by",
           "look at the tensors before it by name",
           make_rule<Bound>}};
}

}  // namespace tuneband::debugger::rules

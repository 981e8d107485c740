// `bound`: a rule that the job itself declares.
#include <algorithm>
#include <map>

#include "core/text.hpp"
#include "debugger/collections.hpp"
#include "debugger/rule.hpp"

namespace tuneband::debugger::rules {

namespace {

class Bound final : public Rule {
 public:
  explicit Bound(const RuleSpec& spec) : declared_(*spec.declared), other_trial_(spec.other_trial()) {}

  std::optional<Finding> invoke_at_step(const StepTensors& step) override {
    for (const TensorAtStep& tensor : step.tensors) {
      if (is_unit(tensor) && declared_.relative_to_mode) units_.insert_or_assign(unit_of(tensor), kept(tensor));
    }
    for (const TensorAtStep& tensor : step.tensors) {
      if (is_unit(tensor)) continue;
      const TensorAtStep* other = compared_with(tensor, step);
      if (other == nullptr && (declared_.relative_to || declared_.relative_to_mode || other_trial_)) continue;
      if (!counted_.first(key_of(tensor), step.step)) continue;
      judges();
      const double unit = other == nullptr ? 1 : other->summary.value(declared_.reduction);
      const double value = tensor.summary.value(declared_.reduction) / unit;
      // NaN is outside of every bound.
      const bool outside = declared_.above ? !(value <= *declared_.above) : !(value >= *declared_.below);
      int& steps = steps_[key_of(tensor)];
      steps = outside ? steps + 1 : 0;
      if (steps < declared_.for_steps) continue;
      return finding(tensor, other, step.step, value);
    }
    return std::nullopt;
  }

 private:
  // Whether it is what others are divided by.
  bool is_unit(const TensorAtStep& tensor) const {
    if (!declared_.relative_to && !declared_.relative_to_mode) return false;
    return (!declared_.relative_to || declared_.relative_to->found_in(tensor.name)) &&
           (!declared_.relative_to_mode || tensor.mode == *declared_.relative_to_mode);
  }

  // Of those that a pattern finds there is one; without, each has its own: what is left of the name is the same.
  std::string unit_of(const TensorAtStep& tensor) const {
    return declared_.relative_to ? "" : std::string(collection_of(tensor.name)) + "/" + named_mode(tensor.name).rest;
  }

  static TensorAtStep kept(const TensorAtStep& tensor) { return {tensor.name, tensor.summary, nullptr, tensor.mode}; }

  // Null: with nothing, or it is not there at this step.
  const TensorAtStep* compared_with(const TensorAtStep& tensor, const StepTensors& step) const {
    if (declared_.relative_to_mode) {
      const auto unit = units_.find(unit_of(tensor));
      return unit == units_.end() ? nullptr : &unit->second;
    }
    const auto& among = other_trial_ ? step.other : step.tensors;
    if (!other_trial_ && !declared_.relative_to) return nullptr;
    const auto found = std::find_if(among.begin(), among.end(), [&](const TensorAtStep& one) {
      return other_trial_ ? one.name == tensor.name && one.mode == tensor.mode : is_unit(one);
    });
    return found == among.end() ? nullptr : &*found;
  }

  Finding finding(const TensorAtStep& tensor, const TensorAtStep* other, std::int64_t step, double value) const {
    const double bound = declared_.above ? *declared_.above : *declared_.below;
    std::string message = std::string(to_string(declared_.reduction)) + " of " + shown(tensor);
    if (other_trial_) {
      message += " by that in trial " + std::to_string(*other_trial_);
    } else if (other != nullptr) {
      message += " by that of " + shown(*other);
    }
    message += " is " + short_number(value) + " at step " + std::to_string(step) +
               (declared_.above ? ", not at most " : ", not at least ") + short_number(bound);
    if (declared_.for_steps > 1) message += ", " + std::to_string(declared_.for_steps) + " saved steps in a row";
    return found(tensor, step, value, bound, std::move(message));
  }

  Declared declared_;
  std::optional<int> other_trial_;
  std::map<std::string, TensorAtStep> units_;  // of relative_to_mode, as they were saved last
  std::map<std::string, int> steps_;
  OncePerStep counted_;
};

}  // namespace

std::vector<RuleType> declared_rules() {
  return {{"bound",
           {"*"},
           {},
           "a tensor, and what it is to be divided by: at the same step (of another trial what that had saved before this one "
           "began), in another mode at the same or an earlier one",
           "look at the tensors before it by name",
           make_rule<Bound>,
           true}};
}

}  // namespace tuneband::debugger::rules

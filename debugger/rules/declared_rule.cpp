// `bound`: a rule that the job itself declares.
#include <map>

#include "debugger/rule.hpp"

namespace tuneband::debugger::rules {

namespace {

class Bound final : public Rule {
 public:
  explicit Bound(const RuleSpec& spec) : declared_(*spec.declared) {}

  std::optional<Finding> invoke_at_step(const StepTensors& step) override {
    const TensorAtStep* other = nullptr;
    for (const TensorAtStep& tensor : step.tensors) {
      if (declared_.relative_to && declared_.relative_to->found_in(tensor.name)) other = other == nullptr ? &tensor : other;
    }
    if (declared_.relative_to && other == nullptr) return std::nullopt;
    for (const TensorAtStep& tensor : step.tensors) {
      if (declared_.relative_to && declared_.relative_to->found_in(tensor.name)) continue;
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
  Finding finding(const TensorAtStep& tensor, const TensorAtStep* other, std::int64_t step, double value) const {
    const double bound = declared_.above ? *declared_.above : *declared_.below;
    std::string message = std::string(to_string(declared_.reduction)) + " of `" + tensor.name + "`";
    if (other != nullptr) message += " by that of `" + other->name + "`";
    message += " is " + short_number(value) + " at step " + std::to_string(step) +
               (declared_.above ? ", not at most " : ", not at least ") + short_number(bound);
    if (declared_.for_steps > 1) message += ", " + std::to_string(declared_.for_steps) + " saved steps in a row";
    return found(tensor.name, step, value, bound, std::move(message));
  }

  Declared declared_;
  std::map<std::string, int> steps_;
};

}  // namespace

std::vector<RuleType> declared_rules() {
  return {{"bound", {"*"}, {}, "look at the tensors before it by name", make_rule<Bound>}};
}

}  // namespace tuneband::debugger::rules

// A rule watches the tensors of one trial, step after step, in order. docs/debugger.md has all of them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "debugger/finding.hpp"
#include "debugger/mode.hpp"
#include "debugger/pattern.hpp"
#include "debugger/reductions.hpp"
#include "debugger/rule_standing.hpp"

namespace tuneband::debugger {

struct TensorAtStep {
  std::string name;  // "gradients/fc1.weight"
  Summary summary;
  const ArrayView* raw = nullptr;  // the whole of it, where it is at hand
  Mode mode = Mode::none;          // told, or said by the name
  bool scalar = false;             // saved as a number; an array may have one element, too
};

// For what is kept of each tensor: its name, and its mode where the name does not say it.
std::string key_of(const TensorAtStep& tensor);
// For messages: "`losses/train`"; "`losses/cross-entropy` (validation)", where the name does not say it.
std::string shown(const TensorAtStep& tensor);

struct StepTensors {
  std::int64_t step = 0;
  std::vector<TensorAtStep> tensors;
  std::vector<TensorAtStep> other{};  // of another trial at this step, for a rule with `other_trial`
};

// Of the job: which way its metrics are better.
struct JudgeContext {
  std::string objective_metric;
  bool maximize = false;
};

// A reduction of the tensors against a bound, for so many saved steps in a row.
struct Declared {
  Reduction reduction = Reduction::mean;
  std::optional<double> above;  // fires when above; or
  std::optional<double> below;
  int for_steps = 1;
  std::optional<Pattern> relative_to;  // divided by the same reduction of the first tensor that this finds, at the same step
  // Divided by that of the tensor of this mode which relative_to finds, or else is named alike (named_mode()), as it was last
  // saved until this step.
  std::optional<Mode> relative_to_mode;
  // With the parameter `other_trial` of its rule: divided by that of the same tensor in that trial, at the same step.
};

struct RuleSpec {
  std::string name;  // unique in its job
  std::string type;
  std::map<std::string, double> parameters;  // defaults filled in; those without a default only where they were given
  std::vector<std::string> collections;      // of these,
  std::vector<Pattern> tensors;              // and what these find; both empty: as the type says
  std::optional<Mode> mode;                  // of those the ones in this mode; nothing: in any
  std::optional<Declared> declared;          // of the type `bound`
  std::vector<std::string> argv;             // of the type `process`
  Action action = Action::note;
  std::string webhook;  // where its finding is told, as parse_webhook() takes it; "": nowhere

  double parameter(const std::string& parameter_name) const { return parameters.at(parameter_name); }
  // The number of the trial of its job that it compares with; nothing: with none.
  std::optional<int> other_trial() const;
};

class Rule {
 public:
  virtual ~Rule() = default;
  // `step` has the tensors that the rule looks at and that were saved at this step, at least one. A step may come in parts, and
  // the next one is a later one: RuleType::joins.
  virtual std::optional<Finding> invoke_at_step(const StepTensors& step) = 0;
  // Nothing has been saved for so long, since `step`.
  virtual std::optional<Finding> invoke_when_quiet(std::int64_t /*step*/, double /*seconds*/) { return std::nullopt; }
  // Whether it has held something against its threshold since the last call: a rule that never saw all that it needs has not.
  bool take_judged() { return std::exchange(judged_, false); }

 protected:
  void judges() { judged_ = true; }

 private:
  bool judged_ = false;
};

struct RuleParameter {
  std::string name;
  std::optional<double> fallback;
  double min;
  double max;
  bool whole = false;
  bool flag = false;  // true or false in the document, 1 or 0 here
};

struct RuleType {
  std::string name;
  std::vector<std::string> collections;  // that it looks at when the job does not say; {"*"}: all
  std::vector<RuleParameter> parameters;
  std::string needs;  // of what it looks at, before it can judge: "values of a metric on ..."
  std::string remedy;
  std::unique_ptr<Rule> (*make)(const RuleSpec& spec, const JudgeContext& context);
  // Holds tensors of one step against each other: with each part of a step it is given the parts before, too, of arrays their
  // reductions alone. It counts a step once. Rules without it are given each part by itself.
  bool joins = false;
};

const std::vector<RuleType>& rule_types();
const RuleType* find_rule_type(std::string_view name);

// Whether more of it is better; nothing: not known. `tensor`: "metrics/validation-auc", "losses/train".
std::optional<bool> higher_is_better(std::string_view tensor, const JudgeContext& context);

// The finding of a rule: name and remedy are the judge's to fill in.
Finding found(std::string tensor, std::int64_t step, double value, double threshold, std::string message);
Finding found(const TensorAtStep& tensor, std::int64_t step, double value, double threshold, std::string message);

namespace rules {

// Tells apart what a step has brought before when more of it comes.
class OncePerStep {
 public:
  // True: `what` was not asked for at this step yet.
  bool first(const std::string& what, std::int64_t step) {
    const auto [known, added] = at_.try_emplace(what, step);
    return std::exchange(known->second, step) != step || added;
  }

 private:
  std::unordered_map<std::string, std::int64_t> at_;
};

inline constexpr double kPercent = 100;
inline constexpr double kRuleStepsMax = 1'000'000;  // of a parameter that counts steps

template <class Which>
std::unique_ptr<Rule> make_rule(const RuleSpec& spec, const JudgeContext& context) {
  if constexpr (std::is_constructible_v<Which, const RuleSpec&, const JudgeContext&>) {
    return std::make_unique<Which>(spec, context);
  } else {
    return std::make_unique<Which>(spec);
  }
}

std::vector<RuleType> tensor_rules();      // rules/tensor_rules.cpp
std::vector<RuleType> loss_rules();        // rules/loss_rules.cpp
std::vector<RuleType> label_rules();       // rules/label_rules.cpp
std::vector<RuleType> tree_rules();        // rules/tree_rules.cpp
std::vector<RuleType> activation_rules();  // rules/activation_rules.cpp
std::vector<RuleType> input_rules();       // rules/input_rules.cpp
std::vector<RuleType> resource_rules();    // rules/resource_rules.cpp
std::vector<RuleType> declared_rules();    // rules/declared_rule.cpp
std::vector<RuleType> run_rules();         // rules/run_rules.cpp
}  // namespace rules

}  // namespace tuneband::debugger

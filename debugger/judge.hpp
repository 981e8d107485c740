// All rules of a job over the tensors of one trial: pure, so that the same tensors give the same findings, live or afterwards.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "debugger/debug_spec.hpp"
#include "debugger/rule_standing.hpp"

namespace tuneband::debugger {

// Whether a rule looks at a tensor.
bool looks_at(const DebugSpec& spec, const RuleSpec& rule, const TensorAtStep& tensor);

class Judge {
 public:
  // What another trial of the job has saved at a step; empty: nothing, or there is none.
  using OtherTrial = std::function<std::vector<TensorAtStep>(int trial, std::int64_t step)>;

  explicit Judge(DebugSpec spec, OtherTrial other = {});

  // What was saved at a step, the steps in ascending order; one may come in parts. Gives each rule's first finding, once.
  std::vector<Finding> step(const StepTensors& tensors);
  // Nothing has been saved for so long since the last step, or the beginning.
  std::vector<Finding> quiet(double seconds);
  // Whether some rule still asks.
  bool asks() const { return !watches_.empty(); }
  // Of all rules, in the order of the job; of one that has found something as it was then.
  const std::vector<RuleStanding>& standings() const { return standings_; }

 private:
  struct Watch {
    RuleSpec spec;
    const RuleType* type;
    std::unique_ptr<Rule> rule;
    std::size_t standing = 0;                // index
    std::optional<std::int64_t> saved_at{};  // the last step that was counted: one may come in parts
    std::optional<std::int64_t> judged_at{};
    std::unordered_map<std::string, bool> looks_at{};  // by tensor's name, once asked
    std::vector<TensorAtStep> so_far{};                // of the step, where the rule joins them
  };

  bool looks(Watch& watch, const TensorAtStep& tensor) const;
  static void join_parts(Watch& watch, StepTensors& step);
  // Takes the rules away that find something by `ask`.
  template <class Ask>
  std::vector<Finding> ask_each(const Ask& ask);

  DebugSpec spec_;
  OtherTrial other_;
  std::int64_t last_step_ = 0;
  std::vector<Watch> watches_;
  std::vector<RuleStanding> standings_;
};

}  // namespace tuneband::debugger

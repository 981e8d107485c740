// All rules of a job over the tensors of one trial: pure, so that the same tensors give the same findings, live or afterwards.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "debugger/debug_spec.hpp"

namespace tuneband::debugger {

class Judge {
 public:
  explicit Judge(DebugSpec spec);

  // What was saved at a step, the steps in ascending order. Gives each rule's first finding, once.
  std::vector<Finding> step(const StepTensors& tensors);
  // Whether some rule still asks.
  bool asks() const { return !watches_.empty(); }

 private:
  struct Watch {
    RuleSpec spec;
    const RuleType* type;
    std::unique_ptr<Rule> rule;
    std::unordered_map<std::string, bool> looks_at{};  // by tensor, once asked
  };

  bool looks_at(Watch& watch, const std::string& tensor) const;

  DebugSpec spec_;
  std::vector<Watch> watches_;
};

}  // namespace tuneband::debugger

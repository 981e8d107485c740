// Drives one rule over tensors that a test writes down.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "debugger/judge.hpp"
#include "debugger/mode.hpp"

namespace tuneband::debugger::test {

class RuleDriver {
 public:
  // `rule`: as in a job document. `collections`: of the job; a command's default ones where there are none.
  explicit RuleDriver(const std::string& rule, bool maximize = false);

  // Values of this step, until judge().
  RuleDriver& scalar(const std::string& name, double value, Mode told = Mode::none);
  RuleDriver& array(const std::string& name, std::vector<double> values, std::vector<std::int64_t> shape = {},
                    Mode told = Mode::none);
  // "" or the message of what is found.
  std::string judge(std::int64_t step);
  const Finding& finding() const { return findings_.back(); }
  const RuleStanding& standing() const { return judge_.standings().front(); }

  // One scalar, each value at the next multiple of `every`: the step at which the rule fires; -1: never.
  std::int64_t fires_at(const std::string& name, const std::vector<double>& values, std::int64_t every = 1);

 private:
  Judge judge_;
  std::vector<TensorAtStep> tensors_;
  std::deque<std::vector<double>> kept_;
  std::deque<ArrayView> views_;
  std::vector<Finding> findings_;
};

DebugSpec parsed(const std::string& json, TrainerKind trainer = TrainerKind::command, std::int64_t max_resource = 100);
// "path: message" of each fault.
std::vector<std::string> faults(const std::string& json, TrainerKind trainer = TrainerKind::xgboost);

}  // namespace tuneband::debugger::test

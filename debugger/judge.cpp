#include "debugger/judge.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/check.hpp"
namespace tuneband::debugger {

Judge::Judge(DebugSpec spec) : spec_(std::move(spec)) {
  for (const RuleSpec& rule : spec_.rules) {
    const RuleType* type = find_rule_type(rule.type);
    TUNEBAND_CHECK(type != nullptr, "a parsed rule has a known type");
    watches_.push_back({rule, type, type->make(rule, spec_.judge)});
  }
}

bool Judge::looks_at(Watch& watch, const std::string& tensor) const {
  const auto known = watch.looks_at.find(tensor);
  if (known != watch.looks_at.end()) return known->second;
  const RuleSpec& rule = watch.spec;
  const auto in = [&](const std::string& name) {
    const Collection* collection = spec_.collection(name);
    return name == "*" || (collection == nullptr ? collection_of(tensor) == name : collection->holds(tensor));
  };
  const auto by = [&](const Pattern& pattern) { return pattern.found_in(tensor); };
  const bool said = !rule.collections.empty() || !rule.tensors.empty();
  const auto& collections = said ? rule.collections : watch.type->collections;
  const bool looks = std::any_of(collections.begin(), collections.end(), in) ||
                     std::any_of(rule.tensors.begin(), rule.tensors.end(), by) ||
                     (rule.declared && rule.declared->relative_to && by(*rule.declared->relative_to));
  return watch.looks_at.emplace(tensor, looks).first->second;
}

std::vector<Finding> Judge::step(const StepTensors& tensors) {
  std::vector<Finding> findings;
  std::erase_if(watches_, [&](Watch& watch) {
    StepTensors selected{tensors.step, {}};
    std::copy_if(tensors.tensors.begin(), tensors.tensors.end(), std::back_inserter(selected.tensors),
                 [&](const TensorAtStep& tensor) { return looks_at(watch, tensor.name); });
    if (selected.tensors.empty()) return false;
    auto finding = watch.rule->invoke_at_step(selected);
    if (!finding) return false;
    finding->rule = watch.spec.name;
    finding->remedy = watch.type->remedy;
    findings.push_back(std::move(*finding));
    return true;
  });
  return findings;
}

}  // namespace tuneband::debugger

#include "debugger/judge.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/check.hpp"
namespace tuneband::debugger {

namespace {

// By its name alone.
bool names(const DebugSpec& spec, const RuleSpec& rule, const std::string& tensor) {
  const auto in = [&](const std::string& name) {
    const Collection* collection = spec.collection(name);
    return name == "*" || (collection == nullptr ? collection_of(tensor) == name : collection->holds(tensor));
  };
  const auto by = [&](const Pattern& pattern) { return pattern.found_in(tensor); };
  const bool said = !rule.collections.empty() || !rule.tensors.empty();
  const RuleType* type = find_rule_type(rule.type);
  const auto& collections = said || type == nullptr ? rule.collections : type->collections;
  return std::any_of(collections.begin(), collections.end(), in) || std::any_of(rule.tensors.begin(), rule.tensors.end(), by);
}

// What others are divided by may be in another mode, and have a name that says it.
bool divides_others(const RuleSpec& rule, const TensorAtStep& tensor) {
  if (!rule.declared || (!rule.declared->relative_to && !rule.declared->relative_to_mode)) return false;
  const auto& mode = rule.declared->relative_to_mode;
  const auto& pattern = rule.declared->relative_to;
  return (!mode || tensor.mode == *mode) && (!pattern || pattern->found_in(tensor.name));
}

bool in_mode(const RuleSpec& rule, const TensorAtStep& tensor) { return !rule.mode || tensor.mode == *rule.mode; }

}  // namespace

bool looks_at(const DebugSpec& spec, const RuleSpec& rule, const TensorAtStep& tensor) {
  return divides_others(rule, tensor) || (in_mode(rule, tensor) && names(spec, rule, tensor.name));
}

Judge::Judge(DebugSpec spec, OtherTrial other) : spec_(std::move(spec)), other_(std::move(other)) {
  for (const RuleSpec& rule : spec_.rules) {
    const RuleType* type = find_rule_type(rule.type);
    TUNEBAND_CHECK(type != nullptr, "a parsed rule has a known type");
    watches_.push_back({rule, type, type->make(rule, spec_.judge), standings_.size(), {}, {}, {}, {}});
    standings_.push_back({.rule = rule.name});
  }
}

bool Judge::looks(Watch& watch, const TensorAtStep& tensor) const {
  if (divides_others(watch.spec, tensor)) return true;
  if (!in_mode(watch.spec, tensor)) return false;
  const auto known = watch.looks_at.find(tensor.name);
  if (known != watch.looks_at.end()) return known->second;
  return watch.looks_at.emplace(tensor.name, names(spec_, watch.spec, tensor.name)).first->second;
}

// What came of the step before stands before what comes now, and is left out where that has it again.
void Judge::join_parts(Watch& watch, StepTensors& step) {
  if (watch.saved_at != step.step) watch.so_far.clear();
  std::erase_if(watch.so_far, [&](const TensorAtStep& before) {
    return std::any_of(step.tensors.begin(), step.tensors.end(),
                       [&](const auto& now) { return now.name == before.name && now.mode == before.mode; });
  });
  step.tensors.insert(step.tensors.begin(), watch.so_far.begin(), watch.so_far.end());
  watch.so_far = step.tensors;
  for (TensorAtStep& tensor : watch.so_far) tensor.raw = nullptr;  // lives for one call
}

template <class Ask>
std::vector<Finding> Judge::ask_each(const Ask& ask) {
  std::vector<Finding> findings;
  std::erase_if(watches_, [&](Watch& watch) {
    std::optional<Finding> finding = ask(watch);
    if (!finding) return false;
    finding->rule = watch.spec.name;
    finding->remedy = watch.type->remedy;
    findings.push_back(std::move(*finding));
    return true;
  });
  return findings;
}

std::vector<Finding> Judge::step(const StepTensors& tensors) {
  last_step_ = tensors.step;
  return ask_each([&](Watch& watch) -> std::optional<Finding> {
    StepTensors selected{tensors.step, {}, {}};
    std::copy_if(tensors.tensors.begin(), tensors.tensors.end(), std::back_inserter(selected.tensors),
                 [&](const TensorAtStep& tensor) { return looks(watch, tensor); });
    if (selected.tensors.empty()) return std::nullopt;
    if (watch.type->joins) join_parts(watch, selected);
    const auto other = watch.spec.other_trial();
    if (other && other_) selected.other = other_(*other, tensors.step);
    std::optional<Finding> finding = watch.rule->invoke_at_step(selected);
    RuleStanding& standing = standings_[watch.standing];
    if (std::exchange(watch.saved_at, tensors.step) != tensors.step) ++standing.saved;
    if (watch.rule->take_judged()) {
      if (std::exchange(watch.judged_at, tensors.step) != tensors.step) ++standing.judged;
      standing.last_step = tensors.step;
    }
    return finding;
  });
}

std::vector<Finding> Judge::quiet(double seconds) {
  return ask_each([&](Watch& watch) { return watch.rule->invoke_when_quiet(last_step_, seconds); });
}

}  // namespace tuneband::debugger

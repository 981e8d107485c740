// The section `debug` of a job document: what is saved, and which rules watch it. docs/debugger.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "debugger/collections.hpp"
#include "debugger/rule.hpp"

namespace tuneband::debugger {

// What of the job the section's defaults follow from.
struct DebugContext {
  TrainerKind trainer = TrainerKind::xgboost;
  std::int64_t max_resource = 1;
  JudgeContext judge;
};

enum class Ranks { first, all };

struct DebugSpec {
  std::vector<Collection> collections;
  std::vector<RuleSpec> rules;
  Ranks ranks = Ranks::first;
  JudgeContext judge;
  std::int64_t trial_bytes_max = 64 * 1024 * 1024;  // of a trial's tensors, each rank; beyond: dropped, and counted
  std::int64_t job_bytes_max = std::int64_t{10} * 1024 * 1024 * 1024;  // of all its trials, about; the same beyond

  // The collection that says when and how a tensor is saved: the first that holds it and is due. Nothing: it is not saved.
  const Collection* saves(std::string_view tensor, std::int64_t step) const;
  const Collection* collection(std::string_view name) const;
  const RuleSpec* rule(std::string_view name) const;
};

// `{}` is the default collections and rules. Faults are reported at their paths, and the rest is read on.
DebugSpec parse_debug(const Json& json, const std::string& path, const DebugContext& context, Diagnostics& diagnostics);

// {"weights": {"every": 2, "from": 0, "until": null, "steps": [1, 2], "derived": false}}: for a program that saves what is
// wanted, and when.
Json schedules_json(const DebugSpec& spec);

// One rule as in the section: {"rule": "overfit", "parameters": {...}, "collections": [...], "tensors": [...], "action": "..."}.
RuleSpec parse_rule(const Json& json, const std::string& path, Diagnostics& diagnostics);

// An array of them, each with a name of its own.
std::vector<RuleSpec> parse_rules(const Json& json, const std::string& path, Diagnostics& diagnostics);

}  // namespace tuneband::debugger

#include "scheduler/job_changes.hpp"

#include <algorithm>

#include "core/time.hpp"
#include "scheduler/job_spec.hpp"

namespace tuneband {

std::optional<double> read_weight(ObjectReader& document) { return document.number("weight", {kWeightMin, kWeightMax}); }

std::optional<int> read_max_parallel_trials(ObjectReader& limits) {
  const auto most = limits.integer("max_parallel_trials", {1, kParallelTrialsMax});
  return most ? std::optional(static_cast<int>(*most)) : std::nullopt;
}

std::optional<std::int64_t> read_max_runtime_ms(ObjectReader& limits) {
  const auto seconds = limits.number("max_runtime_seconds", {.min = 0, .max = kRuntimeSecondsMax, .min_excluded = true});
  return seconds ? std::optional(std::max<std::int64_t>(1, ms_of(*seconds))) : std::nullopt;
}

JobChanges parse_job_changes(const Json& json, Diagnostics& diagnostics) {
  JobChanges changes;
  ObjectReader reader(json, "", diagnostics);
  changes.held = reader.boolean("held");
  changes.weight = read_weight(reader);
  const auto starts_no_more = reader.boolean("starts_no_more");
  changes.starts_no_more = starts_no_more.value_or(false);
  if (starts_no_more == false)
    diagnostics.error("starts_no_more", "expected true, got false", "a job that starts no more trials does not begin again");
  if (const Json* limits = reader.find("limits")) {
    ObjectReader fields(*limits, "limits", diagnostics);
    changes.max_parallel_trials = read_max_parallel_trials(fields);
    changes.max_runtime_ms = read_max_runtime_ms(fields);
    fields.finish();
  }
  reader.finish();
  const bool some =
      changes.held || changes.weight || changes.starts_no_more || changes.max_parallel_trials || changes.max_runtime_ms;
  if (diagnostics.ok() && !some)
    diagnostics.error("", "changes nothing",
                      "give `held`, `weight`, `starts_no_more`, `limits.max_parallel_trials` or `limits.max_runtime_seconds`");
  return changes;
}

}  // namespace tuneband

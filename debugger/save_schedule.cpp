#include "debugger/save_schedule.hpp"

#include <algorithm>

#include "debugger/step.hpp"

namespace tuneband::debugger {

namespace {

constexpr std::int64_t kFirstSteps = 5;

std::vector<std::int64_t> read_steps(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  std::vector<std::int64_t> steps;
  if (!json.is_array() || json.size() > kListedStepsMax) {
    diagnostics.error(path, "expected an array of at most " + std::to_string(kListedStepsMax) + " steps, got " + excerpt(json));
    return steps;
  }
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (const auto step = step_from_json(json[i])) {
      steps.push_back(*step);
    } else {
      diagnostics.error(join_path(path, i), "expected a step from 0, got " + excerpt(json[i]));
    }
  }
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

}  // namespace

bool SaveSchedule::due(std::int64_t step) const {
  if (step >= from && (!until || step < *until) && step % every == 0) return true;
  return std::binary_search(steps.begin(), steps.end(), step);
}

bool SaveSchedule::due_within(std::int64_t after, std::int64_t step) const {
  const auto listed = std::upper_bound(steps.begin(), steps.end(), after);
  if (listed != steps.end() && *listed <= step) return true;
  const std::int64_t last = until ? std::min(step, *until - 1) : step;
  const std::int64_t last_multiple = last - last % every;  // of those from 0
  return last >= 0 && last_multiple > after && last_multiple >= from;
}

SaveSchedule derived_schedule(std::int64_t max_resource, std::int64_t saves) {
  SaveSchedule schedule;
  schedule.derived = true;
  schedule.every = std::max<std::int64_t>(1, (max_resource + saves - 1) / saves);
  if (schedule.every > 1) {
    for (std::int64_t step = 1; step <= std::min(kFirstSteps, max_resource); ++step) schedule.steps.push_back(step);
  }
  return schedule;
}

SaveSchedule parse_schedule(const Json& json, const std::string& path, const SaveSchedule& fallback, Diagnostics& diagnostics) {
  ObjectReader reader(json, path, diagnostics);
  SaveSchedule schedule;
  schedule.every = reader.integer_or("every", fallback.every, {.min = 1, .max = kStepMax});
  schedule.from = reader.integer_or("from", 0, {.min = 0, .max = kStepMax});
  schedule.until = reader.integer("until", {.min = 1, .max = kStepMax});
  if (schedule.until && *schedule.until <= schedule.from) {
    diagnostics.error(reader.path_to("until"), "expected more than `from` (" + std::to_string(schedule.from) + "), got " +
                                                   std::to_string(*schedule.until));
  }
  if (const Json* steps = reader.find("steps")) {
    schedule.steps = read_steps(*steps, reader.path_to("steps"), diagnostics);
    const bool these_alone = !reader.has("every") && !reader.has("from") && !schedule.until;
    if (these_alone) {
      schedule.from = kStepMax;
      schedule.until = kStepMax;
    }
  } else if (!reader.has("every")) {
    schedule.steps = fallback.steps;
    schedule.derived = fallback.derived;
  }
  reader.finish();
  return schedule;
}

}  // namespace tuneband::debugger

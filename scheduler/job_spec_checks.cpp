// What can be said of a job's document only as a whole.
#include <algorithm>
#include <numeric>
#include <variant>

#include "core/text.hpp"
#include "scheduler/job_spec_parts.hpp"
#include "scheduler/plan.hpp"
#include "search_spaces/encoding.hpp"

namespace tuneband {

namespace {

bool has_gaussian_process(const JobSpec& spec) {
  if (spec.sampler.type == SamplerType::gp) return true;
  return spec.sampler.type == SamplerType::automatic && Encoding(spec.search_space).dimensions().size() <= kGpDimensionsMax;
}

// A rule that compares with a trial which there will not be, or with the only one.
void warn_of_other_trials(const JobSpec& spec, Diagnostics& diagnostics) {
  const auto bound = trials_bound(spec);
  if (!spec.debugger || !bound) return;
  for (std::size_t i = 0; i < spec.debugger->rules.size(); ++i) {
    const debugger::RuleSpec& rule = spec.debugger->rules[i];
    const auto other = rule.other_trial();
    if (!other || (*bound > 1 && *other < *bound)) continue;
    const std::string field = rule.declared ? "other_trial" : "parameters.other_trial";
    diagnostics.warning(join_path(join_path("debug.rules", i), field),
                        *bound == 1 ? "there is nothing to compare with: the job has one trial, number 0"
                                    : "there will be no trial " + std::to_string(*other) + " to compare with: the job has " +
                                          std::to_string(*bound) + ", from 0 to " + std::to_string(*bound - 1));
  }
}

// How a grid is to be asked for that leaves none of its values out; "": no grid is so fine.
std::string with_each_value(const SearchSpace& space) {
  double points = 0;
  for (const Parameter& parameter : space.parameters()) {
    const double count = count_of_values(parameter.domain);
    const auto* ints = std::get_if<IntDomain>(&parameter.domain);
    if (ints != nullptr && ints->step == 1) points = std::max(points, count);
    if (count > kGridPointsMax) return "";
  }
  const bool fits = points <= SamplerSpec().grid_points;
  return fits ? "the sampler `grid`" : "the sampler `grid` with `grid_points` " + format_number(points);
}

void warn_of_a_small_space(const JobSpec& spec, Diagnostics& diagnostics) {
  const double count = spec.search_space.configurations();
  const bool tries_each_once = spec.sampler.type == SamplerType::grid || !spec.candidates.empty();
  if (count == 1) {
    diagnostics.warning("search_space", "every parameter is fixed: all trials are the same");
  } else if (spec.limits.max_trials && !tries_each_once && count < *spec.limits.max_trials) {
    const std::string grid = with_each_value(spec.search_space);
    diagnostics.warning("limits.max_trials",
                        "is " + std::to_string(*spec.limits.max_trials) + ", and the search space has no more than " +
                            format_number(count) + " configurations: some are tried again",
                        grid.empty() ? "lower it" : "lower it, or take " + grid + ", which tries each once");
  }
}

// Where each rung is a training of its own, close ones cost more than what they stop saves.
void warn_of_dear_rungs(const SchedulerSpec& scheduler, Diagnostics& diagnostics) {
  if (!scheduler.restarts) return;
  const auto rungs = ladder_from_min(scheduler);
  const std::int64_t whole = std::accumulate(rungs.begin(), rungs.end(), std::int64_t{0});
  if (whole <= 2 * scheduler.max_resource) return;
  diagnostics.warning("scheduler.type",
                      "each of its " + std::to_string(rungs.size()) +
                          " rungs is a training of its own: a trial that goes to the end takes " + std::to_string(whole) +
                          ", and max_resource is " + std::to_string(scheduler.max_resource),
                      "take fewer rungs (a larger eta, or another scheduler), or trainings that go on");
}

}  // namespace

void check_bounds(const JobSpec& spec, Diagnostics& diagnostics) {
  const bool other_limit = spec.limits.convergence || spec.limits.max_runtime_ms || spec.limits.max_trials_without_improvement ||
                           spec.objective.target;
  const auto bound = trials_bound(spec);
  if (!bound && !other_limit) {
    diagnostics.error(
        "limits.max_trials", "is missing: nothing would end this job",
        "give max_trials, max_runtime_seconds, max_trials_without_improvement or convergence, or a target of the objective");
  } else if (bound && *bound > kTrialsMax && !other_limit) {
    const std::string what = spec.sampler.type == SamplerType::grid ? "the whole grid" : "one pass over the brackets";
    diagnostics.error(
        "limits.max_trials",
        "is missing: " + what + " starts " + std::to_string(*bound) + " trials, more than " + std::to_string(kTrialsMax),
        "give max_trials, or make the job smaller");
  }
  if (bound && static_cast<std::int64_t>(spec.enqueue.size()) > *bound) {
    diagnostics.error("enqueue", std::to_string(spec.enqueue.size()) + " configurations are enqueued, but the job starts only " +
                                     std::to_string(*bound) + " trials");
  }
}

void choose_hedge(const Json& scheduler, JobSpec& spec) {
  if (spec.scheduler.type != SchedulerType::automatic || spec.scheduler.promotion != Promotion::prediction) return;
  if (!has_gaussian_process(spec)) {
    if (!scheduler.contains("promotion")) spec.scheduler.promotion = Promotion::value;
  } else if (!scheduler.contains("rung_audit")) {
    spec.scheduler.rung_audit = false;
  }
}

void check_model(const JobSpec& spec, Diagnostics& diagnostics) {
  const SamplerType type = spec.sampler.type;
  const bool blind = type == SamplerType::random || type == SamplerType::grid || type == SamplerType::sobol;
  const std::string hint = "use the sampler `auto`, `gp`, `tpe`, `bohb` or `random_forest`";
  if (!has_gaussian_process(spec) && spec.limits.convergence) {
    diagnostics.error("limits.convergence", "needs a sampler whose model says what it expects",
                      "use the sampler `gp`, or `auto` with at most " + std::to_string(kGpDimensionsMax) + " tuned parameters");
  }
  if (blind && !spec.warm_start.empty()) {
    diagnostics.warning("warm_start", "has no effect: this sampler does not look at results", hint);
  }
}

void warn_of_oddities(const JobSpec& spec, Diagnostics& diagnostics) {
  warn_of_other_trials(spec, diagnostics);
  warn_of_a_small_space(spec, diagnostics);
  if (spec.scheduler.type != SchedulerType::none && ladder_from_min(spec.scheduler).size() == 1) {
    diagnostics.warning("scheduler.max_resource", "there is one rung only: no trial is stopped early",
                        "raise max_resource to eta * min_resource or more");
  }
  warn_of_dear_rungs(spec.scheduler, diagnostics);
}

}  // namespace tuneband

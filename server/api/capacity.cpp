#include "server/api/capacity.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.hpp"
#include "core/time.hpp"
#include "scheduler/plan.hpp"

namespace tuneband::server {

namespace {

std::string workers_text(int count) { return std::to_string(count) + (count == 1 ? " worker" : " workers"); }

// Every job with work has a share of the workers, by its weight; this one is one more of them.
int share_of(const WorkersNow& workers, double weight) {
  constexpr double kRounding = 1e-9;  // 0.1 of 0.1 + 0.2 is a third
  const double share = workers.all * weight / (workers.weight + weight);
  return std::max(1, static_cast<int>(share + kRounding));
}

// "12 s", "5 min", "3 h": as exact as a forecast is.
std::string rough_time(double seconds) {
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 2 * 3600) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.0f} h", seconds / 3600);
}

// Until as many are free as the widest trial needs. Nothing: there are not as many, or of too few it can be told.
std::optional<double> start_seconds(const JobSpec& spec, const WorkersNow& workers) {
  const int needed = spec.replicas.back();
  if (workers.all < needed) return std::nullopt;
  if (workers.free >= needed) return 0;
  const auto more = static_cast<std::size_t>(needed - workers.free);
  return more <= workers.seconds_left.size() ? std::optional(workers.seconds_left[more - 1]) : std::nullopt;
}

std::string start_of(const JobSpec& spec, const WorkersNow& workers) {
  const int needed = spec.replicas.back();
  if (workers.all == 0) return "when there is a worker: none is connected";
  if (needed > workers.all) return "its widest trials when there are " + workers_text(needed);
  if (workers.free >= needed)
    return "at once, on " + workers_text(workers.free) + " that " + (workers.free == 1 ? "is" : "are") + " free";
  const auto seconds = start_seconds(spec, workers);
  const int more = needed - workers.free;
  return (seconds ? "in about " + rough_time(*seconds) + ", " : "") + "when " +
         (more == 1 ? "the next segment of another job ends" : std::to_string(more) + " segments of other jobs have ended") +
         ": " + workers_text(workers.all - workers.free) + " of " + std::to_string(workers.all) + " are at work for " +
         std::to_string(workers.jobs) + (workers.jobs == 1 ? " job" : " jobs");
}

// `how`: "with 4 workers". False: it was said.
bool check_runtime(const JobSpec& spec, double wall_seconds, const std::string& how, Diagnostics& diagnostics) {
  if (!spec.limits.max_runtime_ms) return true;
  const double allowed = seconds_of(*spec.limits.max_runtime_ms);
  if (wall_seconds <= allowed) return true;
  diagnostics.warning("limits.max_runtime_seconds",
                      "the job takes about " + fmt::format("{:.0f}", wall_seconds) + " s " + how + ", and is ended after " +
                          format_number(allowed) + " s",
                      "raise it, plan fewer trials, or start more workers");
  return false;
}

}  // namespace

void check_replicas(const JobSpec& spec, int workers, Diagnostics& diagnostics) {
  if (spec.replicas.back() == 1 || spec.replicas.back() <= workers) return;
  diagnostics.warning(
      "trainer.replicas",
      std::to_string(spec.replicas.back()) + " workers are needed at once, and there are " + std::to_string(workers),
      spec.replicas.size() == 1
          ? "nothing starts until there are enough: start more workers, or lower it"
          : "once one of its trials needs so many, the job starts nothing more until there are enough: start "
            "more workers, or lower it");
}

Json capacity_of(const JobSpec& spec, const WorkersNow& workers, const std::optional<UnitTime>& unit, Diagnostics& diagnostics,
                 int trials_max) {
  Json json{{"workers", workers.all},
            {"workers_free", workers.free},
            {"jobs_running", workers.jobs},
            {"starts", start_of(spec, workers)},
            {"starts_in_seconds", nullptr},
            {"seconds_per_unit", nullptr},
            {"measured_in", nullptr},
            {"wall_seconds", nullptr},
            {"wall_seconds_beside_others", nullptr}};
  if (const auto seconds = start_seconds(spec, workers)) json["starts_in_seconds"] = *seconds;
  if (workers.all == 0)
    diagnostics.warning("", "no worker is connected: the job's trials would wait",
                        "start one: tuneband-worker; on another machine it looks at the job before its first trial of it");
  if (!unit) return json;
  json["seconds_per_unit"] = unit->seconds;
  if (!unit->job.empty()) json["measured_in"] = unit->job;
  const auto trials = trials_bound(spec);
  if (workers.all < spec.replicas.back() || !trials || *trials > trials_max) return json;
  const int all = std::min(workers.all, kForecastWorkersMax);
  const auto alone = forecast(spec, all, unit->seconds);
  if (!alone) return json;
  json["wall_seconds"] = alone->wall_seconds;
  const bool in_time = check_runtime(spec, alone->wall_seconds, "with " + workers_text(all), diagnostics);
  const int share = share_of(workers, spec.weight);
  const auto beside = workers.jobs == 0 || share < spec.replicas.back() ? std::nullopt : forecast(spec, share, unit->seconds);
  if (beside) json["wall_seconds_beside_others"] = beside->wall_seconds;
  if (beside && in_time) check_runtime(spec, beside->wall_seconds, "beside the jobs that run", diagnostics);
  return json;
}

}  // namespace tuneband::server

// How long a job will take: the real core, driven by simulated workers that need a fixed time for each unit of resource.
#pragma once

#include <cstdint>
#include <optional>

#include "core/json.hpp"
#include "scheduler/job_spec.hpp"

namespace tuneband {

struct Forecast {
  int workers = 0;
  double seconds_per_unit = 0;
  double wall_seconds = 0;
  double wall_seconds_without_stopping = 0;  // every trial to max_resource on the same workers
};

inline constexpr int kForecastTrialsMax = 20'000;
inline constexpr int kForecastWorkersMax = 10'000;

// Nothing when the number of trials is not bounded by the spec, or is above kForecastTrialsMax. Limits that depend on values
// (target, no improvement) and on time are left out. Asynchronous rules depend on the values; the forecast gives each trial a
// random one, and takes its time for that of as much resource as the plan has.
std::optional<Forecast> forecast(const JobSpec& spec, int workers, double seconds_per_unit);
Json to_json(const std::optional<Forecast>& forecast);

}  // namespace tuneband

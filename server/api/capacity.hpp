// When a job that is only checked would start and end: the workers that there are against what it needs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/json.hpp"
#include "scheduler/forecast.hpp"
#include "scheduler/job_spec.hpp"

namespace tuneband::server {

// Of the workers at one moment.
struct WorkersNow {
  int all = 0;  // that do not end, or are still to be started on this machine
  int free = 0;
  int jobs = 0;                           // that have workers
  std::vector<double> seconds_left = {};  // of the segments under way of which that can be told, ascending
  double weight = 0;                      // of those jobs together
};

// What one unit of resource takes.
struct UnitTime {
  double seconds = 0;
  std::string job;  // measured in it; "": given by the user
};

// A job may wait for workers that are still to come, so that is no fault.
void check_replicas(const JobSpec& spec, int workers, Diagnostics& diagnostics);

// A submission is not to wait for the simulation of more trials.
inline constexpr int kForecastTrialsOfSubmission = 1'000;

// {"workers", "workers_free", "jobs_running", "starts", "starts_in_seconds", "seconds_per_unit", "measured_in", "wall_seconds",
//  "wall_seconds_beside_others"}: `starts` is a sentence; seconds are null where nothing is known; those of the start are until
// as many workers are free as its widest trial needs, the other two count from there. Doubts go to `diagnostics`.
// Simulates the job, when it has at most `trials_max` trials: takes as long as a forecast.
Json capacity_of(const JobSpec& spec, const WorkersNow& workers, const std::optional<UnitTime>& unit, Diagnostics& diagnostics,
                 int trials_max = kForecastTrialsMax);

}  // namespace tuneband::server

// When a job that is only checked would start and end: the workers that there are against what it needs.
#pragma once

#include <optional>
#include <string>

#include "core/error.hpp"
#include "core/json.hpp"
#include "scheduler/job_spec.hpp"

namespace tuneband::server {

// Of the workers at one moment.
struct WorkersNow {
  int all = 0;   // that do not end, or are still to be started on this machine
  int free = 0;
  int jobs = 0;  // that have workers
};

// What one unit of resource takes.
struct UnitTime {
  double seconds = 0;
  std::string job;  // measured in it; "": given by the user
};

// {"workers", "workers_free", "jobs_running", "starts", "seconds_per_unit", "measured_in", "wall_seconds",
//  "wall_seconds_beside_others"}: `starts` is a sentence; seconds are null where nothing is known. Doubts go to `diagnostics`.
// Simulates the job: takes as long as a forecast.
Json capacity_of(const JobSpec& spec, const WorkersNow& workers, const std::optional<UnitTime>& unit, Diagnostics& diagnostics);

}  // namespace tuneband::server

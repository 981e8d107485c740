// `preflight: local`: trains one configuration of a job for one unit of resource, here and on one rank, before anything is
// submitted. What breaks in it would break in every trial, and on every rank.
#pragma once

#include "core/error.hpp"
#include "scheduler/job_spec.hpp"

namespace tuneband::workers {

// Of `job` as submitted, its paths absolute. Where it broke goes to `diagnostics`.
void probe_trial(const JobSpec& job, Diagnostics& diagnostics);

// A configuration in the middle of a search space, of the first of all categories.
Configuration middle_configuration(const SearchSpace& space);

}  // namespace tuneband::workers

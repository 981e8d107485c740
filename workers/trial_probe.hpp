// `preflight: local`: trains one configuration of a job for one unit of resource, here and on one rank, before anything is
// submitted. What breaks in it would break in every trial, and on every rank.
#pragma once

#include "core/error.hpp"
#include "core/json.hpp"

namespace tuneband::workers {

// `job` as submitted, checked, its paths absolute. Where it broke goes to `diagnostics`.
void probe_trial(const Json& job, Diagnostics& diagnostics);

// A configuration in the middle of a search space as written in a job; parameters under a condition are left out.
Json middle_configuration(const Json& search_space);

}  // namespace tuneband::workers

// The parts of JobSpec::parse(), each with a file of its own. For nobody else.
#pragma once

#include <string>
#include <vector>

#include "core/json.hpp"
#include "scheduler/job_spec.hpp"

namespace tuneband {

// ---- job_spec_objectives.cpp

// `objective`, or `objectives`: two or more, which are compared as they are, without a target.
void read_objectives(ObjectReader& reader, JobSpec& spec);
// What some schedulers cannot do with constraints or several objectives. Called for a document without faults.
void check_objectives(JobSpec& spec, Diagnostics& diagnostics);

// ---- job_spec_scheduler.cpp

const std::vector<std::string>& scheduler_type_names();  // by SchedulerType
SchedulerSpec read_scheduler(const Json& json, const std::string& path, Diagnostics& diagnostics);
Limits read_limits(const Json& json, const std::string& path, Diagnostics& diagnostics);

// ---- job_spec_configurations.cpp

// What they lack is drawn at random, each on its own and the same whenever the document is read.
std::vector<Configuration> read_enqueued(const Json& json, const JobSpec& spec, Diagnostics& diagnostics);
std::vector<Configuration> read_candidates(const Json& json, const SearchSpace& space, Diagnostics& diagnostics);
// ["earlier-job"], or as with_priors() writes it.
void read_warm_start(const Json& json, JobSpec& spec, Diagnostics& diagnostics);

// ---- job_spec_checks.cpp

// What only the whole document shows. Called for one without faults.
void check_bounds(const JobSpec& spec, Diagnostics& diagnostics);
// Of `auto`, what was not said: a model of all results sees more of how far the rungs can be trusted than their audit does.
void choose_hedge(const Json& scheduler, JobSpec& spec);
// Samplers that have no model learn nothing and expect nothing.
void check_model(const JobSpec& spec, Diagnostics& diagnostics);
void warn_of_oddities(const JobSpec& spec, Diagnostics& diagnostics);

}  // namespace tuneband

// A job may have a fixed list of configurations to choose from (`candidates`): those of a design, or those that somebody has
// measured already. A sampler that can rates those that this job has not run; of the others' free proposals the closest one runs.
// Where the whole space has few configurations (10,000 at most), a model's proposal that was tried gives way to an untried one.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "scheduler/job_spec.hpp"
#include "search_spaces/sampler.hpp"

namespace tuneband {

// The job's sampler, or one of another type with the same seed; with candidates, snapped to them. Those that were enqueued count
// as run.
std::unique_ptr<Sampler> make_sampler(const JobSpec& spec, std::optional<SamplerType> type = std::nullopt);

// Where a value lies on its domain's scale, in [0, 1]: the inverse of value_at() for numbers, of categories the index over their
// number.
double unit_position(const Domain& domain, const Value& value);

}  // namespace tuneband

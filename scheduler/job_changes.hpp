// What a user may change of a job that runs. Its document stays as it was submitted; what holds is in the job's row.
#pragma once

#include <cstdint>
#include <optional>

#include "core/json.hpp"

namespace tuneband {

// What is not there stays as it is.
struct JobChanges {
  std::optional<bool> held{};  // true: nothing is started, and what runs is given back with its checkpoint
  std::optional<double> weight{};
  std::optional<int> max_parallel_trials{};  // what runs beyond it comes to its rung
  std::optional<std::int64_t> max_runtime_ms{};
  bool starts_no_more = false;  // no new trials; those there are go on
};

// Of {"held": true, "weight": 2, "starts_no_more": true, "limits": {"max_parallel_trials": 4, "max_runtime_seconds": 60}}, of
// which one has to be there.
JobChanges parse_job_changes(const Json& json, Diagnostics& diagnostics);

// Fields that a job's document has, too.
std::optional<double> read_weight(ObjectReader& document);
std::optional<int> read_max_parallel_trials(ObjectReader& limits);
std::optional<std::int64_t> read_max_runtime_ms(ObjectReader& limits);

}  // namespace tuneband

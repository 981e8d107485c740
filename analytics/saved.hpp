// What early stopping saved.
#pragma once

#include <cstdint>

#include "db/connection.hpp"
#include "jobs/parsed_job.hpp"
#include "scheduler/rows.hpp"

namespace tuneband {

struct Saved {
  std::int64_t resource = 0;
  double training_ms = 0;  // of all workers together
};

// Counts trials that a rung or the user stopped, and those alone: a failed or cancelled one was not cut to save anything, and one
// that is still going may yet go all the way. Pausing has its price: where rungs restart what was trained again, which is nothing
// of one that went on in memory, and in any case what each further stretch took to begin.
//   resource    = sum of max_resource - resource over stopped trials - units trained in vain
//   training_ms = ms of the units left - ms of the units trained in vain - begin x (stretches - 1) of stopped and completed
//   trials
// where a unit takes what it took the trial itself (ms_of_units(); where no trial tells, the job's training time by its units)
// and `begin` is ms_to_begin(). Both are below 0 where pausing cost more than stopping saved.
Saved saved_by_stopping(Connection& connection, const JobRow& job, const ParsedJob& parsed);

}  // namespace tuneband

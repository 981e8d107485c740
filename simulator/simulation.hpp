// One job over recorded learning curves: the real core, driven by simulated workers on simulated time. A trial costs what was
// recorded for its configuration, and reports what was recorded for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/job_spec.hpp"
#include "simulator/curve_table.hpp"

namespace tuneband {

struct SimulationOptions {
  int workers = 1;
  // The simulation goes on until both are reached, or the job ends or begins to stop.
  double resource_max = 0;  // spent, in units of the table's resource
  double seconds_max = 0;   // of simulated time
};

inline constexpr int kSimulationWorkersMax = 10'000;

// The job's best trial so far (the best value at any rung) became another one, or better.
struct Incumbent {
  double resource = 0;  // spent until then by all trials, those under way included
  double seconds = 0;
  std::size_t curve = 0;  // index into the table
  std::int64_t rung = 0;  // the resource of the rung at which it has its best value
  double value = 0;       // that one
};

struct SimulationResult {
  std::vector<Incumbent> incumbents;  // in order of time
  double resource = 0;                // spent when it ended
  double seconds = 0;
  int trials = 0;
  int trials_completed = 0;
  int trials_ended_early = 0;  // on their way to max_resource, by the core's word
  // Of the rules of the job's `debug` section, over the recorded metric.
  int findings = 0;
  int trials_stopped_by_rules = 0;
  // Trials that came to a resource at which nothing was recorded for them: an assumption, not a measurement. Where something was
  // recorded before it (Curve::at), they reported that. Where all that was recorded is of a later resource they had no value
  // (nan), as if they had diverged there: what is to come is not known yet.
  int trials_unmeasured = 0;
  int trials_measured_earlier = 0;
  int trials_measured_later = 0;
  double resource_unmeasured = 0;  // spent beyond what was recorded, or on the way to a resource before all of it
  std::string reason;              // why the job ended by itself, which stops its trials at once; "": it did not
  double suggest_seconds = 0;      // processor time that the core needed for each new trial, on average
};

// `spec` is completed with the table's configurations as its candidates. Requires: its search space holds all of them, its
// max_resource is at most the table's, and something was measured at or below its lowest rung. The result is a function of the
// arguments alone, suggest_seconds aside.
SimulationResult simulate(JobSpec spec, const CurveTable& table, const SimulationOptions& options);

}  // namespace tuneband

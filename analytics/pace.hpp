// How long trials take: to begin, and a unit of the resource of each.
#pragma once

#include <cstdint>
#include <vector>

namespace tuneband {

// A training from a beginning (a program that starts, a checkpoint that is read) until it was left: at a rung, or at its end.
struct Stretch {
  std::int64_t units = 0;  // that it trained; at least 1
  std::int64_t ms = 0;     // of all its workers together
};

struct TrialTimes {
  std::vector<Stretch> stretches = {};  // in their order; empty: its pace is not known
  bool cold = false;                    // a worker of the job began with it: what that read and set up is in its time
  std::int64_t left = 0;                // units that it was not given
  std::int64_t in_vain = 0;             // units that it trained again at a higher rung
  std::int64_t kept_going = 0;          // how often it went on without having been left
};

// Milliseconds that a stretch takes to begin, 0 and more: where the line through the first and the last stretch of a trial (ms
// over units) meets 0 units; the median of the trials that have two of different lengths. Cold ones count where there is no
// other. 0: no trial tells.
double ms_to_begin(const std::vector<TrialTimes>& trials);

// Milliseconds, 0 and more, of the `units` of all trials together, a unit of each taking what it took itself: (its ms - begin_ms
// x its stretches) / its units. One whose pace is not known, or is cold where others are not, counts at the mean of the others,
// each weighing by its `units`; where none is known, a unit takes `usual_ms`.
double ms_of_units(const std::vector<TrialTimes>& trials, std::int64_t TrialTimes::*units, double begin_ms, double usual_ms);

}  // namespace tuneband

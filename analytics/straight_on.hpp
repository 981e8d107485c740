// Whether a trial went on in the memory of its workers.
#pragma once

#include "scheduler/rows.hpp"

namespace tuneband {

// `before` and `next`: segments in their order. True: they are of one trial, whose own workers had it in memory yet: it was never
// left. A command of a group is not held in memory: `trains_xgboost` is said of the job.
inline bool went_straight_on(const SegmentRow& before, const SegmentRow& next, bool trains_xgboost) {
  return before.trial == next.trial && before.outcome == "reached_rung" && before.worker == next.worker &&
         before.peers == next.peers && before.ended_at == next.began_at && before.resource == next.from_resource &&
         (next.peers.empty() || trains_xgboost);
}

}  // namespace tuneband

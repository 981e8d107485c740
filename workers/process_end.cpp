#include "workers/process_end.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace tuneband::workers {

using std::chrono::milliseconds;

void ProcessEnd::replace(bool for_good) {
  if (!std::exchange(replaced_, true)) options_.replace_process(for_good);
}

std::optional<ProcessEnd::Clock::time_point> ProcessEnd::replacement_due(const Work& work) const {
  const Assignment* segment = work.assignment.get();
  if (replaced_ || segment == nullptr || segment->finished() || !runner_.may_hang(segment->order())) return std::nullopt;
  const auto asked = segment->stop_requested_at();
  return asked ? std::optional(*asked + milliseconds(options_.group_grace_ms)) : std::nullopt;
}

void ProcessEnd::replace_when_due(const Work& work) {
  const auto due = replacement_due(work);
  if (!due || Clock::now() < *due) return;
  options_.log("the rank hangs in a call to the others of its group and has not stopped for " +
               std::to_string(options_.group_grace_ms) + " ms: the process is " + (work.draining ? "ended" : "replaced"));
  replace(work.draining);
}

bool ProcessEnd::give_up_when_stalled(const Work& work) {
  if (stalled_) {
    if (work.assignment != stalled_) replace(work.draining);
    return false;
  }
  const bool at_work = work.assignment && work.taken && !work.assignment->finished();
  const auto still = stall_watch_.still_for(!at_work || work.assignment->may_be_still());
  if (!at_work || options_.stall_ms == 0) return false;
  Assignment& segment = *work.assignment;
  const std::int64_t bound_ms =
      segment.stop_requested_at() ? std::min(options_.group_grace_ms, options_.stall_ms) : options_.stall_ms;
  if (still < milliseconds(bound_ms)) return false;
  const std::string message = "the worker hangs: a call to a file (the data, the checkpoint or the log) did not come back for " +
                              std::to_string(still.count() / 1000) + " s";
  options_.log(message + "; the process is replaced");
  // Told to stop, it hangs no more than its checkpoint's disk is slow: the trial is as it was at the one before.
  segment.finish({segment.stop_requested_at() ? kExitStopped : kExitStalled, message});
  stalled_ = work.assignment;
  return true;
}

void ProcessEnd::end_when_stalled() {
  if (stalled_) replace(true);
}

}  // namespace tuneband::workers

#include "workers/patient_run.hpp"

#include <poll.h>

#include <algorithm>
#include <exception>
#include <new>

#include "workers/machine_fault.hpp"
#include "workers/released_files.hpp"
#include "workers/segment_dir.hpp"

namespace tuneband::workers {

namespace {

constexpr int kMachineWaitMsMin = 250;  // doubled with each attempt
constexpr int kMachineWaitMsMax = 10'000;

// Nobody knows where it stands: what it holds is not to be gone on with.
SegmentResult let_go(TrialRunner& runner, Assignment& assignment, SegmentResult result) {
  assignment.waits_for_others(true);  // for a command's grace period
  try {
    runner.release();
  } catch (const std::exception& e) {
    result.message += std::string("; and what it held is still there: ") + e.what();
  }
  assignment.waits_for_others(false);
  return result;
}

SegmentResult try_segment(TrialRunner& runner, Assignment& assignment) {
  const protocol::AssignmentOrder& order = assignment.order();
  try {
    auto log = TrialLog::open(order.trial_dir, order.group ? order.group->rank : 0);
    if (!log) return {.exit = kExitCrashed, .message = log.error().message, .waits_for = machine_fault(log.error())};
    SegmentResult result = runner.run(order, assignment, *log);
    remove_released_files(order.trial_dir);               // it may have gone on after its trial was cut,
    remove_superseded_dir(order.trial_dir, order.epoch);  // or was taken over by another
    if (!result.message.empty()) log->note(result.exit + ": " + result.message);
    return result;
  } catch (const std::bad_alloc&) {
    return let_go(runner, assignment, {kExitOutOfMemory, "the worker ran out of memory"});
  } catch (const std::exception& e) {
    return let_go(runner, assignment, {kExitCrashed, std::string("the trainer failed: ") + e.what()});
  }
}

// Or until it is to stop.
void wait_for_machine(Assignment& assignment, int wait_ms) {
  pollfd stop{assignment.stop_fd(), POLLIN, 0};
  assignment.waits_for_others(true);
  ::poll(&stop, 1, wait_ms);
  assignment.waits_for_others(false);
}

// What another machine may have, as soon as it is free.
bool may_be_elsewhere(const std::string& lacked) { return lacked == waiting::kDataDirectory || lacked == waiting::kReadableData; }

}  // namespace

SegmentResult run_patiently(TrialRunner& runner, Assignment& assignment, std::int64_t patience_ms,
                            const std::function<void(const std::string&)>& note) {
  std::int64_t waited_ms = 0;
  for (int wait_ms = kMachineWaitMsMin;; wait_ms = std::min(2 * wait_ms, kMachineWaitMsMax)) {
    SegmentResult result = try_segment(runner, assignment);
    const bool waits = waited_ms < patience_ms || !may_be_elsewhere(result.waits_for);
    if (result.waits_for.empty() || assignment.order().group || !waits) return result;
    if (waited_ms == 0) note(result.message);
    assignment.waits_for(result.waits_for);
    wait_for_machine(assignment, wait_ms);
    waited_ms += wait_ms;
    assignment.tries_again();
    if (assignment.should_stop()) return {kExitStopped, ""};
  }
}

}  // namespace tuneband::workers

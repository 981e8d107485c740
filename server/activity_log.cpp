#include "server/activity_log.hpp"

#include <string>
#include <variant>

#include "server/log.hpp"

namespace tuneband::server {
namespace {

void log_write(const JobRow& job) {
  if (!ended(job.state)) return;
  log_info("job ended", {{"job", job.id.value},
                         {"name", job.name},
                         {"state", to_string(job.state)},
                         {"reason", job.reason},
                         {"trials", job.trials_created},
                         {"completed", job.trials_completed},
                         {"stopped", job.trials_stopped},
                         {"failed", job.trials_failed}});
}

void log_write(const TrialRow& trial) {
  if (trial.state == TrialState::failed) {
    log_warning("trial failed", {{"job", trial.id.job.value},
                                 {"trial", trial.id.number},
                                 {"worker", trial.worker.value},
                                 {"exit_class", trial.exit_class ? to_string(*trial.exit_class) : ""},
                                 {"attempts", trial.attempts},
                                 {"message", trial.message}});
    return;
  }
  const bool again = trial.state == TrialState::running && trial.attempts > 1 && trial.segment_training_ms == 0 &&
                     trial.resource == trial.checkpoint_resource;
  if (again) {
    log_info("trial started again", {{"job", trial.id.job.value},
                                     {"trial", trial.id.number},
                                     {"worker", trial.worker.value},
                                     {"attempt", trial.attempts},
                                     {"from_resource", trial.checkpoint_resource},
                                     {"after", trial.exit_class ? to_string(*trial.exit_class) : ""},
                                     {"message", trial.message}});
    return;
  }
  log_debug("trial", {{"job", trial.id.job.value},
                      {"trial", trial.id.number},
                      {"state", to_string(trial.state)},
                      {"rung", trial.rung},
                      {"resource", trial.resource},
                      {"epoch", trial.epoch.value},
                      {"worker", trial.worker.value}});
}

void log_write(const DecisionRow& decision) {
  if (decision.verdict == Verdict::waiting) return;
  log_debug("decision", {{"job", decision.trial.job.value},
                         {"trial", decision.trial.number},
                         {"bracket", decision.bracket},
                         {"rung", decision.rung},
                         {"verdict", to_string(decision.verdict)},
                         {"rank", decision.rank},
                         {"filled", decision.filled}});
}

void log_write(const FindingRow& finding) {
  log_info("finding", {{"job", finding.trial.job.value},
                       {"trial", finding.trial.number},
                       {"rule", finding.rule},
                       {"step", finding.step},
                       {"action", finding.action},
                       {"message", finding.message}});
}

void log_write(const SegmentRow&) {}  // its trial tells of it
void log_write(const ObservationRow&) {}
void log_write(const EventRow&) {}  // log_event() of what no row tells

void log_write(const DeleteJob& deleted) { log_info("job deleted", {{"job", deleted.job.value}}); }

constexpr std::int64_t kMinuteMs = 60'000;

// Its id, but for what is another with each process.
std::string name_of(const WorkerId& worker) { return worker.value.substr(0, worker.value.rfind('-')); }

}  // namespace

void ActivityLog::on_committed(std::span<const Write> writes) {
  for (const Write& write : writes) {
    if (const auto* event = std::get_if<EventRow>(&write)) log_event(*event);
    std::visit([](const auto& row) { log_write(row); }, write);
  }
}

// What happens to jobs and trials, their rows tell.
void ActivityLog::log_event(const EventRow& event) {
  using enum EventKind;
  const bool goes = event.kind == worker_lost || event.kind == worker_disconnected || event.kind == worker_released;
  if ((!goes && event.kind != worker_connected) || is_local_(event.worker) || !may_write(event)) return;
  if (event.kind == worker_lost) {
    log_warning("worker lost", {{"worker", event.worker.value}, {"how", event.message}});
  } else {
    log_info(event.kind == worker_connected      ? "worker connected"
             : event.kind == worker_disconnected ? "worker disconnected"
                                                 : "worker released",
             {{"worker", event.worker.value}});
  }
}

bool ActivityLog::may_write(const EventRow& event) {
  std::erase_if(of_the_minute_, [&](const auto& one) {
    const auto& [name, lines] = one;
    if (event.at - lines.since < kMinuteMs) return false;
    if (lines.left_out > 0)
      log_info("a worker came and went more often than is told", {{"name", name}, {"lines_left_out", lines.left_out}});
    return true;
  });
  Lines& lines = of_the_minute_.try_emplace(name_of(event.worker), Lines{.since = event.at}).first->second;
  const bool may = lines.written < kLinesAMinute;
  ++(may ? lines.written : lines.left_out);
  return may;
}

}  // namespace tuneband::server

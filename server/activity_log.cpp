#include "server/activity_log.hpp"

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
void log_write(const EventRow&) {}  // of what the rows tell

void log_write(const DeleteJob& deleted) { log_info("job deleted", {{"job", deleted.job.value}}); }

}  // namespace

void log_activity(std::span<const Write> writes) {
  for (const Write& write : writes) {
    std::visit([](const auto& row) { log_write(row); }, write);
  }
}

}  // namespace tuneband::server

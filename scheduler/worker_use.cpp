#include "scheduler/worker_use.hpp"

#include <algorithm>

namespace tuneband {

WorkerUse::Sum& WorkerUse::Sum::operator+=(const Sum& more) {
  worker_ms += more.worker_ms;
  segments += more.segments;
  return *this;
}

Timestamp begun_at(const TrialRow& trial) { return trial.assigned_at.value_or(trial.created_at); }

std::int64_t WorkerUse::at(Timestamp now, std::int64_t typical_ms, int workers_more) const {
  const std::int64_t lasted_ms = busy_ * now.ms - busy_since_ms_;
  const std::int64_t under_way_ms = std::max(lasted_ms, busy_ * typical_ms);
  return over_.worker_ms + under_way_ms + workers_more * typical_ms;
}

void WorkerUse::recall(const TrialRow& trial) {
  const bool runs = trial.state == TrialState::running;
  if (runs) begin(trial);
  const std::int64_t over = trial.attempts_in_all - (runs ? 1 : 0);
  over_ += {(trial.assigned_ms + over) * trial.replicas(), over * trial.replicas()};
}

void WorkerUse::begin(const TrialRow& trial) {
  busy_ += trial.replicas();
  busy_since_ms_ += begun_at(trial).ms * trial.replicas();
}

void WorkerUse::end(const TrialRow& trial, std::int64_t lasted_ms) {
  busy_ -= trial.replicas();
  busy_since_ms_ -= begun_at(trial).ms * trial.replicas();
  over_ += {(lasted_ms + 1) * trial.replicas(), trial.replicas()};
}

void WorkerUse::go_on(const TrialRow& trial) {
  begin(trial);
  over_ += {-trial.replicas(), -trial.replicas()};
}

}  // namespace tuneband

#include "tests/rows/log_replay.hpp"

#include <optional>
#include <set>

#include "tests/rows/row_text.hpp"

namespace tuneband::test {

namespace {

using Kind = EventKind;

std::optional<TrialState> state_after(Kind kind) {
  switch (kind) {
    case Kind::trial_started:
    case Kind::trial_reclaimed:
      return TrialState::running;
    case Kind::trial_paused:
    case Kind::trial_promoted:
      return TrialState::paused;
    case Kind::trial_stopped:
      return TrialState::stopped;
    case Kind::trial_completed:
      return TrialState::completed;
    case Kind::trial_failed:
      return TrialState::failed;
    case Kind::trial_cancelled:
      return TrialState::cancelled;
    case Kind::trial_requeued:
    case Kind::trial_given_back:
      return TrialState::pending;
    default:
      return std::nullopt;
  }
}

// Of a step in between, which rows do not show, is known what the log says.
bool may_follow(TrialState from, const EventRow& event) {
  if (ended(from)) return false;
  switch (event.kind) {
    case Kind::trial_started:
      return from == TrialState::pending || from == TrialState::paused;
    case Kind::trial_reclaimed:
      return from == TrialState::pending;
    case Kind::trial_paused:
    case Kind::trial_failed:
    case Kind::trial_requeued:
    case Kind::trial_given_back:
      return from == TrialState::running;
    case Kind::trial_stopped:
      return from != TrialState::pending || event.message == kStoppedByTheUser;
    case Kind::trial_promoted:
    case Kind::trial_completed:
      return from == TrialState::running || from == TrialState::paused;
    default:
      return true;
  }
}

}  // namespace

std::string LogReplay::take(std::span<const Write> writes) {
  std::set<TrialId> told;
  for (const Write& write : writes) {
    const auto* event = std::get_if<EventRow>(&write);
    if (event == nullptr) continue;
    if (auto fault = take(*event); !fault.empty()) return describe(*event) + ": " + fault;
    if (event->trial && state_after(event->kind)) told.insert({*event->job, *event->trial});
  }
  for (const Write& write : writes) {
    std::string fault;
    if (const auto* job = std::get_if<JobRow>(&write)) fault = compare(*job);
    if (const auto* trial = std::get_if<TrialRow>(&write)) {
      told.erase(trial->id);
      fault = compare(*trial);
    }
    if (!fault.empty()) return fault;
  }
  return told.empty() ? "" : "the log tells of trial " + name_of(*told.begin()) + ", whose row was not written with it";
}

std::string LogReplay::take(const EventRow& event) {
  if (event.id != last_id_ + 1) return "it is not the next one";
  if (event.at < last_at_) return "it is older than the one before it";
  last_id_ = event.id;
  last_at_ = event.at;
  if (event.trial && event.kind == Kind::trial_created) {
    return trials_.try_emplace({*event.job, *event.trial}).second ? "" : "there was one already";
  }
  if (event.trial && state_after(event.kind)) {
    const auto found = trials_.find({*event.job, *event.trial});
    return found == trials_.end() ? "nothing was told of its creation" : take_of_trial(event, found->second);
  }
  return event.job ? take_of_job(event) : "";
}

std::string LogReplay::take_of_job(const EventRow& event) {
  if (event.kind == Kind::job_submitted) return jobs_.try_emplace(*event.job, JobState::running).second ? "" : "again";
  const auto found = jobs_.find(*event.job);
  if (found == jobs_.end()) return "nothing was told of the job's submission";
  const bool over = ended(found->second);
  if (event.kind == Kind::job_deleted) return over ? (jobs_.erase(found), "") : "it had not ended";
  if (event.kind == Kind::job_stopping) {
    if (found->second != JobState::running) return "it was not running";
    found->second = JobState::stopping;
  }
  const std::optional<JobState> end = event.kind == Kind::job_completed ? std::optional(JobState::completed)
                                      : event.kind == Kind::job_stopped ? std::optional(JobState::stopped)
                                      : event.kind == Kind::job_failed  ? std::optional(JobState::failed)
                                                                        : std::nullopt;
  if (end && over) return "it had ended";
  if (end) found->second = *end;
  return "";
}

std::string LogReplay::take_of_trial(const EventRow& event, Trial& trial) {
  if (!may_follow(trial.state, event)) return "the log says that it was " + std::string(to_string(trial.state));
  trial.state = *state_after(event.kind);
  trial.promoted = event.kind == Kind::trial_promoted;
  trial.resource = event.resource.value_or(-1);
  trial.worker = event.worker;
  return "";
}

std::string LogReplay::compare(const TrialRow& row) const {
  const auto found = trials_.find(row.id);
  if (found == trials_.end()) return name_of(row) + " is not in the log";
  const Trial& said = found->second;
  // Promoted, and it waits for all workers of its group.
  const bool waits = said.promoted && row.state == TrialState::pending;
  if (said.state != row.state && !waits) {
    return name_of(row) + " is " + std::string(to_string(row.state)) + ", the log says " + std::string(to_string(said.state));
  }
  if (row.state != TrialState::running && said.resource != row.resource) {
    return name_of(row) + " stands at " + std::to_string(row.resource) + ", the log says " + std::to_string(said.resource);
  }
  return row.worker == said.worker ? "" : name_of(row) + " has another worker than the log says";
}

std::string LogReplay::compare(const JobRow& row) const {
  const auto found = jobs_.find(row.id);
  if (found == jobs_.end()) return name_of(row) + " is not in the log";
  return found->second == row.state ? "" : name_of(row) + " is " + std::string(to_string(row.state)) + ", the log says otherwise";
}

}  // namespace tuneband::test

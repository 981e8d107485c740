#include "scheduler/rows.hpp"

#include <algorithm>
#include <boost/pfr.hpp>
#include <cmath>
#include <span>
#include <tuple>
#include <utility>

namespace tuneband {

namespace {

template <class Enum>
using Words = std::span<const std::pair<Enum, std::string_view>>;

template <class Enum>
std::string_view word_of(Words<Enum> words, Enum value) {
  for (const auto& [candidate, word] : words) {
    if (candidate == value) return word;
  }
  return "";
}

template <class Enum>
std::optional<Enum> value_of(Words<Enum> words, std::string_view text) {
  for (const auto& [candidate, word] : words) {
    if (word == text) return candidate;
  }
  return std::nullopt;
}

constexpr std::pair<JobState, std::string_view> kJobStates[] = {
    {JobState::running, "running"}, {JobState::stopping, "stopping"}, {JobState::completed, "completed"},
    {JobState::stopped, "stopped"}, {JobState::failed, "failed"},
};

constexpr std::pair<TrialState, std::string_view> kTrialStates[] = {
    {TrialState::pending, "pending"},     {TrialState::running, "running"}, {TrialState::paused, "paused"},
    {TrialState::completed, "completed"}, {TrialState::stopped, "stopped"}, {TrialState::failed, "failed"},
    {TrialState::cancelled, "cancelled"},
};

constexpr std::pair<ExitClass, std::string_view> kExitClasses[] = {
    {ExitClass::completed, "completed"},
    {ExitClass::stopped, "stopped"},
    {ExitClass::out_of_memory, "out_of_memory"},
    {ExitClass::nan_metric, "nan_metric"},
    {ExitClass::invalid_parameters, "invalid_parameters"},
    {ExitClass::data_unreadable, "data_unreadable"},
    {ExitClass::no_metric, "no_metric"},
    {ExitClass::crashed, "crashed"},
    {ExitClass::timed_out, "timed_out"},
    {ExitClass::worker_lost, "worker_lost"},
    {ExitClass::stalled, "stalled"},
    {ExitClass::stopped_by_rule, "stopped_by_rule"},
};

constexpr std::pair<Verdict, std::string_view> kVerdicts[] = {
    {Verdict::waiting, "waiting"},
    {Verdict::promoted, "promoted"},
    {Verdict::stopped, "stopped"},
    {Verdict::completed, "completed"},
};

constexpr std::pair<EventKind, std::string_view> kEventKinds[] = {
    {EventKind::job_submitted, "job_submitted"},
    {EventKind::job_improved, "job_improved"},
    {EventKind::job_changed, "job_changed"},
    {EventKind::job_starts_no_more, "job_starts_no_more"},
    {EventKind::job_stopping, "job_stopping"},
    {EventKind::job_completed, "job_completed"},
    {EventKind::job_stopped, "job_stopped"},
    {EventKind::job_failed, "job_failed"},
    {EventKind::job_deleted, "job_deleted"},
    {EventKind::trial_created, "trial_created"},
    {EventKind::trial_started, "trial_started"},
    {EventKind::trial_paused, "trial_paused"},
    {EventKind::trial_promoted, "trial_promoted"},
    {EventKind::trial_stopped, "trial_stopped"},
    {EventKind::trial_completed, "trial_completed"},
    {EventKind::trial_failed, "trial_failed"},
    {EventKind::trial_requeued, "trial_requeued"},
    {EventKind::trial_given_back, "trial_given_back"},
    {EventKind::trial_reclaimed, "trial_reclaimed"},
    {EventKind::trial_cancelled, "trial_cancelled"},
    {EventKind::finding, "finding"},
    {EventKind::worker_connected, "worker_connected"},
    {EventKind::worker_disconnected, "worker_disconnected"},
    {EventKind::worker_lost, "worker_lost"},
    {EventKind::worker_released, "worker_released"},
    {EventKind::server_started, "server_started"},
};

// NaN equals NaN here: the same row read back is the same row.
template <class Field>
bool same(const Field& a, const Field& b) {
  return a == b;
}

bool same(const std::optional<double>& a, const std::optional<double>& b) {
  return a == b || (a && b && std::isnan(*a) && std::isnan(*b));
}

bool same(const std::vector<double>& a, const std::vector<double>& b) {
  using Value = std::optional<double>;
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](Value one, Value other) { return same(one, other); });
}

template <class Row>
bool same_fields(const Row& a, const Row& b) {
  const auto its = boost::pfr::structure_tie(a);
  const auto others = boost::pfr::structure_tie(b);
  return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
    return (same(std::get<Index>(its), std::get<Index>(others)) && ...);
  }
  (std::make_index_sequence<std::tuple_size_v<decltype(its)>>());
}

}  // namespace

std::string_view to_string(JobState state) { return word_of<JobState>(kJobStates, state); }
std::string_view to_string(TrialState state) { return word_of<TrialState>(kTrialStates, state); }
std::string_view to_string(ExitClass exit_class) { return word_of<ExitClass>(kExitClasses, exit_class); }
std::string_view to_string(EventKind kind) { return word_of<EventKind>(kEventKinds, kind); }
std::string_view to_string(Verdict verdict) { return word_of<Verdict>(kVerdicts, verdict); }
std::optional<JobState> job_state_from(std::string_view text) { return value_of<JobState>(kJobStates, text); }
std::optional<TrialState> trial_state_from(std::string_view text) { return value_of<TrialState>(kTrialStates, text); }
std::optional<ExitClass> exit_class_from(std::string_view text) { return value_of<ExitClass>(kExitClasses, text); }
std::optional<Verdict> verdict_from(std::string_view text) { return value_of<Verdict>(kVerdicts, text); }

bool ended(JobState state) { return state != JobState::running && state != JobState::stopping; }

bool ended(TrialState state) {
  return state != TrialState::pending && state != TrialState::running && state != TrialState::paused;
}

bool retryable(ExitClass exit_class) {
  // A crash may be the machine's fault; wrong parameters, data or metrics are the same the next time.
  return exit_class == ExitClass::crashed || exit_class == ExitClass::worker_lost;
}

std::string_view advice(ExitClass exit_class) {
  switch (exit_class) {
    case ExitClass::completed:
    case ExitClass::stopped:
      return "";
    case ExitClass::out_of_memory:
      return "Lower what needs memory (max_depth, max_bin, batch size), run fewer workers on the machine, or raise the trial's "
             "limit.";
    case ExitClass::nan_metric:
      return "The training diverged: narrow the learning rate or look for NaN in the data.";
    case ExitClass::invalid_parameters:
      return "The trainer refused the configuration or the command: correct the search space or the trainer's fields.";
    case ExitClass::data_unreadable:
      return "Check that the data file is there for the worker, is readable, and has the label and columns that the job names.";
    case ExitClass::no_metric:
      return "The objective's metric was not reported at the resource that was asked for: check its name, its pattern against "
             "the trial's log, and that the command goes on until {until_resource}, or `may_end_early`.";
    case ExitClass::crashed:
      return "The trial's log has its last output.";
    case ExitClass::timed_out:
      return "Raise the trainer's time limit, or lower max_resource.";
    case ExitClass::worker_lost:
      return "The worker's process or machine went away again and again: look at its log and at the machine's memory. A kernel "
             "that kills a whole control group for memory leaves nobody to say so (memory.events of the group counts it).";
    case ExitClass::stalled:
      return "A file was not to be opened or read for too long: look whether the mounts of the data and of the server's "
             "directory "
             "answer.";
    case ExitClass::stopped_by_rule:
      return "`tuneband findings` shows what the rule found, and what helps.";
  }
  return "";
}

bool TrialRow::operator==(const TrialRow& other) const { return same_fields(*this, other); }
bool DecisionRow::operator==(const DecisionRow& other) const { return same_fields(*this, other); }
bool FindingRow::operator==(const FindingRow& other) const { return same_fields(*this, other); }

std::vector<WorkerId> TrialRow::ranks() const {
  std::vector<WorkerId> ranks{worker};
  ranks.insert(ranks.end(), peers.begin(), peers.end());
  return ranks;
}

Timestamp newest_timestamp(const Snapshot& snapshot) {
  Timestamp newest = snapshot.last_event_at;
  const auto see = [&newest](std::optional<Timestamp> at) { newest = std::max(newest, at.value_or(newest)); };
  for (const JobRow& job : snapshot.jobs) {
    see(job.created_at);
    see(job.ended_at);
  }
  for (const TrialRow& trial : snapshot.trials) {
    see(trial.created_at);
    see(trial.started_at);
    see(trial.assigned_at);
    see(trial.ended_at);
  }
  for (const DecisionRow& decision : snapshot.decisions) see(decision.at);
  for (const FindingRow& finding : snapshot.findings) see(finding.at);
  for (const SegmentRow& segment : snapshot.segments) see(segment.ended_at);
  return newest;
}

}  // namespace tuneband

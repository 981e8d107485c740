// When a job starts no more trials, and how it ends.
#include "core/text.hpp"
#include "scheduler/job.hpp"
#include "scheduler/job_words.hpp"
#include "scheduler/waiting.hpp"

namespace tuneband {

namespace {

EventKind kind_of(JobState end) {
  if (end == JobState::completed) return EventKind::job_completed;
  return end == JobState::stopped ? EventKind::job_stopped : EventKind::job_failed;
}

}  // namespace

std::optional<Timestamp> Job::deadline() const {
  if (row_.state != JobState::running || !row_.max_runtime_ms) return std::nullopt;
  return row_.created_at.plus_ms(*row_.max_runtime_ms);
}

void Job::check_limits() {
  if (row_.state != JobState::running) return;
  const Limits& limits = spec_->limits;
  const Objective& objective = spec_->objective;
  const auto& best = spec_->full_alone() ? row_.best : row_.best_anywhere;
  if (objective.target && best && !objective.better(*objective.target, best->value)) {
    begin_stopping(JobState::completed, at_target(best->trial, *objective.target));
  } else if (row_.failing_with && row_.failures_in_a_row >= limits.max_failures_in_a_row) {
    begin_stopping(JobState::failed, std::to_string(row_.failures_in_a_row) + " trials in a row failed with " +
                                         last_failure(trials_, *row_.failing_with));
  } else if (winds_down()) {
    return;
  } else if (limits.max_trials_without_improvement && row_.trials_since_improvement >= *limits.max_trials_without_improvement) {
    const int trials = row_.trials_since_improvement;
    wind_down((trials == 1 ? "the last trial" : std::to_string(trials) + " trials in a row") + " brought no better value");
  } else if (limits.convergence && row_.suggestions_below >= limits.convergence->suggestions) {
    wind_down("converged: the model expected less than " + format_number(limits.convergence->tolerance) +
              " of improvement from " + std::to_string(row_.suggestions_below) + " trials in a row, from the last one " +
              format_number(*row_.expected_improvement));
  }
}

// More trials are not worth their while; those there are go on, so that the best of them reaches max_resource.
void Job::wind_down(std::string reason) {
  row_.starts_no_more = true;
  row_.reason = std::move(reason);
  record(EventKind::job_starts_no_more, row_.reason);
  row_changed_ = true;
  if (begun_ && policy_->give_back_start()) {
    begun_.reset();
    suggestion_.reset();
  }
  asking_ = false;  // what goes on needs no word of the model any more
  policy_->start_no_more();
}

void Job::begin_stopping(JobState as, std::string reason) {
  if (row_.state != JobState::running) return;
  row_.state = JobState::stopping;
  row_.ending_as = as;
  row_.held = false;
  row_.reason = std::move(reason);
  row_changed_ = began_stopping_ = true;
  record(EventKind::job_stopping, row_.reason);
  queued_.clear();
  some_to_end_ = true;
}

void Job::end_some_more(int most, Timestamp now) {
  if (row_.state == JobState::running) {
    std::vector<Decision> decisions;
    policy_->close(decisions, static_cast<std::size_t>(most));
    apply(decisions, now);
    some_to_end_ = paused_ > 0;
    return;
  }
  for (TrialRow& trial : trials_) {
    if (trial.state != TrialState::pending && trial.state != TrialState::paused) continue;
    if (most-- == 0) return;
    segments_.erase(trial.id.number);
    end_trial(trial, TrialState::cancelled, now);
  }
  some_to_end_ = false;
}

// `limited`: the reason that it has is the limit that ended it.
void Job::fail_without_best(bool limited) {
  row_.reason = why_no_best(decisions_, spec_->constraints) + (limited ? "; " + row_.reason : "");
  if (row_.failing_with) row_.reason += "; the last one failed with " + last_failure(trials_, *row_.failing_with);
  row_.ending_as = JobState::failed;
}

bool Job::has_nothing_to_do() const { return running_.empty() && queued_.empty() && !begun_ && !policy_->has_work(); }

bool Job::end_if_done(int most, Timestamp now) {
  if (ended(row_.state)) return true;
  if (began_stopping_) end_some_more(most, now);
  if (!running_.empty() || some_to_end_) return false;
  if (row_.state == JobState::running) {
    if (!has_nothing_to_do()) return false;
    end_some_more(most, now);
    if (some_to_end_) return false;
    const bool limited = winds_down();
    if (!limited)
      row_.reason =
          row_.trials_created == 1 ? "its one trial is done" : "all " + std::to_string(row_.trials_created) + " trials are done";
    row_.ending_as = JobState::completed;
    if (!row_.best_anywhere) {
      fail_without_best(limited);
    } else if (const auto failure = failure_of_all(trials_)) {
      row_.reason = "every trial failed, the last one with " + last_failure(trials_, *failure);
      row_.ending_as = JobState::failed;
    } else if (const auto of_last = failure_below_the_top(trials_)) {
      row_.reason += "; none came to max_resource, and the last one that failed did with " + last_failure(trials_, *of_last);
    }
  } else if (row_.ending_as == JobState::completed && !row_.best_anywhere) {
    fail_without_best(true);  // of a limit that ended it
  }
  row_.state = *row_.ending_as;
  row_.ending_as.reset();
  row_.held = false;
  row_.ended_at = now;
  row_changed_ = true;
  record(kind_of(row_.state), row_.reason);
  return true;
}

std::optional<std::string_view> Job::waits_for(const Capacity& capacity) const {
  if (queued_.empty() && !begun_ && !policy_->has_work()) return std::nullopt;
  if (row_.held) return waiting::kHeld;
  if (capacity.usable == 0) return capacity.lacked.empty() ? waiting::kNoWorker : capacity.lacked;
  if (queued_.empty() ? spec_->replicas.front() > capacity.usable : !first_queued(capacity.usable)) {
    return capacity.lacked.empty() ? waiting::kFewerWorkersThanReplicas : capacity.lacked;
  }
  if (running() >= row_.max_parallel_trials) return waiting::kMaxParallelTrials;
  if (queued_.empty() && awaits_suggestion()) return waiting::kSuggestion;
  if (capacity.gathering == row_.id) return waiting::kGathering;
  return capacity.gathering && capacity.idle > 0 ? waiting::kGatheredForAnother : waiting::kNoFreeWorker;
}

std::vector<std::pair<std::string, int>> Job::waiting_by_reason(const Capacity& capacity) const {
  std::vector<std::pair<std::string, int>> reasons;
  if (row_.state == JobState::stopping) {
    if (running() > 0) reasons.emplace_back(waiting::kBeingStopped, running());
    return reasons;
  }
  if (const auto reason = waits_for(capacity)) {
    const int ready = static_cast<int>(queued_.size()) + policy_->promoted_waiting();
    reasons.emplace_back(*reason, std::max(1, ready));
  }
  const int undecided = static_cast<int>(undecided_.size());
  if (undecided > 0)
    reasons.emplace_back(is_synchronous(spec_->scheduler.type) ? waiting::kRungNotFull : waiting::kNotAmongTheBest, undecided);
  return reasons;
}

}  // namespace tuneband

// What happened to a segment: that it began, what it reported, and how it ended.
#include <algorithm>
#include <utility>

#include "core/check.hpp"
#include "scheduler/job.hpp"
#include "scheduler/job_words.hpp"
#include "scheduler/trial_values.hpp"

namespace tuneband {

namespace {

constexpr int kEndsInVainMax = 10;                                 // of workers that were told to end, of one trial, at no charge
constexpr std::int64_t kSegmentTrainingMsMax = 1'000'000'000'000;  // 30 years: a worker's word must not overflow the sums

// A worker's word: the segment writes where the trial's files are already, or into a directory of its own.
Epoch files_epoch_of(const TrialRow& trial, Epoch told) {
  return told == trial.files_epoch && told.value != 0 ? told : trial.epoch;
}

// One that begins.
SegmentRow segment_of(const TrialRow& trial, Timestamp now) {
  SegmentRow segment;
  segment.trial = trial.id;
  segment.epoch = trial.epoch;
  segment.attempt = std::max(trial.attempts, 1);
  segment.worker = trial.worker;
  segment.peers = trial.peers;
  segment.from_resource = segment.resource = trial.checkpoint_resource;
  segment.until_resource = trial.until_resource;
  segment.began_at = now;
  return segment;
}

// How the last segment of a trial that left its worker ended.
std::string_view outcome_of(const TrialRow& trial) {
  if (trial.state == TrialState::cancelled) return "cancelled";
  if (trial.exit_class) return to_string(*trial.exit_class);
  if (trial.state == TrialState::completed) return "completed";
  if (trial.state == TrialState::stopped && trial.resource < trial.until_resource) return to_string(ExitClass::stopped);
  return trial.state == TrialState::pending ? "given_back" : "reached_rung";
}

}  // namespace

void Job::start(int number, const std::vector<WorkerId>& ranks, bool warm, Timestamp now) {
  TrialRow& trial = mutate(number);
  row_.last_epoch = std::max(row_.last_epoch, row_.id.value * kEpochsPerJob) + 1;
  if (trial.state == TrialState::paused) --paused_;
  trial.state = TrialState::running;
  trial.worker = ranks.front();
  trial.peers.assign(ranks.begin() + 1, ranks.end());
  trial.epoch = Epoch{row_.last_epoch};
  trial.resource = trial.checkpoint_resource;
  if (trial.resource == 0) {
    trial.curve.clear();
    trial.best_resource = 0;
  }
  for (RuleState& rule : trial.rules) {  // their processes are started anew
    if (!std::exchange(rule.standing.fault, "").empty()) rule.at = now;
  }
  trial.segment_training_ms = 0;
  trial.assigned_at = now;
  if (!trial.started_at) trial.started_at = now;
  ++trial.attempts;
  ++trial.attempts_in_all;
  running_.insert(number);
  wanted_back_.erase(number);
  use_.begin(trial);
  row_changed_ = true;
  write_segment(segments_.insert_or_assign(number, segment_of(trial, now)).first->second);
  record(EventKind::trial_started, trial, start_in_words(trial, warm));
}

// False: it says nothing new.
bool Job::observe(TrialRow& trial, const ReportedObservation& observation, Timestamp now) {
  const bool past_target = observation.resource > trial.until_resource;
  const bool known = observation.resource <= trial.resource;
  if (past_target || known) return false;           // an overstepped rung counts with the value at its level
  const bool replaces = trial.attempts_in_all > 1;  // of a rung below, or of an attempt that was lost: the files are this one's
  const auto objective = find_metric(observation.metrics, spec_->objective.metric);
  ObservationRow row{trial.id, observation.resource, objective, observation.metrics, now, replaces};
  if (row.objective && observation.resource == trial.until_resource) {
    trial.objective = row.objective;
    trial.objective_resource = observation.resource;
    note_objectives(*spec_, trial, row.metrics);
  }
  row_.resource_spent += observation.resource - trial.resource;
  trial.resource = observation.resource;
  if (early_end_ && objective) early_end_->note(trial.curve, observation.resource, *objective);
  observations_.push_back(std::move(row));
  return true;
}

// A training that its job ends with, before its time: the best that it came to counts like any other where it is the job's best,
// and its model is there. Below max_resource it has to have reached the target for that.
void Job::take_unfinished(TrialRow& trial, const AssignmentReport& report) const {
  if (row_.state != JobState::stopping || !spec_->keeps_best || !report.kept) return;
  const bool full = trial.until_resource == spec_->scheduler.max_resource;
  const bool meets = meets_target(*spec_, report.kept->metrics);
  const bool counts = full || (spec_->rungs_compare() && meets);
  if (!counts || spec_->violation(report.kept->metrics) > 0) return;
  const auto value = value_of_kept(*spec_, trial, *report.kept);
  // Where full trainings count what has not met the target is held against the best of any rung, until there is one of these.
  const auto& best = row_.best || meets || !spec_->best_of_full ? row_.best : row_.best_anywhere;
  if (!value || (best && !spec_->objective.better(*value, best->value))) return;
  trial.objective_resource = trial.until_resource;
  note_objectives(*spec_, trial, report.kept->metrics);
  keep(*spec_, trial, *report.kept, report.test_value);
  trial.files_epoch = files_epoch_of(trial, report.files_epoch);
}

// Whether what ends the job came before its rung, and counts. Of fewer folds a value is no measure, and of a training by XGBoost
// that does not keep its best round there is no model of a round that is over.
bool Job::meets_target_on_the_way(const TrialRow& trial, const ReportedObservation& observation) const {
  const bool is_news = observation.resource > trial.resource && observation.resource < trial.until_resource;
  if (row_.state != JobState::running || !is_news || !meets_target(*spec_, observation.metrics)) return false;
  const bool full = trial.until_resource == spec_->scheduler.max_resource;
  return spec_->keeps_best ? spec_->rungs_compare() || full : !trains_xgboost(spec_->trainer);
}

// False: it says nothing new. Other ranks of a group may go on for long.
bool Job::take_end(TrialRow& trial, const AssignmentReport& report) const {
  const TrialRow before = trial;
  if (report.exit == ExitClass::completed) take_model(*spec_, trial, report);
  if (report.exit == ExitClass::stopped) take_unfinished(trial, report);
  return trial != before;
}

bool Job::report(int number, const AssignmentReport& report, Timestamp now) {
  bool ends_here = false;
  TrialRow& trial = trials_[static_cast<std::size_t>(number)];
  bool news = false;
  // Still in memory from the rung below: what is trained begins there.
  if (spec_->scheduler.restarts && report.began_resource > trial.resource && report.began_resource < trial.until_resource) {
    trial.resource = report.began_resource;
    SegmentRow& segment = segments_.at(number);
    segment.from_resource = report.began_resource;
    write_segment(segment);
    news = true;
  }
  for (const ReportedObservation& observation : report.observations) {
    if (meets_target_on_the_way(trial, observation) && (!spec_->keeps_best || !report.exit)) {
      begin_stopping(JobState::completed, at_target(trial, *spec_->objective.target, observation.resource));
      ends_here = !spec_->keeps_best;  // else the worker says what it kept once it has stopped
      if (ends_here) trial.until_resource = observation.resource;
    }
    news |= observe(trial, observation, now);
  }
  if (ends_here) trial.files_epoch = files_epoch_of(trial, report.files_epoch);
  // From a checkpoint at its target a trial could not report the value there any more: that counts only together with the value.
  const bool usable = report.checkpoint_resource < trial.until_resource ||
                      (report.checkpoint_resource == trial.until_resource && trial.objective_resource == trial.until_resource);
  if (usable && report.checkpoint_resource > trial.checkpoint_resource) {
    trial.checkpoint_resource = report.checkpoint_resource;
    trial.files_epoch = files_epoch_of(trial, report.files_epoch);
    news = true;
  }
  if (report.exit) news |= take_end(trial, report);
  if (const std::int64_t new_ms = std::min(report.training_ms, kSegmentTrainingMsMax) - trial.segment_training_ms; new_ms > 0) {
    trial.training_ms += new_ms;
    trial.segment_training_ms += new_ms;
    row_.training_ms += new_ms * trial.replicas();
    news = true;
  }
  if (!news) return false;  // nothing to write
  trials_changed_.insert(number);
  row_changed_ = true;
  return ends_here;
}

void Job::end_at_target(int number, Timestamp now) {
  TrialRow& trial = mutate(number);
  leave_worker(trial, now);
  arrive(trial, trial.objective, now, row_.reason);
  if (!ended(trial.state)) end_trial(trial, TrialState::cancelled, now);
  end_segment(trial);
}

void Job::leave_worker(TrialRow& trial, Timestamp now) {
  TUNEBAND_CHECK(trial.state == TrialState::running, "only a running trial leaves a worker");
  const std::int64_t lasted_ms = trial.assigned_at ? std::max<std::int64_t>(0, now - *trial.assigned_at) : 0;
  use_.end(trial, lasted_ms);
  trial.assigned_ms += lasted_ms;
  SegmentRow& segment = segments_.at(trial.id.number);
  segment.resource = trial.resource;
  segment.ended_at = begun_at(trial).plus_ms(lasted_ms);
  trial.assigned_at.reset();
  running_.erase(trial.id.number);
  row_changed_ = true;
}

// What has become of the trial says how its segment ended. A worker that was thought lost may still go on with it.
void Job::end_segment(const TrialRow& trial) {
  const auto found = segments_.find(trial.id.number);
  found->second.outcome = outcome_of(trial);
  write_segment(found->second);
  const bool may_go_on = trial.state == TrialState::pending && trial.exit_class == ExitClass::worker_lost;
  if (!may_go_on) segments_.erase(found);
}

void Job::segment_ended(int number, const SegmentEnd& end, Timestamp now) {
  const auto& [exit, message, crash, files_epoch] = end;
  TrialRow& trial = mutate(number);
  leave_worker(trial, now);
  const bool reached = exit == ExitClass::completed && trial.objective_resource == trial.until_resource;
  if (reached) {
    ended_in_vain_.erase(number);
    trial.message = message;
    trial.files_epoch = files_epoch_of(trial, files_epoch);
    arrive(trial, trial.objective, now);
    if (row_.state == JobState::stopping && !ended(trial.state)) end_trial(trial, TrialState::cancelled, now);
  } else if (exit == ExitClass::stopped_by_rule) {
    fail(trial, exit, message, now);
  } else if (row_.state == JobState::stopping) {
    end_trial(trial, TrialState::cancelled, now);
  } else if (exit == ExitClass::completed) {
    fail(trial, ExitClass::no_metric,
         message.empty() ? "the trial reached its target without a value of `" + spec_->objective.metric + "`" : message, now);
  } else if (exit == ExitClass::stopped) {
    retry_or_fail(trial, {ExitClass::worker_lost, "the worker stopped the trial without being asked to"}, now);
  } else {
    retry_or_fail(trial, end, now);
  }
  end_segment(trial);
  check_limits();
}

std::optional<EarlyEnd::Word> Job::will_not_be_best(int number) const {
  const TrialRow& its = trial(number);
  const bool judged = early_end_ && row_.state == JobState::running && row_.best && its.state == TrialState::running;
  if (!judged || its.until_resource != spec_->scheduler.max_resource) return std::nullopt;
  return early_end_->judge(number, its.curve, its.resource, row_.best->value);
}

// Its value so far stands for the one that it will not come to: the rung and the sampler are to know how bad it was.
void Job::end_early(int number, const EarlyEnd::Word& word, Timestamp now) {
  TrialRow& trial = mutate(number);
  leave_worker(trial, now);
  arrive(trial, word.best, now, why_early(word, trial, *row_.best));
  end_segment(trial);
  check_limits();
}

void Job::stop_trial(int number, Timestamp now) {
  TrialRow& trial = mutate(number);
  const bool ran = trial.state == TrialState::running;
  const auto waits = undecided_.find(number);
  std::optional<Arrival> withdrawn;
  if (ran) leave_worker(trial, now);
  if (waits != undecided_.end()) {
    withdrawn = arrival_of(decisions_[waits->second]);
  } else if (trial.state == TrialState::paused) {
    head_for(trial, policy_->take_promoted(number));
  }
  queued_.erase(number);
  trial.exit_class.reset();  // of an earlier attempt
  trial.message.clear();
  end_trial(trial, TrialState::stopped, now, kStoppedByTheUser);
  if (withdrawn) {
    std::vector<Decision> decisions;
    policy_->withdraw(*withdrawn, decisions);
    apply(decisions, now);
  } else {
    arrive(trial, std::nullopt, now);
  }
  if (ran) {
    end_segment(trial);
  } else {
    segments_.erase(number);
  }
}

void Job::given_back(int number, Timestamp now, std::string why) {
  TrialRow& trial = mutate(number);
  leave_worker(trial, now);
  if (row_.state == JobState::stopping) {
    const bool keeps = trial.kept_until_resource == trial.until_resource;  // take_unfinished(), not the rung below
    if (keeps && trial.objective_resource == trial.until_resource) arrive(trial, trial.objective, now, why_unfinished(trial));
    if (!ended(trial.state)) end_trial(trial, TrialState::cancelled, now);
    return end_segment(trial);
  }
  --trial.attempts;
  trial.exit_class.reset();  // of an earlier attempt: this one's end is nobody's fault
  trial.message.clear();
  trial.state = TrialState::pending;
  queued_.insert(number);
  end_segment(trial);
  record(EventKind::trial_given_back, trial, std::move(why));
}

void Job::worker_wants_to_end(int number, bool went_on, Timestamp now) {
  int& in_vain = ended_in_vain_[number];
  in_vain = went_on ? 0 : in_vain + 1;
  if (in_vain <= kEndsInVainMax) return given_back(number, now);
  segment_ended(
      number,
      {ExitClass::worker_lost, "its worker was told to end (SIGTERM), as others were before it, and the trial did not get on"},
      now);
}

std::optional<int> Job::reclaimable(const WorkerId& worker, Epoch epoch) const {
  const auto found = std::find_if(queued_.begin(), queued_.end(), [&](int number) {
    const TrialRow& its = trial(number);
    return its.epoch == epoch && its.worker == worker && its.peers.empty() && may_be_reclaimed(its);
  });
  return found == queued_.end() ? std::nullopt : std::optional(*found);
}

void Job::reclaimed(int number, Timestamp now) {
  TUNEBAND_CHECK(queued_.erase(number) == 1, "only a waiting trial is reclaimed");
  TrialRow& trial = mutate(number);
  trial.state = TrialState::running;
  trial.assigned_at = now;
  trial.exit_class.reset();
  trial.message.clear();
  running_.insert(number);
  use_.go_on(trial);
  SegmentRow& segment = segments_.try_emplace(number, segment_of(trial, now)).first->second;
  segment.ended_at.reset();
  segment.outcome.reset();
  write_segment(segment);
  row_changed_ = true;
  record(EventKind::trial_reclaimed, trial);
}

// The same crash at the same place, twice in a row, is the configuration's: a third attempt would end the same way.
void Job::retry_or_fail(TrialRow& trial, const SegmentEnd& end, Timestamp now) {
  const std::string where = " at resource " + std::to_string(trial.resource);
  const std::string crash = end.crash.empty() ? "" : end.crash + where;
  const bool came_again = !crash.empty() && crash == trial.crash;
  trial.crash = crash;
  const bool attempts_left = retryable(end.exit) && trial.attempts < spec_->limits.max_attempts;
  if (attempts_left && came_again)
    return fail(trial, end.exit, "twice in a row" + where + ", so not tried again: " + end.message, now);
  if (!attempts_left) return fail(trial, end.exit, end.message, now);
  trial.exit_class = end.exit;
  trial.message = end.message;
  trial.state = TrialState::pending;
  queued_.insert(trial.id.number);
  record(EventKind::trial_requeued, trial, end.message).exit_class = end.exit;
}

void Job::fail(TrialRow& trial, ExitClass exit, const std::string& message, Timestamp now) {
  trial.exit_class = exit;
  trial.message = message;
  // A rule ends what the job wants ended: nothing is wrong with the job.
  if (exit != ExitClass::stopped_by_rule) {
    row_.failures_in_a_row = row_.failing_with == exit ? row_.failures_in_a_row + 1 : 1;
    row_.failing_with = exit;
  }
  end_trial(trial, TrialState::failed, now);
  arrive(trial, std::nullopt, now);
}

}  // namespace tuneband

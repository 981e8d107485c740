#include "scheduler/job.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/check.hpp"
#include "core/text.hpp"
#include "scheduler/bests.hpp"
#include "scheduler/job_words.hpp"
#include "scheduler/plan.hpp"

namespace tuneband {

namespace {

// Share times are whole numbers: thousandths, so that those of a weight of 1000 can be told apart.
constexpr double kShareUnitsPerMs = 1'000;
constexpr double kShareTimeMax = 1e18;  // a clock that was set must not overflow them

EventKind kind_of(TrialState end) {
  if (end == TrialState::completed) return EventKind::trial_completed;
  if (end == TrialState::stopped) return EventKind::trial_stopped;
  return end == TrialState::failed ? EventKind::trial_failed : EventKind::trial_cancelled;
}

Suggester::End end_of(const TrialRow& trial) {
  if (trial.state != TrialState::failed) return Suggester::End::unharmed;
  return trial.exit_class == ExitClass::out_of_memory ? Suggester::End::out_of_memory : Suggester::End::failed;
}

}  // namespace

Job::Job(JobRow row, std::shared_ptr<const JobSpec> spec)
    : row_(std::move(row)), spec_(std::move(spec)), suggester_(spec_), eta_adaptation_(EtaAdaptation::of(*spec_)) {
  if (!spec_->more_objectives.empty()) scalarisation_.emplace(*spec_, decisions_);
  const auto most = std::min<std::int64_t>(trials_bound(*spec_).value_or(kTrialsMax), kTrialsMax);
  policy_ = make_policy(spec_->scheduler, spec_->objective.goal, static_cast<int>(most));
  if (spec_->scheduler.early_end) early_end_.emplace(spec_->scheduler.max_resource, spec_->objective.goal);
}

// ---- restore ------------------------------------------------------------------------------------------------------------------

void Job::restore(Rows rows) {
  trials_ = std::move(rows.trials);
  decisions_ = std::move(rows.decisions);
  findings_ = std::move(rows.findings);
  for (SegmentRow& segment : rows.segments) segments_.emplace(segment.trial.number, std::move(segment));
  findings_written_ = findings_.size();
  for (const FindingRow& finding : findings_) found_.emplace(finding.trial.number, finding.rule);
  is_new_ = false;
  row_changed_ = false;
  for (const TrialRow& trial : trials_) {
    TUNEBAND_CHECK(trial.id.number == &trial - trials_.data(), "trials are numbered without gaps");
    policy_->recall_trial(trial);
    suggester_.add_trial(trial.configuration);
    if (trial.state == TrialState::running) {
      TUNEBAND_CHECK(segments_.contains(trial.id.number), "a trial that runs has a segment");
      running_.insert(trial.id.number);
    }
    use_.recall(trial);
    if (trial.state == TrialState::paused) ++paused_;
    if (trial.state == TrialState::pending) queued_.insert(trial.id.number);
    if (may_be_reclaimed(trial)) wanted_back_.insert(trial.id.number);  // whether the job was held meanwhile is not known
    if (early_end_ && trial.state == TrialState::completed) early_end_->learn(trial.id.number, trial.curve);
  }
  if (row_.state == JobState::stopping) queued_.clear();
  for (std::size_t i = 0; i < decisions_.size(); ++i) {
    const DecisionRow& decision = decisions_[i];
    const TrialRow& its = trial(decision.trial.number);
    judged_.insert(its.id.number);
    if (decision.verdict == Verdict::waiting) undecided_[its.id.number] = i;
    policy_->recall_decision(decision, its.rung > decision.rung || ended(its.state));
    if (decision.value) note_violation(decision);
    if (!scalarisation_) learn(decision);
  }
  for (const TrialRow& trial : trials_) {
    if (ended(trial.state)) suggester_.end_trial(trial.id.number, end_of(trial));
  }
  if (scalarisation_) relearn();
  policy_->recalled();
  if (winds_down()) policy_->start_no_more();
  some_to_end_ = row_.state == JobState::stopping || has_nothing_to_do();
}

// ---- its share ----------------------------------------------------------------------------------------------------------------

std::int64_t Job::by_weight(std::int64_t worker_ms) const {
  return std::llround(std::min(static_cast<double>(worker_ms) * kShareUnitsPerMs / row_.weight, kShareTimeMax));
}

std::int64_t Job::share_time(Timestamp now, std::int64_t typical_ms, int workers_more) const {
  return row_.share_start + by_weight(use_.at(now, typical_ms, workers_more));
}

void Job::join_others_at(std::int64_t others, std::int64_t its) {
  if (others <= its) return;
  row_.share_start += others - its;
  row_changed_ = true;
}

// ---- what a user changes ------------------------------------------------------------------------------------------------------

// What it has had counts as before, of segments under way too: another weight is for what it gets from now on.
void Job::set_weight(double weight, Timestamp now) {
  const std::int64_t worker_ms = use_.at(now, 0, 0);
  const std::int64_t before = by_weight(worker_ms);
  row_.weight = weight;
  row_.share_start += before - by_weight(worker_ms);
}

bool Job::may_be_reclaimed(const TrialRow& trial) {
  return trial.state == TrialState::pending && trial.exit_class == ExitClass::worker_lost;
}

void Job::want_back() {
  wanted_back_.insert(running_.begin(), running_.end());
  for (const int number : queued_) {
    if (may_be_reclaimed(trial(number))) wanted_back_.insert(number);
  }
}

void Job::change(const JobChanges& changes, Timestamp now) {
  std::vector<std::string> changed;
  if (changes.held && *changes.held != row_.held) {
    row_.held = *changes.held;
    if (row_.held) want_back();
    changed.emplace_back(row_.held ? "held" : "released");
  }
  if (changes.weight && *changes.weight != row_.weight) {
    changed.push_back("weight " + format_number(*changes.weight) + " instead of " + format_number(row_.weight));
    set_weight(*changes.weight, now);
  }
  if (changes.max_parallel_trials && *changes.max_parallel_trials != row_.max_parallel_trials) {
    changed.push_back("max_parallel_trials " + std::to_string(*changes.max_parallel_trials) + " instead of " +
                      std::to_string(row_.max_parallel_trials));
    row_.max_parallel_trials = *changes.max_parallel_trials;
  }
  if (changes.max_runtime_ms && changes.max_runtime_ms != row_.max_runtime_ms) {
    changed.push_back("max_runtime_seconds " + runtime_in_words(changes.max_runtime_ms) + " instead of " +
                      runtime_in_words(row_.max_runtime_ms));
    row_.max_runtime_ms = changes.max_runtime_ms;
  }
  if (!changed.empty()) {
    record(EventKind::job_changed, join_and(changed));
    row_changed_ = true;
  }
  if (changes.starts_no_more && !winds_down()) wind_down(kNoMoreForTheUser);
}

// ---- rows ---------------------------------------------------------------------------------------------------------------------

TrialRow& Job::mutate(int number) {
  trials_changed_.insert(number);
  return trials_[static_cast<std::size_t>(number)];
}

EventRow& Job::record(EventKind kind, std::string message) {
  EventRow& event = events_.emplace_back();
  event.kind = kind;
  event.job = row_.id;
  event.message = std::move(message);
  return event;
}

EventRow& Job::record(EventKind kind, const TrialRow& trial, std::string message) {
  EventRow& event = record(kind, std::move(message));
  event.trial = trial.id.number;
  event.worker = trial.worker;
  event.resource = trial.resource;
  return event;
}

void Job::flush(std::vector<Write>& writes, std::vector<EventRow>& events) {
  if (row_changed_) {
    JobRow row = row_;
    if (!is_new_) row.spec_json.clear();
    writes.emplace_back(std::move(row));
  }
  for (const int number : trials_changed_) writes.emplace_back(trial(number));
  for (SegmentRow& segment : segment_rows_) writes.emplace_back(std::move(segment));
  for (ObservationRow& observation : observations_) writes.emplace_back(std::move(observation));
  for (const std::size_t sequence : decisions_changed_) writes.emplace_back(decisions_[sequence]);
  for (; findings_written_ < findings_.size(); ++findings_written_) writes.emplace_back(findings_[findings_written_]);
  std::move(events_.begin(), events_.end(), std::back_inserter(events));
  events_.clear();
  is_new_ = row_changed_ = began_stopping_ = false;
  trials_changed_.clear();
  segment_rows_.clear();
  observations_.clear();
  decisions_changed_.clear();
}

// ---- results ------------------------------------------------------------------------------------------------------------------

void Job::arrive(TrialRow& trial, std::optional<double> value, Timestamp now, const std::string& early) {
  add_decision(trial, value, now);
  if (value) pause(trial);
  note_progress(trial, value);
  std::vector<Decision> decisions;
  policy_->arrive(arrival_of(decisions_.back()), decisions);
  apply(decisions, now, early);
  if (value && undecided_.contains(trial.id.number)) record(EventKind::trial_paused, trial);
}

// One that waits; the sampler learns from it.
void Job::add_decision(const TrialRow& trial, std::optional<double> value, Timestamp now) {
  DecisionRow decision;
  decision.trial = trial.id;
  decision.bracket = trial.bracket;
  decision.rung = trial.rung;
  decision.resource = trial.until_resource;
  decision.sequence = static_cast<std::int64_t>(decisions_.size());
  decision.value = value;
  if (value) {
    decision.violation = trial.violation;
    decision.more_values = trial.more_objectives;
  }
  decision.at = now;
  undecided_[trial.id.number] = decisions_.size();
  decisions_changed_.insert(decisions_.size());
  decisions_.push_back(std::move(decision));
  if (scalarisation_ && scalarisation_->outdated(decisions_)) {
    relearn();
  } else {
    learn(decisions_.back());
  }
}

void Job::pause(TrialRow& trial) {
  trial.state = TrialState::paused;
  trial.attempts = 0;
  trial.exit_class.reset();
  trial.crash.clear();
  ++paused_;
  row_.failures_in_a_row = 0;
  row_.failing_with.reset();
}

// Of the job, by the last decision.
void Job::note_progress(const TrialRow& trial, std::optional<double> value) {
  const bool at_max_resource = trial.until_resource == spec_->scheduler.max_resource;
  const bool improved = value && Bests(*spec_, decisions_, row_).take(decisions_.back());
  const bool nearer = value && note_violation(decisions_.back());
  if (early_end_ && at_max_resource && value) early_end_->learn(trial.id.number, trial.curve);
  // What the user stops says nothing of what is still to be found.
  const bool by_user = trial.state == TrialState::stopped;
  if (judged_.insert(trial.id.number).second && !by_user) ++row_.trials_since_improvement;
  if (improved || nearer) row_.trials_since_improvement = 0;
  if (!improved) return;
  EventRow& event = record(EventKind::job_improved, trial);
  event.resource = trial.until_resource;
  event.value = value;
}

void Job::learn(const DecisionRow& decision) {
  if (!decision.value) return;
  const double cost = scalarisation_ ? scalarisation_->cost(decision) : cost_of(*decision.value, spec_->objective.goal);
  suggester_.add_result(decision.trial.number, decision.resource, {cost, decision.violation});
}

// Costs of one scale alone can be compared: with a new one the sampler begins anew and reads everything again.
void Job::relearn() {
  scalarisation_.emplace(*spec_, decisions_);
  suggester_.begin_anew();
  for (const TrialRow& trial : trials_) suggester_.add_trial(trial.configuration);
  for (const DecisionRow& decision : decisions_) learn(decision);
  for (const TrialRow& trial : trials_) {
    if (ended(trial.state)) suggester_.end_trial(trial.id.number, end_of(trial));
  }
}

// While nothing meets the constraints: it came nearer to them than all before it that broke them. What met them and broke them
// later is no standard.
bool Job::note_violation(const DecisionRow& result) {
  const double before = least_violation_;
  if (result.violation > 0 && std::isfinite(*result.value)) least_violation_ = std::min(before, result.violation);
  return least_violation_ < before && !row_.best_anywhere;
}

// What the user enqueued stays as it is.
std::string Job::adapt_eta(TrialRow& trial) {
  if (!eta_adaptation_ || trial.origin != kOfSampler) return "";
  auto change = eta_adaptation_->of_trial(trial);
  if (!change) return "";
  if (trial.kept_value && !trial.kept_eta) trial.kept_eta = change->eta_before;
  trial.configuration = std::move(change->configuration);
  suggester_.reconfigure(trial.id.number, trial.configuration);
  return std::move(change->why);
}

void Job::apply(const std::vector<Decision>& decisions, Timestamp now, const std::string& early) {
  for (const Decision& decision : decisions) {
    const auto waiting = undecided_.find(decision.trial);
    TUNEBAND_CHECK(waiting != undecided_.end(), "every decision is taken once");
    DecisionRow& row = decisions_[waiting->second];
    decisions_changed_.insert(waiting->second);
    undecided_.erase(waiting);
    const bool ends_early = !early.empty() && decision.verdict == Verdict::completed;
    row.verdict = ends_early ? Verdict::stopped : decision.verdict;
    row.rank = decision.rank;
    row.filled = decision.filled;
    row.slots = decision.slots;
    row.keep = decision.keep;
    row.cutoff = decision.cutoff;
    row.ahead = decision.ahead;
    row.rule = ends_early ? early : decision.rule;
    row.at = now;
    TrialRow& trial = mutate(decision.trial);
    if (!row.value && trial.exit_class == ExitClass::stopped_by_rule)
      row.rule = "a rule of the debugger stopped it before it reached this rung";
    if (!row.value && trial.state == TrialState::stopped)
      row.rule = std::string(kStoppedByTheUser) + " before it reached this rung";
    if (ended(trial.state)) continue;  // failed, or the user stopped it
    if (row.verdict == Verdict::promoted) {
      row.note = adapt_eta(trial);
      record(EventKind::trial_promoted, trial, row.note);
    }
    if (row.verdict == Verdict::completed) end_trial(trial, TrialState::completed, now);
    if (row.verdict == Verdict::stopped) {
      const bool with_its_job = ends_early && row_.state == JobState::stopping;
      end_trial(trial, with_its_job ? TrialState::cancelled : TrialState::stopped, now, ends_early ? early : "");
    }
  }
}

// What it told of a target that it did not come to. The value of the rung below counts again.
void Job::forget_value_not_taken(TrialRow& trial) const {
  if (trial.objective_resource == 0 || trial.objective_resource != trial.until_resource) return;
  const auto is_its = [&](const DecisionRow& one) { return one.trial == trial.id && one.value; };
  const auto taken = std::find_if(decisions_.rbegin(), decisions_.rend(), is_its);
  const DecisionRow last = taken == decisions_.rend() ? DecisionRow{} : *taken;
  trial.objective = last.value;
  trial.objective_resource = last.value ? last.resource : 0;
  trial.violation = last.violation;
  trial.more_objectives = last.more_values;
  if (!spec_->keeps_best) trial.standard_error.reset();
}

void Job::end_trial(TrialRow& trial, TrialState state, Timestamp now, const std::string& why) {
  if (trial.state == TrialState::paused) {
    --paused_;
  } else {
    forget_value_not_taken(trial);
  }
  trial.state = state;
  trial.ended_at = now;
  suggester_.end_trial(trial.id.number, end_of(trial));
  if (state == TrialState::completed) ++row_.trials_completed;
  if (state == TrialState::stopped) ++row_.trials_stopped;
  if (state == TrialState::failed) ++row_.trials_failed;
  if (state == TrialState::cancelled) ++row_.trials_cancelled;
  const bool failed = state == TrialState::failed;
  record(kind_of(state), trial, failed ? trial.message : why).exit_class = failed ? trial.exit_class : std::nullopt;
  trials_changed_.insert(trial.id.number);
  row_changed_ = true;
}

}  // namespace tuneband

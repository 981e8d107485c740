#include "scheduler/job.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "core/check.hpp"
#include "core/text.hpp"
#include "debugger/rule.hpp"
#include "scheduler/candidates.hpp"
#include "scheduler/finding_row.hpp"
#include "scheduler/plan.hpp"

namespace tuneband {

namespace {

constexpr int kAssignmentsInVainMax = 10;                          // to workers that were told to end, of one trial, at no charge
constexpr std::int64_t kSegmentTrainingMsMax = 1'000'000'000'000;  // 30 years: a worker's word must not overflow the sums

// Share times are whole numbers: thousandths, so that those of a weight of 1000 can be told apart.
constexpr double kShareUnitsPerMs = 1'000;
constexpr double kShareTimeMax = 1e18;  // a clock that was set must not overflow them

void add(const Job::Use& more, Job::Use& use) {
  use.worker_ms += more.worker_ms;
  use.segments += more.segments;
}

std::int64_t begun_ms(const TrialRow& trial) { return trial.assigned_at.value_or(trial.created_at).ms; }

// A worker's word: the segment writes where the trial's files are already, or into a directory of its own.
Epoch files_epoch_of(const TrialRow& trial, Epoch told) {
  return told == trial.files_epoch && told.value != 0 ? told : trial.epoch;
}

EventKind kind_of(TrialState end) {
  if (end == TrialState::completed) return EventKind::trial_completed;
  if (end == TrialState::stopped) return EventKind::trial_stopped;
  return end == TrialState::failed ? EventKind::trial_failed : EventKind::trial_cancelled;
}

EventKind kind_of(JobState end) {
  if (end == JobState::completed) return EventKind::job_completed;
  return end == JobState::stopped ? EventKind::job_stopped : EventKind::job_failed;
}

// "until 9 with 2 workers, attempt 2, warm".
std::string start_in_words(const TrialRow& trial, bool warm) {
  std::string words = "until " + std::to_string(trial.until_resource);
  if (trial.replicas() > 1) words += " with " + std::to_string(trial.replicas()) + " workers";
  if (trial.attempts > 1) words += ", attempt " + std::to_string(trial.attempts);
  return warm ? words + ", warm" : words;
}

std::string runtime_in_words(const std::optional<std::int64_t>& ms) {
  return ms ? format_number(static_cast<double>(*ms) / 1000) : "none";
}

Suggester::End end_of(const TrialRow& trial) {
  if (trial.state != TrialState::failed) return Suggester::End::unharmed;
  return trial.exit_class == ExitClass::out_of_memory ? Suggester::End::out_of_memory : Suggester::End::failed;
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

std::string why_early(const EarlyEnd::Word& word, const TrialRow& trial, const BestRow& best) {
  return "ended early, after " + std::to_string(trial.resource) + " of " + std::to_string(trial.until_resource) + ", with " +
         short_number(word.best) + " as its best value; by the largest gain that another still had from there (" +
         short_number(word.gain) + ", trial " + std::to_string(word.gain_of) + ") and by its own slope it comes to " +
         short_number(word.forecast) + " at the most, and the best has " + short_number(best.value) + " (trial " +
         std::to_string(best.trial) + ")";
}

std::string why_unfinished(const TrialRow& trial) {
  return "its job ended when it had " + std::to_string(trial.resource) + " of " + std::to_string(trial.until_resource) +
         ": the best so far counts";
}

std::string at_target(int trial, double target) {
  return "trial " + std::to_string(trial) + " reached the target " + format_number(target);
}

// `on_the_way`: where it did, before its rung.
std::string at_target(const TrialRow& trial, double target, std::int64_t on_the_way) {
  return at_target(trial.id.number, target) + " at " + std::to_string(on_the_way) + " of " + std::to_string(trial.until_resource);
}

bool synchronous(SchedulerType type) { return type == SchedulerType::hyperband || type == SchedulerType::successive_halving; }

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
      workers_busy_ += trial.replicas();
      busy_since_ms_ += begun_ms(trial) * trial.replicas();
    }
    add(use_of(trial), use_);
    if (trial.state == TrialState::paused) ++paused_;
    if (trial.state == TrialState::pending) queued_.insert(trial.id.number);
    if (early_end_ && trial.state == TrialState::completed) early_end_->learn(trial.id.number, trial.curve);
  }
  some_to_end_ = row_.state == JobState::stopping;
  if (some_to_end_) queued_.clear();
  for (std::size_t i = 0; i < decisions_.size(); ++i) {
    const DecisionRow& decision = decisions_[i];
    const TrialRow& its = trial(decision.trial.number);
    judged_.insert(its.id.number);
    if (decision.verdict == Verdict::waiting) undecided_[its.id.number] = i;
    policy_->recall_decision(decision, its.rung > decision.rung || ended(its.state));
    if (decision.value && std::isfinite(*decision.value)) least_violation_ = std::min(least_violation_, decision.violation);
    if (!scalarisation_) learn(decision);
  }
  for (const TrialRow& trial : trials_) {
    if (ended(trial.state)) suggester_.end_trial(trial.id.number, end_of(trial));
  }
  if (scalarisation_) relearn();
  policy_->recalled();
  if (winds_down()) policy_->start_no_more();
}

// ---- its share ----------------------------------------------------------------------------------------------------------------

// Of its segments that are over.
Job::Use Job::use_of(const TrialRow& trial) {
  const std::int64_t over = trial.attempts_in_all - (trial.state == TrialState::running ? 1 : 0);
  return {(trial.assigned_ms + over) * trial.replicas(), over * trial.replicas()};
}

std::int64_t Job::by_weight(std::int64_t worker_ms) const {
  return std::llround(std::min(static_cast<double>(worker_ms) * kShareUnitsPerMs / row_.weight, kShareTimeMax));
}

std::int64_t Job::share_time(Timestamp now, std::int64_t typical_ms, int workers_more) const {
  const std::int64_t lasted_ms = workers_busy_ * now.ms - busy_since_ms_;
  const std::int64_t under_way_ms = std::max(lasted_ms, workers_busy_ * typical_ms);
  return row_.share_start + by_weight(use_.worker_ms + under_way_ms + workers_more * typical_ms);
}

void Job::join_others_at(std::int64_t others, std::int64_t its) {
  if (others <= its) return;
  row_.share_start += others - its;
  row_changed_ = true;
}

// ---- what a user changes ------------------------------------------------------------------------------------------------------

// What it has had counts as before: another weight is for what it gets from now on.
void Job::set_weight(double weight) {
  const std::int64_t before = by_weight(use_.worker_ms);
  row_.weight = weight;
  row_.share_start += before - by_weight(use_.worker_ms);
}

void Job::change(const JobChanges& changes) {
  std::vector<std::string> changed;
  if (changes.held && *changes.held != row_.held) {
    row_.held = *changes.held;
    if (row_.held) wanted_back_ = running_;
    changed.emplace_back(row_.held ? "held" : "released");
  }
  if (changes.weight && *changes.weight != row_.weight) {
    changed.push_back("weight " + format_number(*changes.weight) + " instead of " + format_number(row_.weight));
    set_weight(*changes.weight);
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

// ---- what runs next -----------------------------------------------------------------------------------------------------------

bool Job::has_work(int usable) const {
  if (!has_room()) return false;
  if (first_queued(usable)) return true;
  if (!queued_.empty() || awaits_suggestion()) return false;
  return (begun_ || policy_->has_work()) && spec_->replicas.front() <= usable;
}

std::optional<int> Job::first_queued(int usable) const {
  const auto found = std::find_if(queued_.begin(), queued_.end(),
                                  [&](int number) { return spec_->replicas_of(trial(number).configuration) <= usable; });
  return found == queued_.end() ? std::nullopt : std::optional(*found);
}

int Job::replicas_at_least() const {
  return queued_.empty() ? spec_->replicas.front() : spec_->replicas_of(trial(*queued_.begin()).configuration);
}

std::optional<int> Job::next_replicas(int usable, Timestamp now) {
  if (queued_.empty() && spec_->replicas.size() == 1) return spec_->replicas.front();
  if (queued_.empty()) {
    const auto number = choose(std::nullopt, now);
    if (!number) return std::nullopt;
    TrialRow& trial = mutate(*number);
    if (trial.state == TrialState::paused) --paused_;
    trial.state = TrialState::pending;
    queued_.insert(*number);
  }
  const auto next = first_queued(usable);
  return next ? std::optional(spec_->replicas_of(trial(*next).configuration)) : std::nullopt;
}

std::optional<int> Job::take(std::optional<int> preferred, int usable, Timestamp now) {
  if (const auto number = first_queued(usable)) {
    queued_.erase(*number);
    return number;
  }
  return choose(preferred, now);
}

// What waits only for its configuration comes first: the policy counts on it.
std::optional<int> Job::choose(std::optional<int> preferred, Timestamp now) {
  if (begun_) return create_trial(now);
  if (step_is_wanted()) return std::nullopt;
  std::vector<Decision> decisions;
  const auto work = policy_->take(preferred, decisions);
  TUNEBAND_CHECK(work.has_value(), "a policy that has work gives it");
  apply(decisions, now);
  if (!work->trial) {
    begun_ = *work;
    return create_trial(now);
  }
  head_for(mutate(*work->trial), *work);
  return *work->trial;
}

void Job::head_for(TrialRow& trial, const Work& work) const {
  trial.rung = work.rung;
  trial.until_resource = work.until_resource;
  if (spec_->scheduler.restarts) trial.checkpoint_resource = 0;  // the rung below was another training
}

// The model is to say first what is next. Of an answer that cannot be had any more nothing is known: it is asked again. What the
// user enqueued comes before all that it may say.
bool Job::step_is_wanted() {
  auto answer = std::exchange(step_, std::nullopt);
  if (!suggester_.chooses_steps() || trials_.size() < spec_->enqueue.size()) return false;
  auto waiting = policy_->models_turn();
  if (!waiting || (answer && !answer->step)) return false;
  if (answer && policy_->choose(*answer->step)) {
    if (answer->step->trial == kNewTrial) suggestion_ = std::move(answer);
    return false;
  }
  asking_ = true;
  const auto index = static_cast<std::int64_t>(trials_.size() - spec_->enqueue.size());
  wanted_ = SuggestionWanted{row_.id, static_cast<int>(trials_.size()),
                             suggester_.lend_for_step(index, step_question(*std::move(waiting)))};
  return true;
}

StepQuestion Job::step_question(std::vector<TrialAtLevel> waiting) const {
  StepQuestion question;
  question.waiting = std::move(waiting);
  question.restarts = spec_->scheduler.restarts;
  for (const std::set<int>* numbers : {&running_, &queued_}) {
    for (const int number : *numbers) question.under_way.push_back({number, trial(number).bracket + trial(number).rung});
  }
  return question;
}

// False: its suggestion is wanted first. `note`: why it is not what the sampler proposed.
bool Job::configure(TrialRow& trial, std::string& note) {
  const auto number = static_cast<std::size_t>(trial.id.number);
  const std::size_t enqueued = spec_->enqueue.size();
  trial.origin = number < enqueued ? kEnqueued : kOfSampler;
  if (number < enqueued) {
    trial.configuration = spec_->enqueue[number];
    return true;
  }
  const auto index = static_cast<std::int64_t>(number - enqueued);
  if (begun_->at_random && !suggester_.is_quick()) {
    Suggestion drawn = suggester_.suggest_at_random(index);
    trial.configuration = std::move(drawn.configuration);
    note = std::move(drawn.note);
    return true;
  }
  if (!suggestion_ && !suggester_.is_quick()) {
    wanted_ = SuggestionWanted{row_.id, trial.id.number, suggester_.lend(index)};
    return false;
  }
  Suggestion suggestion = suggestion_ ? *std::exchange(suggestion_, std::nullopt) : suggester_.suggest(index);
  note_expected_improvement(suggestion.expected_improvement);
  trial.configuration = std::move(suggestion.configuration);
  note = std::move(suggestion.note);
  return true;
}

// Of the work begun. Nothing: not before its suggestion is made.
std::optional<int> Job::create_trial(Timestamp now) {
  const int number = static_cast<int>(trials_.size());
  TrialRow trial;
  trial.id = {row_.id, number};
  std::string note;
  if (!configure(trial, note)) return std::nullopt;
  trial.bracket = begun_->bracket;
  trial.rung = begun_->rung;
  trial.until_resource = begun_->until_resource;
  trial.created_at = now;
  begun_.reset();
  suggester_.add_trial(trial.configuration);
  trials_.push_back(std::move(trial));
  record(EventKind::trial_created, trials_.back(), std::move(note));
  ++row_.trials_created;
  row_changed_ = true;
  return number;
}

void Job::suggested(Suggestion suggestion) {
  if (!suggester_.lent()) return;
  suggester_.give_back();
  if (std::exchange(asking_, false)) {
    step_ = std::move(suggestion);
  } else if (begun_) {
    suggestion_ = std::move(suggestion);
  }
}

void Job::note_expected_improvement(std::optional<double> expected) {
  if (!expected) return;
  row_.expected_improvement = expected;
  row_.suggestions_below = *expected < spec_->limits.convergence->tolerance ? row_.suggestions_below + 1 : 0;
}

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
  trial.segment_training_ms = 0;
  trial.assigned_at = now;
  if (!trial.started_at) trial.started_at = now;
  ++trial.attempts;
  ++trial.attempts_in_all;
  running_.insert(number);
  wanted_back_.erase(number);
  workers_busy_ += trial.replicas();
  busy_since_ms_ += begun_ms(trial) * trial.replicas();
  row_changed_ = true;
  write_segment(segments_.insert_or_assign(number, segment_of(trial, now)).first->second);
  record(EventKind::trial_started, trial, start_in_words(trial, warm));
}

// ---- what happened to a segment -----------------------------------------------------------------------------------------------

// False: it says nothing new.
bool Job::observe(TrialRow& trial, const ReportedObservation& observation, Timestamp now) {
  const bool past_target = observation.resource > trial.until_resource;
  const bool known = observation.resource <= trial.resource;
  if (past_target || known) return false;  // an overstepped rung counts with the value at its level
  const bool replaces = spec_->scheduler.restarts && observation.resource <= trial.objective_resource;
  const auto objective = find_metric(observation.metrics, spec_->objective.metric);
  ObservationRow row{trial.id, observation.resource, objective, observation.metrics, now, replaces};
  if (row.objective && observation.resource == trial.until_resource && trial.objective_resource < trial.until_resource) {
    trial.objective = row.objective;
    trial.objective_resource = observation.resource;
    note_objectives(trial, row.metrics);
  }
  row_.resource_spent += observation.resource - trial.resource;
  trial.resource = observation.resource;
  if (early_end_ && objective) early_end_->note(trial.curve, observation.resource, *objective);
  observations_.push_back(std::move(row));
  return true;
}

// As its trainer tells it beside the objective, under the objective's name with kStandardErrorEnding. Nothing: it does not.
std::optional<double> Job::standard_error(const Metrics& metrics) const {
  const auto found = find_metric(metrics, spec_->objective.metric + kStandardErrorEnding);
  return found && std::isfinite(*found) && *found >= 0 ? found : std::nullopt;
}

// What else counts of the report that has the objective's value at a rung.
void Job::note_objectives(TrialRow& trial, const Metrics& metrics) {
  if (!spec_->keeps_best) trial.standard_error = standard_error(metrics);
  trial.violation = spec_->violation(metrics);
  trial.more_objectives.clear();
  for (const Objective& objective : spec_->more_objectives) {
    const auto value = find_metric(metrics, objective.metric);
    trial.more_objectives.push_back(value.value_or(std::numeric_limits<double>::quiet_NaN()));
  }
}

// At a rung the segment leaves a model, of its best resource or of its last.
void Job::take_model(TrialRow& trial, const AssignmentReport& report) {
  if (!spec_->keeps_best && trial.objective_resource == trial.until_resource) trial.test_value = report.test_value;
  if (spec_->keeps_best && report.kept) keep(trial, *report.kept, report.test_value);
}

std::optional<double> Job::value_to_better(const TrialRow& trial) const {
  const bool of_other_folds = spec_->early_work < 1 && trial.until_resource == spec_->scheduler.max_resource;
  return of_other_folds ? std::nullopt : trial.kept_value;
}

// What a worker says that it kept has: a finite value, of a resource that the trial came to. Nothing: it does not count.
std::optional<double> Job::value_of_kept(const TrialRow& trial, const ReportedObservation& kept) const {
  const auto value = find_metric(kept.metrics, spec_->objective.metric);
  const bool counts = value && std::isfinite(*value) && kept.resource >= 1 && kept.resource <= trial.resource;
  return counts ? value : std::nullopt;
}

// What counts at the rung is the value of the best resource on the way; the model that the trial has is the best of all rungs.
void Job::keep(TrialRow& trial, const ReportedObservation& kept, std::optional<double> test_value) {
  const auto value = value_of_kept(trial, kept);
  if (!value || trial.objective_resource != trial.until_resource) return;
  trial.objective = value;
  trial.best_resource = kept.resource;
  const auto before = value_to_better(trial);
  if (before && !spec_->objective.better(*value, *before)) return;
  trial.kept_value = value;
  trial.kept_resource = kept.resource;
  trial.kept_until_resource = trial.until_resource;
  trial.kept_eta.reset();
  trial.test_value = test_value;
  trial.standard_error = standard_error(kept.metrics);
}

// A training that its job ends with, before its time: the best that it came to counts like any other where it is the job's best,
// and its model is there. Below max_resource it has to have reached the target for that.
void Job::take_unfinished(TrialRow& trial, const AssignmentReport& report) {
  if (row_.state != JobState::stopping || !spec_->keeps_best || !report.kept) return;
  const bool full = trial.until_resource == spec_->scheduler.max_resource;
  const bool counts = full || (spec_->rungs_compare() && meets_target(report.kept->metrics));
  if (!counts || spec_->violation(report.kept->metrics) > 0) return;
  const auto value = value_of_kept(trial, *report.kept);
  if (!value || (row_.best && !spec_->objective.better(*value, row_.best->value))) return;
  trial.objective_resource = trial.until_resource;
  note_objectives(trial, report.kept->metrics);
  keep(trial, *report.kept, report.test_value);
  trial.files_epoch = files_epoch_of(trial, report.files_epoch);
}

bool Job::meets_target(const Metrics& metrics) const {
  const Objective& objective = spec_->objective;
  const auto value = find_metric(metrics, objective.metric);
  return objective.target && value && std::isfinite(*value) && !objective.better(*objective.target, *value) &&
         spec_->violation(metrics) == 0;
}

// Whether what ends the job came before its rung, and counts. Of fewer folds a value is no measure, and of a training by XGBoost
// that does not keep its best round there is no model of a round that is over.
bool Job::meets_target_on_the_way(const TrialRow& trial, const ReportedObservation& observation) const {
  const bool is_news = observation.resource > trial.resource && observation.resource < trial.until_resource;
  if (row_.state != JobState::running || !is_news || !meets_target(observation.metrics)) return false;
  const bool full = trial.until_resource == spec_->scheduler.max_resource;
  return spec_->keeps_best ? spec_->rungs_compare() || full : !trains_xgboost(spec_->trainer);
}

bool Job::report(int number, const AssignmentReport& report, Timestamp now) {
  bool ends_here = false;
  TrialRow& trial = trials_[static_cast<std::size_t>(number)];
  bool news = false;
  // Still in memory from the rung below: what is trained begins there.
  if (spec_->scheduler.restarts && report.began_resource > trial.resource && report.began_resource < trial.until_resource) {
    trial.resource = report.began_resource;
  }
  for (const ReportedObservation& observation : report.observations) {
    if (meets_target_on_the_way(trial, observation) && (!spec_->keeps_best || !report.exit)) {
      begin_stopping(JobState::completed, at_target(trial, *spec_->objective.target, observation.resource));
      ends_here = !spec_->keeps_best;  // else the worker says what it kept once it has stopped
      if (ends_here) trial.until_resource = observation.resource;
      if (ends_here) trial.objective_resource = 0;  // of a rung below, where this training began anew
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
  if (report.exit == ExitClass::completed) take_model(trial, report);
  if (report.exit == ExitClass::stopped) take_unfinished(trial, report);
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

void Job::take_findings(int number, const std::vector<debugger::Finding>& findings, Timestamp now) {
  for (const debugger::Finding& finding : findings) take_finding(number, finding, now);
}

// A segment that goes on is told again what was saved, and may have less of it than the one before had seen: the most counts.
void Job::take_rules(int number, const std::vector<debugger::RuleStanding>& rules, Timestamp now) {
  std::vector<RuleState> states = trial(number).rules;
  for (const debugger::RuleStanding& told : rules) {
    if (!spec_->debugger || spec_->debugger->rule(told.rule) == nullptr) continue;
    const auto known =
        std::find_if(states.begin(), states.end(), [&](const RuleState& state) { return state.standing.rule == told.rule; });
    if (known == states.end()) {
      states.push_back({told, now});
      continue;
    }
    debugger::RuleStanding next = told;
    next.saved = std::max(next.saved, known->standing.saved);
    next.judged = std::max(next.judged, known->standing.judged);
    next.last_step = std::max(next.last_step, known->standing.last_step);
    if (!next.says_as(known->standing)) known->at = now;
    known->standing = std::move(next);
  }
  if (states == trial(number).rules) return;
  mutate(number).rules = std::move(states);
}

// Of each rule of the job the first in a trial. Its action on the trial is the worker's, who ends the segment with it.
void Job::take_finding(int number, const debugger::Finding& finding, Timestamp now) {
  const debugger::RuleSpec* rule = spec_->debugger ? spec_->debugger->rule(finding.rule) : nullptr;
  if (rule == nullptr || !found_.emplace(number, finding.rule).second) return;
  FindingRow row = finding_row(finding, {row_.id, number}, rule->action, now);
  row.sequence = static_cast<std::int64_t>(findings_.size());
  if (!rule->webhook.empty()) row.webhook = kWebhookPending;
  record(EventKind::finding, trial(number), finding.rule + ": " + finding.message);
  findings_.push_back(std::move(row));
  if (rule->action != debugger::Action::stop_job) return;
  const bool some_value = row_.best_anywhere.has_value();
  begin_stopping(
      some_value ? JobState::stopped : JobState::failed,
      "the rule `" + finding.rule + "` stopped the job: " + finding.message + " (trial " + std::to_string(number) + ")");
}

void Job::leave_worker(TrialRow& trial, Timestamp now) {
  TUNEBAND_CHECK(trial.state == TrialState::running, "only a running trial leaves a worker");
  const std::int64_t lasted_ms = trial.assigned_at ? std::max<std::int64_t>(0, now - *trial.assigned_at) : 0;
  busy_since_ms_ -= begun_ms(trial) * trial.replicas();
  add({(lasted_ms + 1) * trial.replicas(), trial.replicas()}, use_);
  trial.assigned_ms += lasted_ms;
  SegmentRow& segment = segments_.at(trial.id.number);
  segment.resource = trial.resource;
  segment.ended_at = Timestamp{begun_ms(trial)}.plus_ms(lasted_ms);
  trial.assigned_at.reset();
  running_.erase(trial.id.number);
  workers_busy_ -= trial.replicas();
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

void Job::given_back(int number, Timestamp now) {
  TrialRow& trial = mutate(number);
  leave_worker(trial, now);
  if (row_.state == JobState::stopping) {
    const bool counts = trial.objective_resource == trial.until_resource && trial.best_resource > 0;  // take_unfinished()
    if (counts) arrive(trial, trial.objective, now, why_unfinished(trial));
    if (!ended(trial.state)) end_trial(trial, TrialState::cancelled, now);
    return end_segment(trial);
  }
  --trial.attempts;
  trial.exit_class.reset();  // of an earlier attempt: this one's end is nobody's fault
  trial.message.clear();
  trial.state = TrialState::pending;
  queued_.insert(number);
  end_segment(trial);
  record(EventKind::trial_given_back, trial);
}

void Job::worker_wants_to_end(int number, bool went_on, Timestamp now) {
  const TrialRow& its = trial(number);
  const int assigned_in_vain = its.attempts_in_all - its.rung - 1;
  if (went_on || assigned_in_vain < kAssignmentsInVainMax) return given_back(number, now);
  segment_ended(
      number,
      {ExitClass::worker_lost, "its worker was told to end (SIGTERM), as others were before it, and the trial did not get on"},
      now);
}

std::optional<int> Job::reclaimable(const WorkerId& worker, Epoch epoch) const {
  const auto found = std::find_if(queued_.begin(), queued_.end(), [&](int number) {
    const TrialRow& its = trial(number);
    return its.epoch == epoch && its.worker == worker && its.peers.empty() && its.exit_class == ExitClass::worker_lost;
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
  ++workers_busy_;
  busy_since_ms_ += begun_ms(trial);
  add({-1, -1}, use_);  // the same start
  SegmentRow& segment = segments_.try_emplace(number, segment_of(trial, now)).first->second;
  segment.ended_at.reset();
  segment.outcome.reset();
  write_segment(segment);
  row_changed_ = true;
  record(EventKind::trial_reclaimed, trial);
}

// The same crash at the same place, twice in a row, is the configuration's: a third attempt would end the same way.
void Job::retry_or_fail(TrialRow& trial, const SegmentEnd& end, Timestamp now) {
  const std::string crash = end.crash.empty() ? "" : end.crash + " at resource " + std::to_string(trial.resource);
  const bool came_again = !crash.empty() && crash == trial.crash;
  trial.crash = crash;
  const bool attempts_left = retryable(end.exit) && trial.attempts < spec_->limits.max_attempts;
  if (attempts_left && came_again)
    return fail(trial, end.exit, "twice in a row with " + crash + ", so not tried again: " + end.message, now);
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

void Job::end_trial(TrialRow& trial, TrialState state, Timestamp now, const std::string& why) {
  if (trial.state == TrialState::paused) --paused_;
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

// ---- results ------------------------------------------------------------------------------------------------------------------

void Job::arrive(TrialRow& trial, std::optional<double> value, Timestamp now, const std::string& early) {
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
  if (value) {
    trial.state = TrialState::paused;
    trial.attempts = 0;
    trial.exit_class.reset();
    trial.crash.clear();
    ++paused_;
    row_.failures_in_a_row = 0;
    row_.failing_with.reset();
  }
  const bool at_max_resource = trial.until_resource == spec_->scheduler.max_resource;
  const bool improved = value && note_value(decisions_.back());
  const bool nearer = value && note_violation(decisions_.back());
  if (early_end_ && at_max_resource && value) early_end_->learn(trial.id.number, trial.curve);
  // What the user stops says nothing of what is still to be found.
  const bool by_user = trial.state == TrialState::stopped;
  if (judged_.insert(trial.id.number).second && !by_user) ++row_.trials_since_improvement;
  if (improved || nearer) row_.trials_since_improvement = 0;
  if (improved) {
    EventRow& event = record(EventKind::job_improved, trial);
    event.resource = trial.until_resource;
    event.value = value;
  }

  std::vector<Decision> decisions;
  policy_->arrive(arrival_of(decisions_.back()), decisions);
  apply(decisions, now, early);
  if (value && undecided_.contains(trial.id.number)) record(EventKind::trial_paused, trial);
}

void Job::learn(const DecisionRow& decision) {
  if (!decision.value) return;
  const bool maximize = spec_->objective.goal == Goal::maximize;
  const double cost = scalarisation_ ? scalarisation_->cost(decision) : maximize ? -*decision.value : *decision.value;
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

// True: better than everything before it.
bool Job::note_value(const DecisionRow& result) {
  const TrialRow& its = trial(result.trial.number);
  if (result.violation > 0) forget_bests_of(its);
  const auto finite = [](double one) { return std::isfinite(one); };
  const bool counts =
      finite(*result.value) && result.violation == 0 && std::all_of(result.more_values.begin(), result.more_values.end(), finite);
  if (!counts) return false;
  const auto better = [&](const std::optional<BestRow>& best) {
    if (!best || spec_->objective.better(*result.value, best->value)) return true;
    return *result.value == best->value && better_of_equals(result, *best);
  };
  const BestRow best{its.id.number, result.resource, *result.value};
  if ((result.resource == spec_->scheduler.max_resource || spec_->rungs_compare()) && better(row_.best)) row_.best = best;
  if (!better(row_.best_anywhere)) return false;
  const bool equal = row_.best_anywhere && row_.best_anywhere->value == *result.value;
  row_.best_anywhere = best;
  return !equal;
}

// While nothing has met the constraints: it came nearer to them than all before it.
bool Job::note_violation(const DecisionRow& result) {
  const bool is_sought = !spec_->constraints.empty() && !row_.best_anywhere && std::isfinite(*result.value);
  if (!is_sought || !(result.violation < least_violation_)) return false;
  least_violation_ = result.violation;
  return true;
}

// It went on, and breaks the constraints now: what met them before is gone.
void Job::forget_bests_of(const TrialRow& its) {
  const auto is_its = [&](const std::optional<BestRow>& best) { return best && best->trial == its.id.number; };
  if (!is_its(row_.best) && !is_its(row_.best_anywhere)) return;
  row_.best.reset();
  row_.best_anywhere.reset();
  std::map<int, std::vector<const DecisionRow*>> left;
  for (const DecisionRow& result : decisions_) {
    if (!result.value) continue;
    auto& of_trial = left[result.trial.number];
    if (result.violation > 0) {
      of_trial.clear();
    } else {
      of_trial.push_back(&result);
    }
  }
  for (const auto& [number, results] : left) {
    for (const DecisionRow* result : results) note_value(*result);
  }
}

// With equal values of the first objective the others decide, one after the other, so that the best is dominated by none.
bool Job::better_of_equals(const DecisionRow& result, const BestRow& best) const {
  const int number = result.trial.number;
  if (spec_->more_objectives.empty()) return number < best.trial;
  const auto same_place = [&](const DecisionRow& one) { return one.trial.number == best.trial && one.resource == best.resource; };
  const auto its = std::find_if(decisions_.begin(), decisions_.end(), same_place);
  for (std::size_t i = 0; i < spec_->more_objectives.size() && its != decisions_.end(); ++i) {
    const double a = result.more_values[i];
    const double b = its->more_values[i];
    if (a != b) return spec_->more_objectives[i].better(a, b);
  }
  return number < best.trial;
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

// ---- the end ------------------------------------------------------------------------------------------------------------------

std::optional<Timestamp> Job::deadline() const {
  if (row_.state != JobState::running || !row_.max_runtime_ms) return std::nullopt;
  return row_.created_at.plus_ms(*row_.max_runtime_ms);
}

void Job::check_limits() {
  if (row_.state != JobState::running) return;
  const Limits& limits = spec_->limits;
  const Objective& objective = spec_->objective;
  const auto& best = spec_->early_work < 1 ? row_.best : row_.best_anywhere;  // of fewer folds a value is no measure
  if (objective.target && best && !objective.better(*objective.target, best->value)) {
    begin_stopping(JobState::completed, at_target(best->trial, *objective.target));
  } else if (row_.failing_with && row_.failures_in_a_row >= limits.max_failures_in_a_row) {
    begin_stopping(JobState::failed,
                   std::to_string(row_.failures_in_a_row) + " trials in a row failed with " + last_failure(*row_.failing_with));
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
  policy_->start_no_more();
}

std::string Job::why_no_best() const {
  const DecisionRow* nearest = nullptr;
  for (const DecisionRow& one : decisions_) {
    if (one.violation > 0 && (nearest == nullptr || one.violation < nearest->violation)) nearest = &one;
  }
  if (nearest == nullptr) return "no trial reached a value";
  if (std::isinf(nearest->violation)) return "no trial reported the metrics of all constraints";
  const bool met = std::any_of(decisions_.begin(), decisions_.end(), [](const DecisionRow& one) {
    return one.value && std::isfinite(*one.value) && one.violation == 0;
  });
  return std::string("no trial met the constraints") + (met ? " to its end" : "") + ": trial " +
         std::to_string(nearest->trial.number) + " was nearest, outside by " + short_number(nearest->violation);
}

// What the last of them failed with where all did, on their way to a higher rung; trials that rules ended are well.
std::optional<ExitClass> Job::failure_of_all() const {
  std::optional<ExitClass> failure;
  for (const TrialRow& trial : trials_) {
    if (trial.state != TrialState::failed || trial.exit_class == ExitClass::stopped_by_rule) return std::nullopt;
    failure = trial.exit_class;
  }
  return failure;
}

// "crashed: what the trainer said. What to do."
std::string Job::last_failure(ExitClass exit) const {
  std::string text(to_string(exit));
  const auto last = std::find_if(trials_.rbegin(), trials_.rend(), [&](const TrialRow& trial) {
    return trial.state == TrialState::failed && trial.exit_class == exit && !trial.message.empty();
  });
  if (last != trials_.rend()) text += ": " + last->message;
  return text + ". " + std::string(advice(exit));
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

bool Job::end_if_done(int most, Timestamp now) {
  if (ended(row_.state)) return true;
  if (began_stopping_) end_some_more(most, now);
  if (!running_.empty() || some_to_end_) return false;
  if (row_.state == JobState::running) {
    if (!queued_.empty() || begun_ || policy_->has_work()) return false;
    end_some_more(most, now);
    if (some_to_end_) return false;
    if (!winds_down())
      row_.reason =
          row_.trials_created == 1 ? "its one trial is done" : "all " + std::to_string(row_.trials_created) + " trials are done";
    row_.ending_as = JobState::completed;
    if (!row_.best_anywhere) {
      row_.reason = why_no_best() + (winds_down() ? "; " + row_.reason : "");
      if (row_.failing_with) row_.reason += "; the last one failed with " + last_failure(*row_.failing_with);
      row_.ending_as = JobState::failed;
    } else if (const auto failure = failure_of_all()) {
      row_.reason = "every trial failed, the last one with " + last_failure(*failure);
      row_.ending_as = JobState::failed;
    }
  }
  row_.state = *row_.ending_as;
  row_.ending_as.reset();
  row_.held = false;
  row_.ended_at = now;
  row_changed_ = true;
  record(kind_of(row_.state), row_.reason);
  return true;
}

std::optional<std::string> Job::waits_for(const Capacity& capacity) const {
  if (queued_.empty() && !begun_ && !policy_->has_work()) return std::nullopt;
  if (row_.held) return "held";
  if (capacity.usable == 0) return "no worker";
  if (queued_.empty() ? spec_->replicas.front() > capacity.usable : !first_queued(capacity.usable)) {
    return "fewer workers than replicas";
  }
  if (running() >= row_.max_parallel_trials) return "max_parallel_trials";
  if (queued_.empty() && awaits_suggestion()) return "suggestion under way";
  if (capacity.gathering == row_.id) return "gathering workers";
  return capacity.gathering && capacity.idle > 0 ? "workers gathered for a wider trial" : "no free worker";
}

std::vector<std::pair<std::string, int>> Job::waiting_by_reason(const Capacity& capacity) const {
  std::vector<std::pair<std::string, int>> reasons;
  if (row_.state == JobState::stopping) {
    if (running() > 0) reasons.emplace_back("being stopped", running());
    return reasons;
  }
  if (auto reason = waits_for(capacity)) {
    const int ready = static_cast<int>(queued_.size()) + policy_->promoted_waiting();
    reasons.emplace_back(std::move(*reason), std::max(1, ready));
  }
  const int undecided = static_cast<int>(undecided_.size());
  if (undecided > 0)
    reasons.emplace_back(synchronous(spec_->scheduler.type) ? "rung not full" : "not among the best yet", undecided);
  return reasons;
}

}  // namespace tuneband

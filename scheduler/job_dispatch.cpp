// What of a job runs next: new trials, their configurations, and those that go on.
#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "scheduler/job.hpp"

namespace tuneband {

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

}  // namespace tuneband

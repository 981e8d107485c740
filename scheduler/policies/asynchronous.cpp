#include "scheduler/policies/asynchronous.hpp"

#include <algorithm>
#include <limits>

#include "core/check.hpp"

namespace tuneband {

AsynchronousPolicy::AsynchronousPolicy(Rungs rungs, Parts parts)
    : rungs_(std::move(rungs)),
      stopping_(std::move(parts.stopping)),
      promotion_(std::move(parts.promotion)),
      audit_(std::move(parts.audit)),
      head_start_(std::move(parts.head_start)),
      brackets_(std::move(parts.brackets)),
      uncut_(std::move(parts.uncut)),
      model_(std::move(parts.model)),
      begun_(rungs_) {
  TUNEBAND_CHECK((stopping_ == nullptr) != (promotion_ == nullptr), "trials go on by one rule");
  TUNEBAND_CHECK(!audit_ || promotion_, "an audit is one of rungs that trials are promoted from");
  TUNEBAND_CHECK(!audit_ || !head_start_, "new trials start where one part says");
  if (audit_ || brackets_) order_ = std::make_unique<RungOrder>(rungs_.top() + 1);
}

// ---- results ------------------------------------------------------------------------------------------------------------------

Standing AsynchronousPolicy::add(int index, const Arrival& arrival) {
  const Standing standing = rungs_.add(index, arrival);
  const Worth worth = rungs_.at(index).worth_of(arrival);
  if (order_) order_->add(index, arrival.trial, worth);
  if (stopping_) stopping_->learned(index, standing);
  if (promotion_) promotion_->learned(index, standing);
  if (audit_) audit_->learned(*order_, index, standing);
  if (head_start_) head_start_->learned(index, standing);
  if (uncut_ && index == rungs_.top()) uncut_->learned(worth, arrival.bracket);
  return standing;
}

// From rung `index`, by the rungs: whom the model lets go on is in none of their quotas.
void AsynchronousPolicy::promoted_by_rungs(int index, int trial) {
  if (promotion_) promotion_->promoted(index);
  if (audit_) audit_->promoted(index, trial);
}

void AsynchronousPolicy::arrive(const Arrival& arrival, std::vector<Decision>& decisions) {
  const int index = arrival.bracket + arrival.rung;
  const Standing standing = add(index, arrival);
  const bool at_top = index == rungs_.top();
  const int keep = at_top ? 0 : keep_of(rungs_.at(index).filled());
  if (standing.tier == Standing::failed) {
    rungs_.settle(index, standing, Verdict::stopped, keep, "it failed before it reached this rung", decisions);
  } else if (at_top) {
    rungs_.settle(index, standing, Verdict::completed, keep, "it reached max_resource", decisions);
  } else if (standing.tier == Standing::not_finite) {
    rungs_.settle(index, standing, Verdict::stopped, keep, "its value is not a finite number: such a trial never goes on",
                  decisions);
  } else if (stopping_) {
    judge_below_top(index, standing, decisions);
  }
  if (audit_) promote_audited(decisions);
  // No reserve is needed any more.
  if (stopping_ && one_has_finished(rungs_.all())) close(decisions, std::numeric_limits<std::size_t>::max());
}

void AsynchronousPolicy::judge_below_top(int index, const Standing& standing, std::vector<Decision>& decisions) {
  const StoppingRule::Judgement judgement = stopping_->judge(rungs_, index, standing);
  if (!judgement.goes_on) {
    lose(index, standing, judgement, decisions);
  } else {
    rungs_.settle(index, standing, Verdict::promoted, keep_of(rungs_.at(index).filled()), judgement.rule, decisions);
    queue_.add(index, standing.trial);
  }
  const bool decided = !decisions.empty() && decisions.back().trial == standing.trial;
  if (decided && judgement.cutoff) decisions.back().cutoff = judgement.cutoff;
}

void AsynchronousPolicy::lose(int index, const Standing& standing, const StoppingRule::Judgement& judgement,
                              std::vector<Decision>& decisions) {
  const bool finished = one_has_finished(rungs_.all());
  const auto& waiting = rungs_.at(index).waiting();
  if (!finished && static_cast<int>(waiting.size()) <= kReserve) return;
  const Standing out = finished ? standing : *waiting.rbegin();
  rungs_.settle(index, out, Verdict::stopped, keep_of(rungs_.at(index).filled()),
                out.trial == standing.trial ? judgement.rule : rule_at_close(index, out), decisions);
}

void AsynchronousPolicy::withdraw(const Arrival& arrival, std::vector<Decision>& decisions) {
  Rung& rung = rungs_.at(arrival.bracket + arrival.rung);
  decisions.push_back(rung.withdraw(arrival, keep_of(rung.filled())));
  if (audit_) audit_->withdrawn(arrival.trial);
}

void AsynchronousPolicy::promote_audited(std::vector<Decision>& decisions) {
  for (const auto& [index, standing] : audit_->to_promote(rungs_)) {
    promoted_by_rungs(index, standing.trial);
    queue_.add(index, standing.trial);
    rungs_.settle(index, standing, Verdict::promoted, kAuditTrials, RungAudit::rule(), decisions);
  }
}

// ---- what a free worker does --------------------------------------------------------------------------------------------------

RungCount AsynchronousPolicy::not_of_the_quota(int index) const { return audit_ ? audit_->apart(index) : RungCount{}; }

std::optional<int> AsynchronousPolicy::promotable() const {
  if (!promotion_) return std::nullopt;
  for (int index = promotion_->highest_rung_to_leave(rungs_); index >= 0; --index) {
    if (rungs_.at(index).waiting().empty()) continue;
    if (promotion_->may_promote(rungs_, index, not_of_the_quota(index))) return index;
  }
  return std::nullopt;
}

std::optional<int> AsynchronousPolicy::rung_to_finish() const {
  const bool others_left = rungs_.may_start() || rungs_.under_way() > 0;
  return others_left ? std::nullopt : rung_to_finish_from(rungs_.all());
}

std::optional<std::vector<TrialAtLevel>> AsynchronousPolicy::models_turn() const {
  if (!model_ || !queue_.empty() || !rungs_.may_start() || !model_->due(begun_)) return std::nullopt;
  return ModelShare::waiting(rungs_);
}

// Of one that waits the rung too.
const Standing* AsynchronousPolicy::find_waiting(int trial, int& index) const {
  for (index = 0; index < rungs_.top(); ++index) {
    for (const Standing& standing : rungs_.at(index).waiting()) {
      if (standing.trial == trial) return &standing;
    }
  }
  return nullptr;
}

bool AsynchronousPolicy::choose(const TrialAtLevel& step) {
  int index = 0;
  const bool known =
      step.trial == kNewTrial ? rungs_.may_start() : find_waiting(step.trial, index) != nullptr && index < step.level;
  if (known) chosen_ = step;
  return known;
}

Work AsynchronousPolicy::take_chosen(std::vector<Decision>& decisions) {
  const TrialAtLevel step = *std::exchange(chosen_, std::nullopt);
  if (step.trial == kNewTrial) return begin_trial(step.level, 0, false);
  int index = 0;
  const Standing standing = *find_waiting(step.trial, index);
  rungs_.settle(index, standing, Verdict::promoted, keep_of(rungs_.at(index).filled()),
                ModelShare::rule(rungs_.at(step.level).level()), decisions);
  return go_on(index, standing.trial, step.level, true);
}

Work AsynchronousPolicy::promote(int index, const Standing standing, int keep, const std::string& rule,
                                 std::vector<Decision>& decisions) {
  promoted_by_rungs(index, standing.trial);
  rungs_.settle(index, standing, Verdict::promoted, keep, rule, decisions);
  return go_on(index, standing.trial, index + 1, false);
}

Work AsynchronousPolicy::go_on(int from, int trial, int to, bool by_model) {
  rungs_.begin_segment();
  begun_.went_on(from, to, by_model);
  return rungs_.work_of(trial, to);
}

std::optional<Work> AsynchronousPolicy::take(std::optional<int> preferred, std::vector<Decision>& decisions) {
  if (!queue_.empty()) return take_queued(preferred);
  if (chosen_) return take_chosen(decisions);
  if (const auto next = promotable()) {
    return promote(*next, *rungs_.at(*next).waiting().begin(), keep_of(rungs_.at(*next).filled()),
                   promotion_->rule(rungs_, *next, not_of_the_quota(*next)), decisions);
  }
  if (const auto last = rung_to_finish()) {
    return promote(*last, *rungs_.at(*last).waiting().begin(), 1,
                   "all other trials are done: the best one goes on, so that one reaches max_resource", decisions);
  }
  if (!rungs_.may_start()) return std::nullopt;
  return start_trial();
}

Work AsynchronousPolicy::take_queued(std::optional<int> preferred) {
  const auto [index, trial] = queue_.take(preferred);
  return go_on(index, trial, index + 1, false);
}

Work AsynchronousPolicy::take_promoted(int trial) {
  const Work work = take_queued(trial);
  TUNEBAND_CHECK(work.trial == trial, "only a promoted trial without a worker is taken");
  return work;
}

Work AsynchronousPolicy::start_trial() {
  const bool uncut = uncut_ && uncut_->due(rungs_);
  const int bracket = uncut ? uncut_->bracket() : brackets_ ? brackets_->choose(*order_, rungs_.started()) : 0;
  return begin_trial(bracket, uncut ? 0 : lowest_rung(), uncut && uncut_->at_random());
}

int AsynchronousPolicy::lowest_rung() const {
  if (audit_) return audit_->lowest();
  return head_start_ ? head_start_->rung(rungs_) : 0;
}

Work AsynchronousPolicy::begin_trial(int bracket, int rung, bool at_random) {
  note_start(bracket);
  begun_.started(bracket, bracket + rung);
  return Work{std::nullopt, bracket, rung, rungs_.at(bracket + rung).level(), at_random};
}

void AsynchronousPolicy::note_start(int bracket) {
  if (brackets_) brackets_->started(bracket);
  if (uncut_) uncut_->started(bracket);
  rungs_.begin_trial(bracket);
}

bool AsynchronousPolicy::give_back_start() {
  const int bracket = rungs_.give_back_trial();
  if (brackets_) brackets_->given_back(bracket);
  if (uncut_) uncut_->given_back(bracket);
  begun_.given_back();
  return true;
}

bool AsynchronousPolicy::has_work() const { return rungs_.may_start() || !queue_.empty() || promotable() || rung_to_finish(); }

int AsynchronousPolicy::promoted_waiting() const {
  return queue_.size() + (promotion_ && (promotable() || rung_to_finish()) ? 1 : 0);
}

std::string AsynchronousPolicy::rule_at_close(int index, const Standing& standing) const {
  if (stopping_) return StoppingRule::rule_at_close();
  return promotion_->rule_at_close(rungs_, index, standing, not_of_the_quota(index));
}

void AsynchronousPolicy::close(std::vector<Decision>& decisions, std::size_t most) {
  for (int index = 0; index <= rungs_.top(); ++index) {
    while (!rungs_.at(index).waiting().empty() && decisions.size() < most) {
      const Standing standing = *rungs_.at(index).waiting().begin();
      rungs_.settle(index, standing, Verdict::stopped, keep_of(rungs_.at(index).filled()), rule_at_close(index, standing),
                    decisions);
    }
  }
}

// ---- restore ------------------------------------------------------------------------------------------------------------------

void AsynchronousPolicy::recall_trial(const TrialRow& trial) {
  note_start(trial.bracket);
  begun_.recall_trial(trial.bracket, trial.bracket + trial.rung);
}

void AsynchronousPolicy::recall_decision(const DecisionRow& decision, bool moved_on) {
  const int index = decision.bracket + decision.rung;
  const Standing standing = add(index, arrival_of(decision));
  const bool by_model = ModelShare::is_its(decision.rule);
  begun_.recall_result(standing.trial, index, by_model);
  if (decision.withdrawn()) {
    rungs_.at(index).withdraw(arrival_of(decision), 0);
    if (audit_) audit_->withdrawn(standing.trial);
  } else if (decision.verdict != Verdict::waiting) {
    rungs_.at(index).settle(standing);
  }
  if (decision.verdict != Verdict::promoted) return;
  if (!by_model) promoted_by_rungs(index, standing.trial);
  if (moved_on) {
    rungs_.begin_segment();
  } else {
    TUNEBAND_CHECK(stopping_ || audit_, "a promoted trial without its next segment");
    queue_.add(index, standing.trial);
  }
}

void AsynchronousPolicy::recalled() { begun_.recalled(); }

}  // namespace tuneband

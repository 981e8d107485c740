#include "tests/simulation/invariants.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "scheduler/plan.hpp"
#include "tests/rows/row_text.hpp"

namespace tuneband::test {

namespace {

// What the sampler proposed may go on with another learning rate.
bool same_but_for_eta(const TrialRow& before, const TrialRow& after) {
  if (before.configuration == after.configuration) return true;
  const auto eta = after.configuration.find("eta");
  if (eta == after.configuration.end() || after.origin != kOfSampler) return false;
  Configuration with_the_former = after.configuration;
  with_the_former["eta"] = before.configuration.at("eta");
  return with_the_former == before.configuration;
}

void require(bool holds, const std::string& sentence) {
  if (!holds) throw Broken(sentence);
}

template <class Map, class Key>
auto find_row(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

bool allowed(TrialState from, TrialState to) {
  using S = TrialState;
  switch (from) {
    case S::pending:
      return true;  // within one step it may run through several
    case S::running:
      return true;
    case S::paused:
      // Pending: promoted, and it waits for all workers of its group.
      return to == S::paused || to == S::pending || to == S::running || to == S::stopped || to == S::completed ||
             to == S::cancelled;
    case S::completed:
    case S::stopped:
    case S::failed:
    case S::cancelled:
      return to == from;
  }
  return false;
}

bool allowed(JobState from, JobState to) {
  if (from == to) return true;
  if (from == JobState::running) return true;
  return from == JobState::stopping && ended(to);
}

}  // namespace

void Invariants::check_step(const RowStore& before, std::span<const Write> writes) {
  std::map<TrialId, std::int64_t> seen;  // the highest resource observed in this step
  for (const Write& write : writes) {
    if (const auto* row = std::get_if<ObservationRow>(&write)) seen[row->trial] = std::max(seen[row->trial], row->resource);
  }
  // Trials that leave a worker, before those that take one.
  for (const Write& write : writes) {
    if (const auto* row = std::get_if<JobRow>(&write)) check_job(find_row(before.jobs(), row->id), *row);
    if (const auto* row = std::get_if<TrialRow>(&write)) {
      const TrialRow* old = find_row(before.trials(), row->id);
      if (old != nullptr && old->state == TrialState::running) {
        for (const WorkerId& worker : old->ranks()) executing_.erase(worker);
        jobs_.at(row->id.job).running.erase(row->id.number);
      }
    }
  }
  for (const Write& write : writes) {
    if (const auto* row = std::get_if<TrialRow>(&write)) {
      const auto found = seen.find(row->id);
      check_trial(find_row(before.trials(), row->id), *row, found == seen.end() ? 0 : found->second);
    }
    if (const auto* row = std::get_if<DecisionRow>(&write)) {
      check_decision(find_row(before.decisions(), std::pair(row->trial, row->rung)), *row);
    }
    if (const auto* row = std::get_if<DeleteJob>(&write)) jobs_.erase(row->job);
  }
  for (const Write& write : writes) {
    const auto* row = std::get_if<JobRow>(&write);
    if (row == nullptr) continue;
    const JobFacts& facts = jobs_.at(row->id);
    require(row->resource_spent == facts.reached + facts.repeated,
            name_of(*row) + " says it spent " + std::to_string(row->resource_spent) + ", its trials reached " +
                std::to_string(facts.reached) + " and repeated " + std::to_string(facts.repeated));
    std::int64_t substitutes = 0;  // each of which may train from the first rung to the last
    for (const auto& [bracket, count] : facts.substitutes) {
      substitutes += count;
      require(count == 0 || facts.in_vain.contains(bracket), name_of(*row) + ": a trial goes on in nobody's place");
    }
    const SchedulerSpec& scheduler = facts.spec.scheduler;
    const std::vector<std::int64_t> levels = ladder(scheduler);
    const std::int64_t price =
        scheduler.restarts ? std::accumulate(levels.begin(), levels.end(), std::int64_t{0}) : scheduler.max_resource;
    require(!facts.planned || facts.reached <= *facts.planned + substitutes * price,
            name_of(*row) + " spent " + std::to_string(facts.reached) +
                " without what it repeated, more than was planned: " + std::to_string(facts.planned.value_or(0)));
  }
}

void Invariants::check_job(const JobRow* before, const JobRow& after) {
  const std::string name = name_of(after);
  if (before == nullptr) {
    Diagnostics diagnostics;
    JobFacts& facts = jobs_[after.id];
    facts.spec = JobSpec::parse(Json::parse(after.spec_json), diagnostics);
    if (const Plan plan = make_plan(facts.spec); plan.exact) facts.planned = plan.total_resource;
  } else {
    require(allowed(before->state, after.state),
            name + " goes from " + std::string(to_string(before->state)) + " to " + std::string(to_string(after.state)));
    require(!ended(before->state), name + " changes after its end");
    require(before->resource_spent <= after.resource_spent && before->training_ms <= after.training_ms &&
                before->last_epoch <= after.last_epoch,
            name + " takes something back that it has counted");
  }
  jobs_.at(after.id).held = after.held;
  jobs_.at(after.id).max_parallel_trials = after.max_parallel_trials;
  require(ended(after.state) == after.ended_at.has_value(), name + " has ended without a time, or the other way round");
  require(!after.ended_at || *after.ended_at >= after.created_at, name + " ended before it was created");
  require(after.state == JobState::running || !after.reason.empty(), name + " has no reason for its state");
  require((after.state == JobState::stopping) == after.ending_as.has_value(), name + " does not say what it is to end as");
  const JobSpec& spec = jobs_.at(after.id).spec;
  const Limits& limits = spec.limits;
  require(!limits.max_trials || after.trials_created <= *limits.max_trials, name + " starts more than max_trials");
  require(before == nullptr || !before->starts_no_more || after.starts_no_more, name + " starts trials again");
  require(after.state != JobState::running || after.starts_no_more == !after.reason.empty(),
          name + " starts no more trials without a reason, or has one that it does not heed");
  if (after.starts_no_more) {
    require(limits.max_trials_without_improvement || limits.convergence || after.state != JobState::running ||
                after.reason == kNoMoreForTheUser,
            name + " starts no more trials without a limit that says so");
    const bool brackets =
        spec.scheduler.type == SchedulerType::hyperband || spec.scheduler.type == SchedulerType::successive_halving;
    require(brackets || before == nullptr || !before->starts_no_more || before->trials_created == after.trials_created,
            name + " starts a trial although it said that it starts no more");
  }
}

void Invariants::check_trial(const TrialRow* before, const TrialRow& after, std::int64_t seen_in_step) {
  const std::string name = name_of(after);
  JobFacts& facts = jobs_.at(after.id.job);
  const TrialRow none;
  const TrialRow& old = before == nullptr ? none : *before;
  if (before != nullptr) {
    require(allowed(old.state, after.state),
            name + " goes from " + std::string(to_string(old.state)) + " to " + std::string(to_string(after.state)));
    require(!ended(old.state) || old == after, name + " changes after its end");
    require(same_but_for_eta(old, after) && old.bracket == after.bracket, name + " becomes another one");
    const bool told_only = old.state != TrialState::paused && old.objective_resource == old.until_resource;
    const bool not_reached = ended(after.state) && told_only;  // what it told of its rung is no value
    require(after.rung >= old.rung && (not_reached || after.objective_resource >= old.objective_resource),
            name + " goes down a rung");
    const bool anew = facts.spec.scheduler.restarts && after.rung > old.rung;
    require(anew || after.checkpoint_resource >= old.checkpoint_resource, name + " loses a checkpoint");
  }
  require(after.resource <= after.until_resource && after.checkpoint_resource <= after.until_resource,
          name + " overstepped its rung");
  require(after.attempts >= 0 && after.attempts <= facts.spec.limits.max_attempts, name + " has an impossible count of attempts");
  require(!after.started_at || *after.started_at >= after.created_at, name + " started before it was created");
  require(!after.assigned_at || (after.started_at && *after.assigned_at >= *after.started_at),
          name + " was assigned before it started");
  require(!after.ended_at || *after.ended_at >= after.started_at.value_or(after.created_at), name + " ended before it started");
  require(after.attempts_in_all >= after.attempts, name + " had more attempts than attempts in all");
  require(ended(after.state) == after.ended_at.has_value(), name + " has ended without a time, or the other way round");
  require((after.state == TrialState::running) == after.assigned_at.has_value(),
          name + " runs without an assignment, or the other way round");
  require(after.state != TrialState::failed || after.exit_class.has_value(), name + " failed without a class");
  if (after.epoch != old.epoch) {
    require(epochs_.insert(after.epoch).second,
            name + " has an epoch that was given before: " + std::to_string(after.epoch.value));
    require(after.state != TrialState::running || after.resource == after.checkpoint_resource,
            name + " does not start from its checkpoint");
    require(peers_lie_ || facts.spec.scheduler.restarts || after.resource >= after.objective_resource,
            name + " starts again below the last rung that it reached: more than one segment is repeated");
    const std::int64_t reached = std::max(old.resource, seen_in_step);
    facts.reached += reached - old.resource;
    // Where rungs restart, the first segment at each is one of the plan's.
    const bool anew = facts.spec.scheduler.restarts && facts.begun.insert({after.id.number, after.rung}).second;
    if (!anew) {
      facts.repeated += reached - after.resource;
      facts.reached -= reached - after.resource;
    }
  } else {
    facts.reached += after.resource - old.resource;
  }
  if (after.state == TrialState::running) {
    facts.running.insert(after.id.number);
    const bool starts = after.epoch != old.epoch;
    require(!starts || !facts.held, name + " starts although its job is held");
    require(!starts || static_cast<int>(facts.running.size()) <= facts.max_parallel_trials,
            name + " starts beyond max_parallel_trials");
    require(after.replicas() == facts.spec.replicas_of(after.configuration), name + " runs on another number of workers");
    for (const WorkerId& worker : after.ranks()) {
      const auto [entry, added] = executing_.try_emplace(worker, after.id);
      require(added || entry->second == after.id, worker.value + " has both " + name + " and trial " + name_of(entry->second));
    }
  }
}

void Invariants::check_decision(const DecisionRow* before, const DecisionRow& after) {
  const std::string name = name_of(after);
  JobFacts& facts = jobs_.at(after.trial.job);
  const SchedulerType type = facts.spec.scheduler.type;
  const bool synchronous = type == SchedulerType::hyperband || type == SchedulerType::successive_halving;
  const auto finite = [](double value) { return std::isfinite(value); };
  const bool counts = after.value && finite(*after.value) && after.violation == 0 &&
                      std::all_of(after.more_values.begin(), after.more_values.end(), finite);
  if (after.withdrawn() || (before == nullptr && !counts)) facts.in_vain.insert(after.bracket);
  if (synchronous && after.verdict == Verdict::promoted && after.rank > after.keep) {
    ++facts.substitutes[after.bracket];
  }
  if (before != nullptr) {
    require(before->verdict == Verdict::waiting, name + " is taken twice");
    require(before->sequence == after.sequence && before->bracket == after.bracket, name + " moves");
    return;
  }
  const int arrived = ++facts.arrivals[{after.bracket, after.rung}];
  if (!synchronous) return;
  const PlannedBracket planned = planned_bracket(facts.spec.scheduler, after.bracket, std::nullopt);
  const int substitutes = facts.substitutes[after.bracket];
  require(arrived <= planned.rungs.at(static_cast<std::size_t>(after.rung)).trials + substitutes,
          name + " fills a slot that its rung does not have");
}

void Invariants::check_no_idle_worker(const RowStore& rows, const Scheduler& scheduler) const {
  const auto workers = scheduler.workers();
  const auto is_idle = [](const WorkerView& worker) {
    return !worker.trial && !worker.draining && !worker.occupied && worker.lacks.empty();
  };
  const auto idle = std::find_if(workers.begin(), workers.end(), is_idle);
  int widest = 1;  // free workers may wait for others, to be enough for a group
  for (const auto& [id, facts] : jobs_) {
    if (!ended(rows.jobs().at(id).state)) widest = std::max(widest, facts.spec.replicas.back());
  }
  int kept = 0;  // for trials whose configuration is still being computed
  const auto thinks = [&](JobId id) {
    const auto waiting = scheduler.waiting_by_reason(id);
    return std::any_of(waiting.begin(), waiting.end(), [](const auto& entry) { return entry.first == "suggestion under way"; });
  };
  for (const auto& [id, facts] : jobs_) kept += thinks(id) ? facts.spec.replicas.back() : 0;
  if (std::count_if(workers.begin(), workers.end(), is_idle) < widest + kept) return;
  for (const auto& [id, facts] : jobs_) {
    const JobRow& job = rows.jobs().at(id);
    if (job.state != JobState::running || job.held || static_cast<int>(facts.running.size()) >= job.max_parallel_trials) continue;
    if (thinks(id)) continue;
    for (const auto& [reason, trials] : scheduler.waiting_by_reason(id)) {
      require(reason != "no free worker", idle->id.value + " is free and " + name_of(job) + " has trials that wait for a worker");
    }
    const auto bound = trials_bound(facts.spec);
    require(job.starts_no_more || (bound && job.trials_created >= *bound),
            idle->id.value + " is free and " + name_of(job) + " could start a trial");
  }
}

// One for each start, all over, in order of their epochs and with the time that the trial was with its workers. (One that a
// worker came back to counts the time of its absence, too.)
void Invariants::check_segments(const RowStore& rows, const TrialRow& ended_trial) {
  const std::string name = name_of(ended_trial);
  int segments = 0;
  std::int64_t lasted_ms = 0;
  Epoch last;
  auto segment = rows.segments().lower_bound({ended_trial.id, Epoch{}});
  for (; segment != rows.segments().end() && segment->first.first == ended_trial.id; ++segment, ++segments) {
    const SegmentRow& row = segment->second;
    require(row.ended_at && row.outcome && *row.ended_at >= row.began_at,
            name_of(row) + " has no end, or one before its beginning");
    require(row.from_resource <= row.resource && row.resource <= row.until_resource,
            name_of(row) + " came to where it was not sent");
    require(!ended_trial.started_at || row.began_at >= *ended_trial.started_at, name_of(row) + " began before its trial");
    lasted_ms += *row.ended_at - row.began_at;
    last = row.epoch;
  }
  require(segments == ended_trial.attempts_in_all && last == ended_trial.epoch, name + " has other segments than starts");
  require(lasted_ms >= ended_trial.assigned_ms, name + " was longer with its workers than its segments lasted");
}

void Invariants::check_ended_job(const RowStore& rows, JobId id) const {
  const JobRow& job = rows.jobs().at(id);
  const std::string name = name_of(job);
  std::map<TrialState, int> counts;
  int trials = 0;
  for (auto trial = rows.trials().lower_bound({id, 0}); trial != rows.trials().end() && trial->first.job == id; ++trial) {
    ++counts[trial->second.state];
    require(trial->first.number == trials++, name + " has a gap in its trials");
    check_segments(rows, trial->second);
  }
  require(job.trials_created == trials && job.trials_completed == counts[TrialState::completed] &&
              job.trials_stopped == counts[TrialState::stopped] && job.trials_failed == counts[TrialState::failed] &&
              job.trials_cancelled == counts[TrialState::cancelled],
          name + " counts its trials wrongly");
  require(counts[TrialState::pending] + counts[TrialState::running] + counts[TrialState::paused] == 0,
          name + " ended before its trials");

  const JobFacts& facts = jobs_.at(id);
  std::optional<BestRow> best;
  std::optional<double> best_anywhere;
  double second_value = 0;       // the best one's, of two objectives
  std::map<int, int> broken_at;  // the highest rung at which a trial broke the constraints: what it had until there is gone
  for (const auto& [key, decision] : rows.decisions()) {
    if (decision.trial.job == id && decision.value && decision.violation > 0) broken_at[decision.trial.number] = decision.rung;
  }
  for (const auto& [key, decision] : rows.decisions()) {
    if (decision.trial.job != id || !decision.value || !std::isfinite(*decision.value)) continue;
    const auto broken = broken_at.find(decision.trial.number);
    if (broken != broken_at.end() && decision.rung <= broken->second) continue;
    const bool all_there =
        std::all_of(decision.more_values.begin(), decision.more_values.end(), [](double value) { return std::isfinite(value); });
    if (decision.violation > 0 || !all_there) continue;
    const auto better = [&](double than) { return facts.spec.objective.better(*decision.value, than); };
    if (!best_anywhere || better(*best_anywhere)) best_anywhere = decision.value;
    const bool first_of_equals = best && *decision.value == best->value && !facts.spec.more_objectives.empty() &&
                                 facts.spec.more_objectives[0].better(decision.more_values[0], second_value);
    const bool may_be_best = facts.spec.keeps_best || decision.resource == facts.spec.scheduler.max_resource;
    if (may_be_best && (!best || better(best->value) || first_of_equals)) {
      best = BestRow{decision.trial.number, decision.resource, *decision.value};
      if (!decision.more_values.empty()) second_value = decision.more_values[0];
    }
  }
  // Of equal values at several rungs the decisions do not say which came first.
  const bool same_best = facts.spec.keeps_best && job.best && best ? job.best->value == best->value : job.best == best;
  require(same_best, name + " has another best trial than its decisions say");
  require(job.best_anywhere.has_value() == best_anywhere.has_value() &&
              (!best_anywhere || job.best_anywhere->value == *best_anywhere),
          name + " has another best value anywhere than its decisions say");
  const bool all_done = job.state == JobState::completed && job.reason.starts_with("all ");
  for (const auto& [key, decision] : rows.decisions()) {
    if (decision.trial.job != id) continue;
    require(!all_done || decision.verdict != Verdict::waiting, name_of(decision) + " was never taken though the job is complete");
  }
}

}  // namespace tuneband::test

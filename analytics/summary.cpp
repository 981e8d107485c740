// What `describe` shows of a job, in one reply of bounded size.
#include <algorithm>
#include <set>

#include "analytics/reader.hpp"
#include "analytics/rungs.hpp"
#include "core/text.hpp"
#include "db/row_columns.hpp"
#include "scheduler/suggester.hpp"
#include "search_spaces/crowded_bounds.hpp"
#include "search_spaces/importance.hpp"

namespace tuneband {

namespace {

views::SummaryPlan plan_shown(const Plan& plan, CountsOfRungs rungs, const std::set<int>& open) {
  const int left_out = keep_brackets(rungs, open, kSummaryBracketsMax);
  return {plan.ladder,
          plan.trials,
          plan.total_resource,
          plan.front_resource,
          plan.total_resource_without_stopping,
          plan.restarts,
          plan.exact,
          rungs_shown(rungs),
          left_out};
}

// The most results at one level of the ladder: what parameters matter is estimated from those.
std::int64_t results_at_one_level(const CountsOfRungs& rungs) {
  std::map<std::int64_t, std::int64_t> by_level;
  std::int64_t most = 0;
  for (const auto& [key, rung] : rungs) most = std::max(most, by_level[rung.resource] += rung.reached());
  return most;
}

}  // namespace

// By class of exit, the most frequent first; the first trial of each stands for the others.
std::vector<views::FailureClass> Reader::failures(JobId job) {
  Statement groups = connection_.prepare(
      "SELECT exit_class, count(*) AS trials, min(number) AS first FROM trials INDEXED BY trials_by_state "
      "WHERE job = ? AND state = 'failed' GROUP BY exit_class ORDER BY trials DESC, first");
  Statement messages = connection_.prepare("SELECT message FROM trials WHERE job = ? AND number = ?");
  std::vector<views::FailureClass> classes;
  for (groups.query(job.value); groups.step();) {
    views::FailureClass& failed = classes.emplace_back();
    failed.exit_class = groups.text(0);
    failed.trials = groups.integer(1);
    failed.example = groups.small_integer(2);
    if (messages.query(job.value, failed.example).step()) failed.message = messages.text(0);
    const auto exit_class = exit_class_from(failed.exit_class);
    const std::string fits = exit_class == ExitClass::out_of_memory ? what_fits({job, failed.example}) : "";
    if (exit_class) failed.advice = advice_on(*exit_class, fits);
  }
  return classes;
}

// What the job's trials say of the memory that one of them wanted: as the sampler sees it, which learns from the same rows.
std::string Reader::what_fits(TrialId out_of_memory) {
  const Result<std::shared_ptr<const ParsedJob>> known = parsed_job(out_of_memory.job);
  if (!known) return "";
  MemoryBound bound = memory_bound_of((*known)->spec);
  Configuration configuration;
  Statement trials = connection_.prepare(
      "SELECT configuration, state = 'failed' AND exit_class = 'out_of_memory', objective_resource > 0 FROM trials WHERE job = ? "
      "ORDER BY number");
  int number = 0;
  for (trials.query(out_of_memory.job.value); trials.step(); ++number) {
    const Configuration its = configuration_from_text(trials.text(0));
    bound.add_trial(its);
    if (trials.integer(1) != 0) {
      bound.note_out_of_memory(number);
    } else if (trials.integer(2) != 0) {
      bound.note_fits(number);
    }
    if (number == out_of_memory.number) configuration = its;
  }
  return what_would_fit(bound, configuration);
}

// By the value that each trial keeps, or at the highest rung that it came to.
std::vector<views::CrowdedBound> Reader::crowded_bounds_of(JobId job, const ParsedJob& parsed) {
  std::vector<Configuration> best;
  if (parsed.spec.more_objectives.empty()) {
    const std::string finite = joined({"FROM trials WHERE job = ? AND ", kObjectiveIsFinite, " AND violation = 0"});
    Statement count = connection_.prepare("SELECT count(*) " + finite);
    const int most = count.query(job.value).step() ? crowd_size(count.integer(0)) : 0;
    const std::string order = parsed.spec.objective.goal == Goal::maximize ? "DESC" : "ASC";
    Statement trials = connection_.prepare(
        joined({"SELECT configuration ", finite, " ORDER BY ", kValueOfTrial, " ", order, ", number LIMIT ?"}));
    for (trials.query(job.value, most); trials.step();) best.push_back(configuration_from_text(trials.text(0)));
  }
  std::vector<views::CrowdedBound> found;
  for (const CrowdedBound& one : crowded_bounds(parsed.spec.search_space, best))
    found.push_back({one.parameter, one.at_max ? "max" : "min", one.bound, one.trials, one.of});
  return found;
}

Result<views::Summary> Reader::summary(JobId job, JobStanding standing, const ModelPath& model_path, Timestamp now,
                                       std::optional<views::SavedTensors> tensors) {
  Transaction moment(connection_, Transaction::Kind::read);
  const Result<Known> known = known_job(job);
  if (!known) return known.error();
  const auto& [row, parsed] = *known;
  const CountsOfRungs rungs = rungs_of(connection_, job, *parsed);
  views::Summary summary;
  summary.job = view_of(row, std::move(standing));
  summary.best = best_of(row, model_path, now);
  const bool many = rungs.size() > kSummaryBracketsMax;  // there are no more brackets than rungs
  summary.plan = plan_shown(parsed->plan, rungs, many ? open_brackets(connection_, job) : std::set<int>());
  summary.failures = failures(job);
  summary.replicas = replicas(job, *parsed, NonDominated::bests);
  summary.pareto = pareto_front(job, *parsed);
  const std::size_t shown = std::min(summary.pareto.size(), kSummaryParetoMax);
  summary.pareto_left_out = summary.pareto.size() - shown;
  summary.pareto.resize(shown);
  summary.importance.results = results_at_one_level(rungs);
  summary.crowded_bounds = crowded_bounds_of(job, *parsed);
  summary.summary = costs(*known, now);
  summary.rules = rules_over_trials(*known);
  summary.tensors = tensors;
  return summary;
}

}  // namespace tuneband

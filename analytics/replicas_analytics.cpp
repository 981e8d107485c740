// Quality against time for each number of replicas that a job's trials ran on.
#include <algorithm>
#include <cmath>
#include <map>

#include "analytics/reader.hpp"
#include "core/metrics.hpp"
#include "core/time.hpp"
#include "db/row_columns.hpp"

namespace tuneband {

namespace {

// A trial with a value at max_resource.
struct FinishedTrial {
  int number = 0;
  int replicas = 1;
  double objective = 0;
  std::int64_t training_ms = 0;
  std::int64_t worker_ms() const { return training_ms * replicas; }
};

struct Totals {
  int trials = 0;
  std::int64_t resource = 0;
  std::int64_t training_ms = 0;
  const FinishedTrial* best = nullptr;
};

// The numbers of those for which no other is at least as good and as fast, and better in one of both; the fastest first.
template <class Cost>
std::vector<int> non_dominated(std::vector<const FinishedTrial*> trials, const Objective& objective, const Cost& cost) {
  std::sort(trials.begin(), trials.end(), [&](const FinishedTrial* a, const FinishedTrial* b) {
    if (cost(*a) != cost(*b)) return cost(*a) < cost(*b);
    if (a->objective != b->objective) return objective.better(a->objective, b->objective);
    return a->number < b->number;
  });
  std::vector<int> front;
  const FinishedTrial* last = nullptr;
  for (const FinishedTrial* trial : trials) {
    const bool twin = last != nullptr && cost(*trial) == cost(*last) && trial->objective == last->objective;
    if (last != nullptr && !twin && !objective.better(trial->objective, last->objective)) continue;
    front.push_back(trial->number);
    last = trial;
  }
  return front;
}

views::ReplicasTotals totals_shown(int replicas, const Totals& totals) {
  views::ReplicasTotals shown{
      replicas, totals.trials, seconds_of(totals.training_ms), seconds_of(totals.training_ms * replicas), {}, {}};
  if (totals.resource > 0) shown.seconds_per_unit = seconds_of(totals.training_ms) / static_cast<double>(totals.resource);
  if (const FinishedTrial* best = totals.best) {
    shown.best = {best->number, best->objective, seconds_of(best->training_ms), seconds_of(best->worker_ms())};
  }
  return shown;
}

}  // namespace

views::Replicas Reader::replicas(JobId job, const ParsedJob& parsed, NonDominated which) {
  const Objective& objective = parsed.spec.objective;
  std::map<int, Totals> by_replicas;
  // What was trained, rungs that began anew included.
  Statement sums = connection_.prepare(
      "SELECT 1 + json_array_length(peers), count(*), sum(coalesce((SELECT sum(s.resource - s.from_resource) FROM segments s "
      "WHERE s.job = trials.job AND s.trial = number), resource)), sum(training_ms) FROM trials "
      "WHERE job = ? AND epoch > 0 GROUP BY 1");
  for (sums.query(job.value); sums.step();) {
    by_replicas[sums.small_integer(0)] = {sums.small_integer(1), sums.integer(2), sums.integer(3), nullptr};
  }
  std::vector<FinishedTrial> finished;
  Statement values = connection_.prepare(
      "SELECT number, 1 + json_array_length(peers), coalesce(kept_value, objective), training_ms, more_objectives FROM trials "
      "WHERE job = ? AND objective IS NOT NULL AND (objective_resource = ? OR ?) AND violation = 0 ORDER BY number");
  for (values.query(job.value, parsed.spec.scheduler.max_resource, parsed.spec.rungs_compare()); values.step();) {
    if (!std::isfinite(values.number(2)) || !all_finite(values_from_text(values.text(4)))) continue;
    finished.push_back({values.small_integer(0), values.small_integer(1), values.number(2), values.integer(3)});
  }
  std::vector<const FinishedTrial*> points;
  for (const FinishedTrial& trial : finished) {
    points.push_back(&trial);
    const FinishedTrial*& best = by_replicas[trial.replicas].best;
    if (best == nullptr || objective.better(trial.objective, best->objective)) best = &trial;
  }
  views::Replicas found;
  for (const auto& [number, totals] : by_replicas) found.totals.push_back(totals_shown(number, totals));
  const auto training = [](const FinishedTrial& trial) { return trial.training_ms; };
  const auto worker = [](const FinishedTrial& trial) { return trial.worker_ms(); };
  const auto shown = [&](std::vector<int> front) {
    if (which == NonDominated::all) return front;
    std::erase_if(front, [&](int trial) {
      return std::none_of(by_replicas.begin(), by_replicas.end(),
                          [&](const auto& entry) { return entry.second.best != nullptr && entry.second.best->number == trial; });
    });
    return front;
  };
  found.non_dominated_by_training_seconds = shown(non_dominated(points, objective, training));
  found.non_dominated_by_worker_seconds = shown(non_dominated(points, objective, worker));
  return found;
}

}  // namespace tuneband

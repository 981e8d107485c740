// Quality against time for each number of replicas that a job's trials ran on.
#include <algorithm>
#include <cmath>
#include <map>

#include "analytics/reader.hpp"
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

struct ReplicasTotals {
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

void write_numbers(JsonWriter& json, std::string_view name, const std::vector<int>& numbers) {
  json.key(name).begin_array();
  for (const int number : numbers) json.value(number);
  json.end_array();
}

void write_totals(JsonWriter& json, int replicas, const ReplicasTotals& totals) {
  json.begin_object().field("replicas", replicas).field("trials", totals.trials);
  json.field("training_seconds", seconds(totals.training_ms)).field("worker_seconds", seconds(totals.training_ms * replicas));
  const auto resource = static_cast<double>(totals.resource);
  json.field("seconds_per_unit", totals.resource > 0 ? std::optional(seconds(totals.training_ms) / resource) : std::nullopt);
  json.key("best");
  if (totals.best == nullptr) {
    json.null();
  } else {
    json.begin_object().field("trial", totals.best->number).field("objective", totals.best->objective);
    json.field("training_seconds", seconds(totals.best->training_ms));
    json.field("worker_seconds", seconds(totals.best->worker_ms())).end_object();
  }
  json.end_object();
}

}  // namespace

void Reader::write_replicas(JsonWriter& json, JobId job, const ParsedJob& parsed, NonDominated which) {
  const Objective& objective = parsed.spec.objective;
  std::map<int, ReplicasTotals> by_replicas;
  Statement sums = connection_.prepare(
      "SELECT 1 + json_array_length(peers), count(*), sum(resource), sum(training_ms) FROM trials "
      "WHERE job = ? AND epoch > 0 GROUP BY 1");
  for (sums.query(job.value); sums.step();) {
    by_replicas[sums.small_integer(0)] = {sums.small_integer(1), sums.integer(2), sums.integer(3), nullptr};
  }
  std::vector<FinishedTrial> finished;
  Statement values = connection_.prepare(
      "SELECT number, 1 + json_array_length(peers), objective, training_ms FROM trials "
      "WHERE job = ? AND objective IS NOT NULL AND objective_resource = ? AND violation = 0 ORDER BY number");
  for (values.query(job.value, parsed.spec.scheduler.max_resource); values.step();) {
    if (!std::isfinite(values.number(2))) continue;
    finished.push_back({values.small_integer(0), values.small_integer(1), values.number(2), values.integer(3)});
  }
  std::vector<const FinishedTrial*> points;
  for (const FinishedTrial& trial : finished) {
    points.push_back(&trial);
    const FinishedTrial*& best = by_replicas[trial.replicas].best;
    if (best == nullptr || objective.better(trial.objective, best->objective)) best = &trial;
  }
  json.begin_object().key("totals").begin_array();
  for (const auto& [replicas, totals] : by_replicas) write_totals(json, replicas, totals);
  json.end_array();
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
  write_numbers(json, "non_dominated_by_training_seconds", shown(non_dominated(points, objective, training)));
  write_numbers(json, "non_dominated_by_worker_seconds", shown(non_dominated(points, objective, worker)));
  json.end_object();
}

}  // namespace tuneband

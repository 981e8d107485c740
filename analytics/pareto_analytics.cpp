// The Pareto front of a job with several objectives.
#include <algorithm>

#include "analytics/reader.hpp"
#include "core/metrics.hpp"
#include "db/row_columns.hpp"
#include "scheduler/nondominated_sort.hpp"

namespace tuneband {

namespace {

struct ParetoPoint {
  int trial = 0;
  std::vector<double> values;
  std::vector<double> costs;
};

ParetoPoint pareto_point(int trial, double first, const std::vector<double>& others, const JobSpec& spec) {
  ParetoPoint point{trial, {first}, {}};
  point.values.insert(point.values.end(), others.begin(), others.end());
  for (std::size_t i = 0; i < point.values.size(); ++i) {
    const Goal goal = i == 0 ? spec.objective.goal : spec.more_objectives[i - 1].goal;
    point.costs.push_back(cost_of(point.values[i], goal));
  }
  return point;
}

// Those that nothing dominates, in order of the first objective, then of the others, then of their numbers.
std::vector<ParetoPoint> front_among(std::vector<ParetoPoint> points) {
  std::sort(points.begin(), points.end(), [](const ParetoPoint& a, const ParetoPoint& b) {
    return a.costs == b.costs ? a.trial < b.trial : a.costs < b.costs;
  });
  std::vector<ParetoPoint> front;  // what dominates a point comes before it
  for (ParetoPoint& point : points) {
    const bool dominated =
        std::any_of(front.begin(), front.end(), [&](const ParetoPoint& other) { return dominates(other.costs, point.costs); });
    if (!dominated) front.push_back(std::move(point));
  }
  return front;
}

}  // namespace

std::vector<views::ParetoPoint> Reader::pareto_front(JobId job, const ParsedJob& parsed) {
  if (parsed.spec.more_objectives.empty()) return {};
  std::vector<ParetoPoint> points;
  Statement trials = connection_.prepare(
      "SELECT number, objective, more_objectives FROM trials "
      "WHERE job = ? AND objective IS NOT NULL AND objective_resource = ? AND violation = 0 ORDER BY number");
  for (trials.query(job.value, parsed.spec.scheduler.max_resource); trials.step();) {
    const std::vector<double> others = values_from_text(trials.text(2));
    if (others.size() != parsed.spec.more_objectives.size()) continue;
    ParetoPoint point = pareto_point(trials.small_integer(0), trials.number(1), others, parsed.spec);
    if (all_finite(point.values)) points.push_back(std::move(point));
  }
  std::vector<views::ParetoPoint> front;
  for (const ParetoPoint& point : front_among(std::move(points))) front.push_back({point.trial, {values_text(point.values)}});
  return front;
}

}  // namespace tuneband

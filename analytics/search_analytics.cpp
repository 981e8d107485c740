// What a job's trials say about its search space.
#include <algorithm>
#include <variant>

#include "analytics/reader.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "db/row_columns.hpp"
#include "search_spaces/importance.hpp"

namespace tuneband {

namespace {

void turn_to_values(std::vector<double>& costs, Goal goal) {
  for (double& cost : costs) cost = value_of(cost, goal);
}

std::optional<Error> fault_in(const std::string& field, const std::string& parameter, const SearchSpace& space) {
  std::vector<std::string> tuned;
  for (const Parameter& one : space.parameters()) {
    if (!std::holds_alternative<FixedDomain>(one.domain)) tuned.push_back(one.name);
  }
  if (std::find(tuned.begin(), tuned.end(), parameter) != tuned.end()) return std::nullopt;
  return Error{ErrorCode::invalid_argument, "expected a parameter that is tuned, got " + excerpt(parameter), field,
               did_you_mean(parameter, tuned)};
}

}  // namespace

Result<History> Reader::history(JobId job) {
  Transaction moment(connection_, Transaction::Kind::read);
  const Result<std::shared_ptr<const ParsedJob>> known = parsed_job(job);
  if (!known) return known.error();
  const JobSpec& spec = (*known)->spec;
  History history((*known)->plan.ladder);
  Statement trials = connection_.prepare("SELECT configuration FROM trials WHERE job = ? ORDER BY number");
  for (trials.query(job.value); trials.step();) history.add_trial(configuration_from_text(trials.text(0)));
  Statement results = connection_.prepare(
      "SELECT trial, resource, value, value_is_nan, violation FROM decisions WHERE job = ? AND (value IS NOT NULL OR "
      "value_is_nan = 1) "
      "ORDER BY sequence");
  for (results.query(job.value); results.step();) {
    const Loss loss(cost_of(*number_from(results, 2, 3), spec.objective.goal), results.number(4));
    history.add_result(results.small_integer(0), results.integer(1), loss);
  }
  Statement ended = connection_.prepare(
      "SELECT number, state = 'failed' FROM trials WHERE job = ? AND state IN ('completed', 'stopped', 'failed', 'cancelled')");
  for (ended.query(job.value); ended.step();) history.end_trial(ended.small_integer(0), ended.integer(1) != 0);
  return history;
}

Result<views::ImportanceOfJob> Reader::importance(JobId job) {
  const Result<std::shared_ptr<const ParsedJob>> known = parsed_job(job);
  if (!known) return known.error();
  const Result<History> seen = history(job);
  if (!seen) return seen.error();
  const JobSpec& spec = (*known)->spec;
  views::ImportanceOfJob found{importance_of(spec.search_space, *seen)};
  if (!found.importance) return found;
  for (PartialDependence& dependence : found.importance->dependence) turn_to_values(dependence.mean, spec.objective.goal);
  return found;
}

Result<views::SurfaceOfJob> Reader::surface(JobId job, const std::string& x, const std::string& y) {
  const Result<std::shared_ptr<const ParsedJob>> known = parsed_job(job);
  if (!known) return known.error();
  const JobSpec& spec = (*known)->spec;
  if (const auto fault = fault_in("x", x, spec.search_space)) return *fault;
  if (const auto fault = fault_in("y", y, spec.search_space)) return *fault;
  if (x == y) return Error{ErrorCode::invalid_argument, "expected another parameter than that of `x`", "y", ""};
  const Result<History> seen = history(job);
  if (!seen) return seen.error();
  auto surface = dependence_surface(spec.search_space, *seen, x, y);
  if (!surface) return views::SurfaceOfJob{};
  turn_to_values(surface->mean, spec.objective.goal);
  return views::SurfaceOfJob{views::Surface{surface->resource, surface->trials, surface->explained, x, y, std::move(surface->x),
                                            std::move(surface->y), std::move(surface->mean), std::move(surface->deviation)}};
}

}  // namespace tuneband

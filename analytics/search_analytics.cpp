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

void write_numbers(JsonWriter& json, std::string_view name, const std::vector<double>& numbers, double factor) {
  json.key(name).begin_array();
  for (const double number : numbers) json.value(factor * number);
  json.end_array();
}

void write_values(JsonWriter& json, std::string_view name, const std::vector<Value>& values) {
  json.key(name).begin_array();
  for (const Value& value : values) json.raw(to_json(value).dump());
  json.end_array();
}

// Costs are negated where the objective is maximised.
double sign_of(const JobSpec& spec) { return spec.objective.goal == Goal::maximize ? -1 : 1; }

std::optional<Error> fault_in(const std::string& field, const std::string& parameter, const SearchSpace& space) {
  std::vector<std::string> tuned;
  for (const Parameter& one : space.parameters()) {
    if (!std::holds_alternative<FixedDomain>(one.domain)) tuned.push_back(one.name);
  }
  if (std::find(tuned.begin(), tuned.end(), parameter) != tuned.end()) return std::nullopt;
  return Error{ErrorCode::invalid_argument, "expected a parameter that is tuned, got " + excerpt(parameter), field,
               did_you_mean(parameter, tuned)};
}

void write_dependence(JsonWriter& json, const PartialDependence& dependence, double sign) {
  json.begin_object().field("parameter", dependence.parameter);
  write_values(json, "values", dependence.values);
  write_numbers(json, "mean", dependence.mean, sign);
  write_numbers(json, "deviation", dependence.deviation, 1);
  json.end_object();
}

}  // namespace

Result<History> Reader::history(JobId job) {
  Transaction moment(connection_, Transaction::Kind::read);
  const Result<std::shared_ptr<const ParsedJob>> known = parsed_job(job);
  if (!known) return known.error();
  const JobSpec& spec = (*known)->spec;
  const double sign = sign_of(spec);
  History history((*known)->plan.ladder);
  Statement trials = connection_.prepare("SELECT configuration FROM trials WHERE job = ? ORDER BY number");
  for (trials.query(job.value); trials.step();) history.add_trial(configuration_from_text(trials.text(0)));
  Statement results = connection_.prepare(
      "SELECT trial, resource, value, value_is_nan, violation FROM decisions WHERE job = ? AND (value IS NOT NULL OR "
      "value_is_nan = 1) "
      "ORDER BY sequence");
  for (results.query(job.value); results.step();) {
    const Loss loss(sign * *number_from(results, 2, 3), results.number(4));
    history.add_result(results.small_integer(0), results.integer(1), loss);
  }
  Statement ended = connection_.prepare(
      "SELECT number, state = 'failed' FROM trials WHERE job = ? AND state IN ('completed', 'stopped', 'failed', 'cancelled')");
  for (ended.query(job.value); ended.step();) history.end_trial(ended.small_integer(0), ended.integer(1) != 0);
  return history;
}

Result<std::string> Reader::importance(JobId job) {
  const Result<std::shared_ptr<const ParsedJob>> known = parsed_job(job);
  if (!known) return known.error();
  const Result<History> seen = history(job);
  if (!seen) return seen.error();
  const JobSpec& spec = (*known)->spec;
  const auto importance = importance_of(spec.search_space, *seen);
  std::string text;
  JsonWriter json(text);
  json.begin_object().key("importance");
  if (!importance) {
    json.null().end_object();
    return text;
  }
  json.begin_object().field("resource", importance->resource).field("trials", importance->trials);
  json.field("explained", importance->explained).key("parameters").begin_array();
  for (const MainEffect& effect : importance->parameters) {
    json.begin_object().field("parameter", effect.parameter).field("share", effect.share);
    json.field("deviation", effect.deviation).end_object();
  }
  json.end_array().key("interactions").begin_array();
  for (const Interaction& interaction : importance->interactions) {
    json.begin_object().field("first", interaction.first).field("second", interaction.second);
    json.field("share", interaction.share).field("deviation", interaction.deviation).end_object();
  }
  json.end_array().key("dependence").begin_array();
  const double sign = sign_of(spec);
  for (const PartialDependence& dependence : importance->dependence) write_dependence(json, dependence, sign);
  json.end_array().end_object().end_object();
  return text;
}

Result<std::string> Reader::surface(JobId job, const std::string& x, const std::string& y) {
  const Result<std::shared_ptr<const ParsedJob>> known = parsed_job(job);
  if (!known) return known.error();
  const JobSpec& spec = (*known)->spec;
  if (const auto fault = fault_in("x", x, spec.search_space)) return *fault;
  if (const auto fault = fault_in("y", y, spec.search_space)) return *fault;
  if (x == y) return Error{ErrorCode::invalid_argument, "expected another parameter than that of `x`", "y", ""};
  const Result<History> seen = history(job);
  if (!seen) return seen.error();
  const auto surface = dependence_surface(spec.search_space, *seen, x, y);
  std::string text;
  JsonWriter json(text);
  json.begin_object().key("surface");
  if (!surface) {
    json.null().end_object();
    return text;
  }
  json.begin_object().field("resource", surface->resource).field("trials", surface->trials);
  json.field("explained", surface->explained).field("x", x).field("y", y);
  write_values(json, "x_values", surface->x);
  write_values(json, "y_values", surface->y);
  write_numbers(json, "mean", surface->mean, sign_of(spec));
  write_numbers(json, "deviation", surface->deviation, 1);
  json.end_object().end_object();
  return text;
}

}  // namespace tuneband

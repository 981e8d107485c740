// What a job's trials say about its search space.
#include "analytics/reader.hpp"
#include "db/row_columns.hpp"
#include "search_spaces/importance.hpp"

namespace tuneband {

namespace {

void write_dependence(JsonWriter& json, const PartialDependence& dependence, double sign) {
  json.begin_object().field("parameter", dependence.parameter).key("values").begin_array();
  for (const Value& value : dependence.values) json.raw(to_json(value).dump());
  json.end_array().key("mean").begin_array();
  for (const double mean : dependence.mean) json.value(sign * mean);
  json.end_array().key("deviation").begin_array();
  for (const double deviation : dependence.deviation) json.value(deviation);
  json.end_array().end_object();
}

}  // namespace

Result<History> Reader::history(JobId job) {
  Transaction moment(connection_, Transaction::Kind::read);
  const Result<std::shared_ptr<const ParsedJob>> known = parsed_job(job);
  if (!known) return known.error();
  const JobSpec& spec = (*known)->spec;
  const double sign = spec.objective.goal == Goal::maximize ? -1 : 1;
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
  const double sign = spec.objective.goal == Goal::maximize ? -1 : 1;
  for (const PartialDependence& dependence : importance->dependence) write_dependence(json, dependence, sign);
  json.end_array().end_object().end_object();
  return text;
}

}  // namespace tuneband

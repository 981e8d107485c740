// The reads of a whole job: its trials row by row, best so far, rungs, and what early stopping saved.
#include <algorithm>
#include <cmath>
#include <utility>

#include "analytics/reader.hpp"
#include "analytics/rungs.hpp"
#include "analytics/saved.hpp"
#include "analytics/trial_choice.hpp"
#include "core/csv_cell.hpp"
#include "core/metrics.hpp"
#include "core/text.hpp"
#include "core/time.hpp"
#include "core/time_text.hpp"
#include "db/described_row.hpp"
#include "db/row_columns.hpp"
#include "search_spaces/value.hpp"

namespace tuneband {

namespace {

constexpr std::size_t kPieceBytes = 64 * 1024;

// Hands over what has gathered once it is worth a call.
void hand_over(std::string& text, const Sink& sink, std::size_t from_bytes) {
  if (text.size() < from_bytes || text.empty()) return;
  sink(text);
  text.clear();
}

// ---- CSV ----------------------------------------------------------------------------------------------------------------------

void append_cell(std::string& line, std::string_view text) {
  if (!line.empty()) line += ',';
  line += csv_cell(text);
}

// What trials reported, beside the objective's value, of what the constraints bound.
class BoundedValues {
 public:
  BoundedValues(Connection& connection, const JobSpec& spec) : spec_(spec) {
    if (!spec.constraints.empty())
      reports_ = connection.prepare("SELECT metrics FROM observations WHERE job = ? AND trial = ? AND resource = ?");
  }

  // A cell each, "" where it was not reported, or where a training that began anew has been there since.
  std::vector<std::string> cells_of(const TrialRow& row) {
    std::vector<std::string> cells(spec_.constraints.size());
    const bool any = !cells.empty() && row.objective.has_value();
    if (!any || !reports_.query(row.id.job.value, row.id.number, row.objective_resource).step()) return cells;
    const Result<Json> report = parse_json(reports_.text(0));
    Metrics found;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string& metric = spec_.constraints[i].metric;
      const auto value = report ? number_of(*report, metric.c_str()) : std::nullopt;
      if (!value) continue;
      found.emplace_back(metric, *value);
      cells[i] = format_number(*value);
    }
    return spec_.violation(found) == row.violation ? cells : std::vector<std::string>(cells.size());
  }

 private:
  const JobSpec& spec_;
  Statement reports_;
};

// What ranks a trial beside its first objective has columns in the jobs that have it.
std::string csv_header(const JobSpec& spec) {
  std::string line;
  append_cell(line, "number");
  for (const Parameter& parameter : spec.search_space.parameters()) append_cell(line, "parameter." + parameter.name);
  for (const std::string_view name : {"state", "bracket", "rung", "objective"}) append_cell(line, name);
  for (const Objective& objective : spec.more_objectives) append_cell(line, "objective." + objective.metric);
  for (const Constraint& constraint : spec.constraints) append_cell(line, "constraint." + constraint.metric);
  if (!spec.constraints.empty()) append_cell(line, "violation");
  append_cell(line, "objective_resource");
  if (spec.keeps_best) {
    for (const std::string_view name : {"kept_value", "kept_resource", "kept_until_resource"}) append_cell(line, name);
  }
  for (const std::string_view name : {"started_at", "ended_at", "training_seconds", "queue_seconds", "attempts", "segments",
                                      "worker", "replicas", "exit_class", "message"}) {
    append_cell(line, name);
  }
  return line + "\r\n";
}

std::string csv_line(const TrialRow& row, const Configuration& configuration, const std::vector<std::string>& bounded,
                     const JobSpec& spec, Timestamp now) {
  std::string line;
  append_cell(line, std::to_string(row.id.number));
  for (const Parameter& parameter : spec.search_space.parameters()) {
    const auto value = configuration.find(parameter.name);
    append_cell(line, value == configuration.end() ? "" : valid_utf8(to_string(value->second)));
  }
  append_cell(line, to_string(row.state));
  append_cell(line, std::to_string(row.bracket));
  append_cell(line, std::to_string(row.rung));
  append_cell(line, row.objective ? format_number(*row.objective) : "");
  for (std::size_t i = 0; i < spec.more_objectives.size(); ++i) {
    append_cell(line, row.objective && i < row.more_objectives.size() ? format_number(row.more_objectives[i]) : "");
  }
  for (const std::string& value : bounded) append_cell(line, value);
  if (!spec.constraints.empty()) append_cell(line, row.objective ? format_number(row.violation) : "");
  append_cell(line, row.objective ? std::to_string(row.objective_resource) : "");
  if (spec.keeps_best) {
    append_cell(line, row.kept_value ? format_number(*row.kept_value) : "");
    append_cell(line, row.kept_value ? std::to_string(row.kept_resource) : "");
    append_cell(line, row.kept_until_resource > 0 ? std::to_string(row.kept_until_resource) : "");
  }
  for (const auto& time : {row.started_at, row.ended_at}) append_cell(line, time ? time_text(*time) : "");
  append_cell(line, format_number(seconds_of(row.training_ms)));
  append_cell(line, format_number(seconds_of(queue_ms(row, now))));
  append_cell(line, std::to_string(attempts_shown(row)));
  append_cell(line, std::to_string(row.attempts_in_all));
  append_cell(line, valid_utf8(row.worker.value));
  append_cell(line, std::to_string(row.replicas()));
  append_cell(line, row.exit_class ? to_string(*row.exit_class) : "");
  append_cell(line, valid_utf8(row.message));
  return line + "\r\n";
}

}  // namespace

Statement Reader::select_all_trials() { return connection_.prepare(select_sql<TrialRow>("WHERE job = ? ORDER BY number")); }

std::vector<views::BestSoFar> Reader::best_so_far(const JobRow& row, const ParsedJob& parsed) {
  std::vector<views::BestSoFar> bests;
  for (const RaisedBest& raised : cost_so_far(connection_, row.id, parsed.spec.objective).raised) {
    if (!bests.empty() && !parsed.spec.objective.better(raised.value, bests.back().value)) continue;
    bests.push_back({raised.at, seconds_of(raised.at - row.created_at), raised.trial, raised.value, raised.resource});
  }
  return bests;
}

views::Costs Reader::costs(const Known& job, Timestamp now) {
  const auto& [row, parsed] = job;
  const Saved saved = saved_by_stopping(connection_, row, *parsed);
  const std::int64_t training_ms_saved = std::llround(saved.training_ms);
  // A comparison with NULL counts as no value; 9e999 is SQLite's infinity.
  Statement measured = connection_.prepare(
      "SELECT count(*), coalesce(sum(objective IS NULL OR abs(objective) = 9e999), 0), "
      "min(number) FILTER (WHERE objective IS NULL OR abs(objective) = 9e999), coalesce(sum(violation > 0), 0) FROM trials "
      "WHERE job = ? AND (objective IS NOT NULL OR objective_is_nan = 1 OR exit_class = 'nan_metric')");
  measured.query(row.id.value).step();
  views::Costs costs;
  costs.resource_spent = row.resource_spent;
  costs.training_seconds = seconds_of(row.training_ms);
  costs.wall_seconds = seconds_of(std::max<std::int64_t>(0, row.ended_at.value_or(now) - row.created_at));
  costs.resource_without_stopping = row.resource_spent + saved.resource;
  costs.training_seconds_without_stopping = seconds_of(row.training_ms + training_ms_saved);
  costs.resource_saved = saved.resource;
  costs.training_seconds_saved = seconds_of(training_ms_saved);
  costs.trials_measured = measured.integer(0);
  costs.trials_not_finite = measured.integer(1);
  read_column(measured, 2, costs.first_not_finite);
  costs.trials_violating = measured.integer(3);
  return costs;
}

Result<views::PlanAndActual> Reader::plan(JobId job) {
  Transaction moment(connection_, Transaction::Kind::read);
  const Result<std::shared_ptr<const ParsedJob>> known = parsed_job(job);
  if (!known) return known.error();
  return views::PlanAndActual{(*known)->plan, rungs_shown(rungs_of(connection_, job, **known))};
}

Result<void> Reader::analytics_json(JobId job, Timestamp now, const Sink& sink) {
  Transaction moment(connection_, Transaction::Kind::read);
  const Result<Known> known = known_job(job);
  if (!known) return known.error();
  const auto& [row, parsed] = *known;

  std::string text;
  JsonWriter json(text);
  json.begin_object().field("job", view_of(row)).key("trials").begin_array();
  Statement trials = select_all_trials();
  for (trials.query(job.value); trials.step();) {
    json.value(views::TableTrial{row_from<TrialRow>(trials), trials.text(kTrialConfigurationColumn), now});
    hand_over(text, sink, kPieceBytes);
  }
  json.end_array().field("best_so_far", best_so_far(row, *parsed));
  json.field("rungs", rungs_shown(rungs_of(connection_, job, *parsed)));
  json.field("replicas", replicas(job, *parsed, NonDominated::all));
  json.field("pareto", pareto_front(job, *parsed));
  json.field("summary", costs(*known, now)).end_object();
  hand_over(text, sink, 0);
  return {};
}

Result<void> Reader::analytics_csv(JobId job, Timestamp now, const Sink& sink) {
  Transaction moment(connection_, Transaction::Kind::read);
  const Result<std::shared_ptr<const ParsedJob>> known = parsed_job(job);
  if (!known) return known.error();
  const JobSpec& spec = (*known)->spec;

  std::string text = csv_header(spec);
  BoundedValues bounded(connection_, spec);
  Statement trials = select_all_trials();
  for (trials.query(job.value); trials.step();) {
    const auto row = row_from<TrialRow>(trials);
    text += csv_line(row, configuration_from_text(trials.text(kTrialConfigurationColumn)), bounded.cells_of(row), spec, now);
    hand_over(text, sink, kPieceBytes);
  }
  hand_over(text, sink, 0);
  return {};
}

}  // namespace tuneband

// All trials of a job by columns: what a page draws of a whole job.
#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "analytics/columns.hpp"
#include "analytics/curves.hpp"
#include "analytics/decision_choice.hpp"
#include "analytics/flat_json.hpp"
#include "analytics/reader.hpp"
#include "analytics/trial_choice.hpp"
#include "core/text.hpp"
#include "core/time.hpp"
#include "db/row_columns.hpp"

namespace tuneband {

namespace {

constexpr std::array kTrialStates = {TrialState::pending, TrialState::running, TrialState::paused,   TrialState::completed,
                                     TrialState::stopped, TrialState::failed,  TrialState::cancelled};
constexpr std::array kVerdicts = {Verdict::waiting, Verdict::promoted, Verdict::stopped, Verdict::completed};

template <class Word, std::size_t size>
void write_words(JsonWriter& json, std::string_view name, const std::array<Word, size>& words) {
  json.field(name, words);
}

template <class Word, std::size_t size>
std::int64_t code_of(const std::array<Word, size>& words, Word word) {
  return std::find(words.begin(), words.end(), word) - words.begin();
}

}  // namespace

// ---- trials -------------------------------------------------------------------------------------------------------------------

class TrialColumns {
 public:
  // `digits` of the parameters that are numbers; nothing: as they are.
  TrialColumns(const JobSpec& spec, Timestamp created_at, std::optional<int> digits, const CostSoFar& cost)
      : spec_(spec), created_at_(created_at), digits_(digits), cost_(cost) {
    for (const Parameter& parameter : spec.search_space.parameters())
      column_of_.emplace(Json(parameter.name).dump(), &parameters_.emplace_back(parameter));
    for (std::size_t i = 0; i < spec.more_objectives.size(); ++i) more_objectives_.emplace_back("");
  }

  void add(const TrialRow& row, std::string_view configuration) {
    ++trials_;
    number_.add(row.id.number);
    state_.add(code_of(kTrialStates, row.state));
    bracket_.add(row.bracket);
    rung_.add(row.rung);
    resource_.add(row.resource);
    until_resource_.add(row.until_resource);
    objective_.add(row.objective);
    objective_resource_.add(row.objective_resource);
    kept_value_.add(row.kept_value);
    kept_resource_.add(row.kept_resource);
    violation_.add(row.violation);
    created_.add_time(row.created_at, created_at_);
    started_.add_time(row.started_at, created_at_);
    const auto arrival = cost_.arrived.find(row.id.number);
    arrived_.add_time(arrival == cost_.arrived.end() ? std::nullopt : std::optional(arrival->second), created_at_);
    ended_.add_time(row.ended_at, created_at_);
    training_seconds_.add(seconds_of(row.training_ms));
    replicas_.add(row.replicas());
    replicated_ = replicated_ || row.replicas() > 1;
    attempts_.add(attempts_shown(row));
    segments_.add(row.attempts_in_all);
    worker_.add(workers_.index_of(row.worker.value));
    exit_class_.add(exit_classes_.index_of(row.exit_class ? to_string(*row.exit_class) : ""));
    add_cost(row.id.number);
    if (row.origin == kEnqueued) enqueued_.add(row.id.number);
    add_more_objectives(row);
    add_parameters(configuration);
  }

  // As fields of the object that `json` is in.
  void write(JsonWriter& json) {
    write_words(json, "states", kTrialStates);
    json.key("workers");
    workers_.write(json);
    json.key("exit_classes");
    exit_classes_.write(json);
    json.field("trials", trials_);
    columns_.write(json);
    if (!spec_.constraints.empty()) violation_.write(json);
    if (replicated_) replicas_.write(json);
    json.key("more_objectives").begin_array();
    for (Column& column : more_objectives_) column.write_cells(json);
    json.end_array();
    json.key("parameters").begin_object();
    for (ParameterColumn& column : parameters_) column.cells.write(json);
    json.end_object();
  }

 private:
  struct ParameterColumn {
    explicit ParameterColumn(const Parameter& parameter)
        : cells(parameter.name), categories(std::holds_alternative<CategoricalDomain>(parameter.domain)) {}
    Column cells;
    bool categories = false;
    int trials = 0;  // that have a cell
  };

  void add_cost(int number) {
    const auto spent = cost_.until.find(number);
    if (spent == cost_.until.end()) {
      resource_so_far_.add_null();
      return worker_seconds_so_far_.add_null();
    }
    resource_so_far_.add(spent->second.resource);
    worker_seconds_so_far_.add(seconds_of(spent->second.worker_ms));
  }

  void add_more_objectives(const TrialRow& row) {
    for (std::size_t i = 0; i < more_objectives_.size(); ++i) {
      if (i < row.more_objectives.size()) {
        more_objectives_[i].add(row.more_objectives[i]);
      } else {
        more_objectives_[i].add_null();
      }
    }
  }

  void add_parameters(std::string_view configuration) {
    std::string written_anew;
    if (!read_flat_json(configuration, members_)) {
      written_anew = configuration_text(configuration_from_text(configuration));
      read_flat_json(written_anew, members_);
    }
    for (const FlatMember& member : members_) {
      const auto column = column_of_.find(member.name);
      if (column == column_of_.end()) continue;
      add_value(*column->second, member.value);
      column->second->trials = trials_;
    }
    for (ParameterColumn& column : parameters_) {
      if (std::exchange(column.trials, trials_) != trials_) column.cells.add_null();
    }
  }

  // A category is itself with all of its digits.
  void add_value(ParameterColumn& column, std::string_view json) {
    const bool rounded = digits_ && !column.categories && json.find_first_of(".eE") != std::string_view::npos;
    const std::optional<double> number = rounded ? parse_number(json) : std::nullopt;
    number ? column.cells.add_drawn(*number, *digits_) : column.cells.add_json(json);
  }

  const JobSpec& spec_;
  Timestamp created_at_;
  std::optional<int> digits_;
  const CostSoFar& cost_;
  int trials_ = 0;
  bool replicated_ = false;
  Words workers_;
  Words exit_classes_;
  Columns columns_;
  Column& number_ = columns_.add("number");
  Column& state_ = columns_.add("state");
  Column& bracket_ = columns_.add("bracket");
  Column& rung_ = columns_.add("rung");
  Column& resource_ = columns_.add("resource");
  Column& until_resource_ = columns_.add("until_resource");
  Column& objective_ = columns_.add("objective");
  Column& objective_resource_ = columns_.add("objective_resource");
  Column& kept_value_ = columns_.add("kept_value");
  Column& kept_resource_ = columns_.add("kept_resource");
  Column& created_ = columns_.add("created");
  Column& started_ = columns_.add("started");
  Column& arrived_ = columns_.add("arrived");
  Column& ended_ = columns_.add("ended");
  Column& training_seconds_ = columns_.add("training_seconds");
  Column& attempts_ = columns_.add("attempts");
  Column& segments_ = columns_.add("segments");
  Column& worker_ = columns_.add("worker");
  Column& exit_class_ = columns_.add("exit_class");
  Column& resource_so_far_ = columns_.add("resource_so_far");
  Column& worker_seconds_so_far_ = columns_.add("worker_seconds_so_far");
  Column& enqueued_ = columns_.add("enqueued");
  Column violation_{"violation"};
  Column replicas_{"replicas"};
  std::deque<Column> more_objectives_;
  std::deque<ParameterColumn> parameters_;
  std::map<std::string, ParameterColumn*, std::less<>> column_of_;  // by the JSON of its name
  std::vector<FlatMember> members_;
};

namespace {

// ---- decisions ----------------------------------------------------------------------------------------------------------------

constexpr std::string_view kDecisionShownColumns =
    "trial, bracket, rung, resource, value, value_is_nan, violation, verdict, rank, filled, slots, keep, cutoff, cutoff_is_nan, "
    "at";

DecisionShown decision_shown_from(const Statement& row) {
  DecisionShown shown;
  shown.trial = row.small_integer(0);
  shown.bracket = row.small_integer(1);
  shown.rung = row.small_integer(2);
  shown.resource = row.integer(3);
  shown.value = number_from(row, 4, 5);
  shown.violation = row.number(6);
  shown.verdict = verdict_from(row.text(7)).value_or(Verdict::waiting);
  shown.rank = row.small_integer(8);
  shown.filled = row.small_integer(9);
  shown.slots = row.small_integer(10);
  shown.keep = row.small_integer(11);
  shown.cutoff = number_from(row, 12, 13);
  shown.at = Timestamp{row.integer(14)};
  return shown;
}

void write_decisions_shown(JsonWriter& json, const std::vector<DecisionShown>& decisions, bool constrained,
                           Timestamp created_at) {
  Columns columns;
  Column& trial = columns.add("trial");
  Column& bracket = columns.add("bracket");
  Column& rung = columns.add("rung");
  Column& resource = columns.add("resource");
  Column& value = columns.add("value");
  Column& verdict = columns.add("verdict");
  Column& rank = columns.add("rank");
  Column& filled = columns.add("filled");
  Column& slots = columns.add("slots");
  Column& keep = columns.add("keep");
  Column& cutoff = columns.add("cutoff");
  Column& at = columns.add("at");
  Column violation("violation");
  for (const DecisionShown& one : decisions) {
    trial.add(one.trial);
    bracket.add(one.bracket);
    rung.add(one.rung);
    resource.add(one.resource);
    value.add(one.value);
    verdict.add(code_of(kVerdicts, one.verdict));
    rank.add(one.rank);
    filled.add(one.filled);
    slots.add(one.slots);
    keep.add(one.keep);
    cutoff.add(one.cutoff);
    at.add_time(one.at, created_at);
    violation.add(one.violation);
  }
  columns.write(json);
  if (constrained) violation.write(json);
}

}  // namespace

namespace {

void write_best_so_far(JsonWriter& json, const std::vector<RaisedBest>& raised, Timestamp created_at) {
  Columns columns;
  Column& seconds = columns.add("seconds");
  Column& trial = columns.add("trial");
  Column& value = columns.add("value");
  Column& resource = columns.add("resource");
  Column& resource_so_far = columns.add("resource_so_far");
  Column& worker_seconds_so_far = columns.add("worker_seconds_so_far");
  for (const RaisedBest& one : raised) {
    seconds.add_time(one.at, created_at);
    trial.add(one.trial);
    value.add(one.value);
    resource.add(one.resource);
    resource_so_far.add(one.spent.resource);
    worker_seconds_so_far.add(seconds_of(one.spent.worker_ms));
  }
  json.key("best_so_far").begin_object();
  columns.write(json);
  json.end_object();
}

std::vector<int> trials_of(const std::vector<RaisedBest>& raised) {
  std::vector<int> trials;
  for (const RaisedBest& one : raised) trials.push_back(one.trial);
  return trials;
}

}  // namespace

Result<RawJson> Reader::columns(JobId job, const ColumnsQuery& query) {
  Transaction moment(connection_, Transaction::Kind::read);
  const Result<Known> known = known_job(job);
  if (!known) return known.error();
  const auto& [row, parsed] = *known;
  const JobSpec& spec = parsed->spec;
  const CostSoFar cost = cost_so_far(connection_, job, spec.objective);
  TrialColumns columns(spec, row.created_at, query.digits, cost);
  int left_out = 0;
  if (query.trials_max && row.trials_created > *query.trials_max) {
    left_out = add_chosen(columns, row, spec, static_cast<std::size_t>(*query.trials_max), trials_of(cost.raised));
  } else {
    Statement trials = select_all_trials();
    for (trials.query(job.value); trials.step();) columns.add(row_from<TrialRow>(trials), trials.text(kTrialConfigurationColumn));
  }
  RawJson shown;
  JsonWriter json(shown.text);
  json.begin_object().field("created_at", row.created_at);
  columns.write(json);
  write_best_so_far(json, cost.raised, row.created_at);
  write_notes(json, job);
  json.field("left_out", left_out).end_object();
  return shown;
}

// Gives how many trials are left out.
int Reader::add_chosen(TrialColumns& columns, const JobRow& row, const JobSpec& spec, std::size_t trials_max,
                       std::span<const int> raised) {
  const std::vector<int> chosen = choose_trials(connection_, row.id, spec.objective.goal, trials_max, raised);
  Statement trial = connection_.prepare(select_sql<TrialRow>("WHERE job = ? AND number = ?"));
  for (const int number : chosen) {
    if (!trial.query(row.id.value, number).step()) continue;
    columns.add(row_from<TrialRow>(trial), trial.text(kTrialConfigurationColumn));
  }
  return row.trials_created - static_cast<int>(chosen.size());
}

Result<RawJson> Reader::curves(JobId job, const CurvesQuery& query) {
  Transaction moment(connection_, Transaction::Kind::read);
  const Result<Known> known = known_job(job);
  if (!known) return known.error();
  const auto& [row, parsed] = *known;
  for (const int number : query.trials) {
    if (const auto there = require_trial({job, number}); !there) return there.error();
  }
  const auto trials_max = static_cast<std::size_t>(query.trials_max);
  const std::vector<int> numbers =
      query.trials.empty() ? choose_trials(connection_, job, parsed->spec.objective.goal, trials_max) : query.trials;
  CurveReader reader(connection_, CurveReader::Points::of_the_objective, parsed->spec.scheduler.restarts);
  Columns columns;
  Column& trial = columns.add("trial");
  Column& begin = columns.add("begin");
  Column& resource = columns.add("resource");
  Column& value = columns.add("value");
  std::int64_t points = 0;
  for (const int number : numbers) {
    const std::vector<CurvePoint> curve = reader.decimated({job, number}, query.points);
    if (curve.empty()) continue;
    trial.add(number);
    begin.add(points);
    points += static_cast<std::int64_t>(curve.size());
    for (const CurvePoint& point : curve) {
      resource.add(point.resource);
      value.add_drawn(*point.objective);
    }
  }
  begin.add(points);
  RawJson shown;
  JsonWriter json(shown.text);
  json.begin_object();
  columns.write(json);
  json.field("left_out", query.trials.empty() ? row.trials_created - static_cast<int>(numbers.size()) : 0).end_object();
  return shown;
}

Result<RawJson> Reader::decision_columns(JobId job) {
  Transaction moment(connection_, Transaction::Kind::read);
  const Result<Known> known = known_job(job);
  if (!known) return known.error();
  const auto& [row, parsed] = *known;
  std::vector<DecisionShown> decisions;
  Statement rows =
      connection_.prepare(joined({"SELECT ", kDecisionShownColumns, " FROM decisions WHERE job = ? ORDER BY trial, rung"}));
  for (rows.query(job.value); rows.step();) decisions.push_back(decision_shown_from(rows));
  const std::size_t all = decisions.size();
  decisions = thinned(std::move(decisions), kDecisionsShownMax);
  RawJson shown;
  JsonWriter json(shown.text);
  json.begin_object().field("created_at", row.created_at);
  write_words(json, "verdicts", kVerdicts);
  json.field("decisions", all).field("left_out", all - decisions.size());
  write_decisions_shown(json, decisions, !parsed->spec.constraints.empty(), row.created_at);
  json.end_object();
  return shown;
}

}  // namespace tuneband

#include "db/row_columns.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "core/json.hpp"
#include "core/json_writer.hpp"
#include "core/text.hpp"
#include "db/described_row.hpp"

namespace tuneband {

namespace debugger {
BOOST_DESCRIBE_STRUCT(RuleStanding, (), (rule, saved, judged, last_step, fault))
}
BOOST_DESCRIBE_STRUCT(RuleState, (), (standing, at))

namespace {

// The CHECK constraints hold the words, so another one means a damaged file.
template <class Word>
Word known_word(const std::optional<Word>& word, std::string_view text) {
  if (!word) throw SqliteError(SQLITE_CORRUPT, "database: unknown word \"" + std::string(text) + "\"");
  return *word;
}

Json stored_json(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) throw SqliteError(SQLITE_CORRUPT, "database: a JSON column holds something else");
  return json;
}

// ---- the columns of each table, key first -------------------------------------------------------------------------------------

template <class Row, class Like>
concept RowOf = std::is_same_v<std::remove_const_t<Row>, Like>;

// field: a column. number: two, for a value that may be NaN. best: three. metrics: text, left out where the objective is all.
template <RowOf<JobRow> Row, class Columns>
void list_columns(Row& row, Columns& columns) {
  columns.field("id", row.id);
  columns.field("name", row.name);
  columns.field("state", row.state);
  columns.field("reason", row.reason);
  columns.field("starts_no_more", row.starts_no_more);
  columns.field("created_at", row.created_at);
  columns.field("ended_at", row.ended_at);
  columns.field("trials_created", row.trials_created);
  columns.field("trials_completed", row.trials_completed);
  columns.field("trials_stopped", row.trials_stopped);
  columns.field("trials_failed", row.trials_failed);
  columns.field("trials_cancelled", row.trials_cancelled);
  columns.best("best", row.best);
  columns.best("best_anywhere", row.best_anywhere);
  columns.field("resource_spent", row.resource_spent);
  columns.field("training_ms", row.training_ms);
  columns.field("trials_since_improvement", row.trials_since_improvement);
  columns.field("failures_in_a_row", row.failures_in_a_row);
  columns.field("failing_with", row.failing_with);
  columns.field("ending_as", row.ending_as);
  columns.field("last_epoch", row.last_epoch);
  columns.field("expected_improvement", row.expected_improvement);
  columns.field("suggestions_below", row.suggestions_below);
  columns.field("weight", row.weight);
  columns.field("max_parallel_trials", row.max_parallel_trials);
  columns.field("max_runtime_ms", row.max_runtime_ms);
  columns.field("held", row.held);
  columns.field("share_start", row.share_start);
}

template <RowOf<TrialRow> Row, class Columns>
void list_columns(Row& row, Columns& columns) {
  columns.field("job", row.id.job);
  columns.field("number", row.id.number);
  columns.field("state", row.state);
  columns.field("configuration", row.configuration);
  columns.field("origin", row.origin);
  columns.field("bracket", row.bracket);
  columns.field("rung", row.rung);
  columns.field("resource", row.resource);
  columns.field("checkpoint_resource", row.checkpoint_resource);
  columns.field("until_resource", row.until_resource);
  columns.number("objective", row.objective);
  columns.field("objective_resource", row.objective_resource);
  columns.field("attempts", row.attempts);
  columns.field("attempts_in_all", row.attempts_in_all);
  columns.field("epoch", row.epoch);
  columns.field("worker", row.worker);
  columns.field("peers", row.peers);
  columns.field("exit_class", row.exit_class);
  columns.field("message", row.message);
  columns.field("created_at", row.created_at);
  columns.field("started_at", row.started_at);
  columns.field("ended_at", row.ended_at);
  columns.field("assigned_at", row.assigned_at);
  columns.field("training_ms", row.training_ms);
  columns.field("segment_training_ms", row.segment_training_ms);
  columns.field("assigned_ms", row.assigned_ms);
  columns.field("violation", row.violation);
  columns.field("more_objectives", row.more_objectives);
  columns.field("kept_value", row.kept_value);
  columns.field("kept_resource", row.kept_resource);
  columns.field("files_epoch", row.files_epoch);
  columns.field("crash", row.crash);
  columns.field("test_value", row.test_value);
  columns.field("standard_error", row.standard_error);
  columns.field("rules", row.rules);
  columns.field("curve", row.curve);
  columns.field("best_resource", row.best_resource);
  columns.field("kept_until_resource", row.kept_until_resource);
  columns.field("kept_eta", row.kept_eta);
}

template <RowOf<SegmentRow> Row, class Columns>
void list_columns(Row& row, Columns& columns) {
  columns.field("job", row.trial.job);
  columns.field("trial", row.trial.number);
  columns.field("epoch", row.epoch);
  columns.field("attempt", row.attempt);
  columns.field("worker", row.worker);
  columns.field("peers", row.peers);
  columns.field("from_resource", row.from_resource);
  columns.field("until_resource", row.until_resource);
  columns.field("resource", row.resource);
  columns.field("began_at", row.began_at);
  columns.field("ended_at", row.ended_at);
  columns.field("outcome", row.outcome);
}

template <RowOf<ObservationRow> Row, class Columns>
void list_columns(Row& row, Columns& columns) {
  columns.field("job", row.trial.job);
  columns.field("trial", row.trial.number);
  columns.field("resource", row.resource);
  columns.number("objective", row.objective);
  columns.metrics("metrics", row.metrics, row.objective.has_value());
  columns.field("at", row.at);
}

template <RowOf<DecisionRow> Row, class Columns>
void list_columns(Row& row, Columns& columns) {
  columns.field("job", row.trial.job);
  columns.field("trial", row.trial.number);
  columns.field("rung", row.rung);
  columns.field("bracket", row.bracket);
  columns.field("resource", row.resource);
  columns.field("sequence", row.sequence);
  columns.number("value", row.value);
  columns.field("verdict", row.verdict);
  columns.field("rank", row.rank);
  columns.field("filled", row.filled);
  columns.field("slots", row.slots);
  columns.field("keep", row.keep);
  columns.number("cutoff", row.cutoff);
  columns.field("ahead", row.ahead);
  columns.field("rule", row.rule);
  columns.field("at", row.at);
  columns.field("violation", row.violation);
  columns.field("more_values", row.more_values);
  columns.field("note", row.note);
}

template <RowOf<FindingRow> Row, class Columns>
void list_columns(Row& row, Columns& columns) {
  columns.field("job", row.trial.job);
  columns.field("trial", row.trial.number);
  columns.field("rule", row.rule);
  columns.field("sequence", row.sequence);
  columns.field("tensor", row.tensor);
  columns.field("step", row.step);
  columns.number("value", row.value);
  columns.number("threshold", row.threshold);
  columns.field("message", row.message);
  columns.field("remedy", row.remedy);
  columns.field("action", row.action);
  columns.field("at", row.at);
  columns.field("webhook", row.webhook);
  columns.field("mode", row.mode);
}

template <RowOf<EventRow> Row, class Columns>
void list_columns(Row& row, Columns& columns) {
  columns.field("id", row.id);
  columns.field("kind", row.kind);
  columns.field("job", row.job);
  columns.field("trial", row.trial);
  columns.field("worker", row.worker);
  columns.field("resource", row.resource);
  columns.field("value", row.value);
  columns.field("exit_class", row.exit_class);
  columns.field("message", row.message);
  columns.field("at", row.at);
}

template <class Row>
struct Table;
template <>
struct Table<JobRow> {
  static constexpr std::string_view name = "jobs";
  static constexpr std::size_t key_columns = 1;
};
template <>
struct Table<TrialRow> {
  static constexpr std::string_view name = "trials";
  static constexpr std::size_t key_columns = 2;
};
template <>
struct Table<SegmentRow> {
  static constexpr std::string_view name = "segments";
  static constexpr std::size_t key_columns = 3;
};
template <>
struct Table<ObservationRow> {
  static constexpr std::string_view name = "observations";
  static constexpr std::size_t key_columns = 3;
};
template <>
struct Table<DecisionRow> {
  static constexpr std::string_view name = "decisions";
  static constexpr std::size_t key_columns = 3;
};
template <>
struct Table<FindingRow> {
  static constexpr std::string_view name = "findings";
  static constexpr std::size_t key_columns = 3;
};
template <>
struct Table<EventRow> {
  static constexpr std::string_view name = "events";
  static constexpr std::size_t key_columns = 1;
};

// ---- names --------------------------------------------------------------------------------------------------------------------

using Names = std::vector<std::string>;

struct NamesOfColumns {
  Names names;
  void field(std::string_view name, const auto&) { names.emplace_back(name); }
  void number(std::string_view name, const auto&) {
    names.emplace_back(name);
    names.push_back(joined({name, "_is_nan"}));
  }
  void best(std::string_view name, const auto&) {
    for (const std::string_view part : {"_trial", "_resource", "_value"}) names.push_back(joined({name, part}));
  }
  void metrics(std::string_view name, const auto&, bool) { names.emplace_back(name); }
};

template <class Row>
const Names& names_of() {
  static const Names names = [] {
    const Row row{};
    NamesOfColumns columns;
    list_columns(row, columns);
    return columns.names;
  }();
  return names;
}

std::string list_of(std::span<const std::string> names, const std::function<std::string(std::size_t)>& text) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) list += (i == 0 ? "" : ", ") + text(i);
  return list;
}

template <class Row>
std::span<const std::string> key_of() {
  return std::span(names_of<Row>()).first(Table<Row>::key_columns);
}
template <class Row>
std::span<const std::string> not_key_of() {
  return std::span(names_of<Row>()).subspan(Table<Row>::key_columns);
}

std::string parameter(std::size_t index) { return "?" + std::to_string(index + 1); }

// act(name, value) for what a described struct consists of, the members of members among them.
template <class Struct, class Act>
void for_each_value(Struct& whole, const Act& act) {
  using namespace boost::describe;
  boost::mp11::mp_for_each<describe_members<std::remove_const_t<Struct>, mod_public>>([&](auto member) {
    auto& value = whole.*member.pointer;
    if constexpr (has_describe_members<std::remove_cvref_t<decltype(value)>>::value) {
      for_each_value(value, act);
    } else {
      act(member.name, value);
    }
  });
}

// ---- what is bound ------------------------------------------------------------------------------------------------------------

template <class Word>
requires std::is_enum_v<Word> std::string_view stored(Word word) { return to_string(word); }
template <class Number>
requires std::is_arithmetic_v<Number> Number stored(Number number) { return number; }
const std::string& stored(const std::string& text) { return text; }
std::int64_t stored(JobId id) { return id.value; }
std::int64_t stored(Epoch epoch) { return epoch.value; }
std::int64_t stored(Timestamp time) { return time.ms; }
const std::string& stored(const WorkerId& worker) { return worker.value; }
std::string stored(const Configuration& configuration) { return configuration_text(configuration); }
std::string stored(const std::vector<double>& values) { return values_text(values); }

std::string stored(const std::vector<WorkerId>& workers) {
  Json ids = Json::array();
  for (const WorkerId& worker : workers) ids.push_back(worker.value);
  return ids.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string stored(const std::vector<int>& numbers) {
  std::string text = "[";
  for (const int number : numbers) {
    if (text.size() > 1) text += ',';
    text += std::to_string(number);
  }
  return text + "]";
}

std::string stored(const std::vector<RuleState>& rules) {
  Json list = Json::array();
  for (const RuleState& rule : rules) {
    Json& one = list.emplace_back(Json::object());
    for_each_value(rule, [&one](const char* name, const auto& value) { one[name] = stored(value); });
  }
  return list.dump(-1, ' ', false, Json::error_handler_t::replace);
}

class ColumnBinder {
 public:
  explicit ColumnBinder(Statement& statement) : statement_(statement) {}
  int bound() const { return index_; }

  template <class T>
  void field(std::string_view, const T& value) {
    statement_.bind(index_++, stored(value));
  }
  template <class T>
  void field(std::string_view, const std::optional<T>& value) {
    value ? statement_.bind(index_++, stored(*value)) : statement_.bind(index_++, std::nullopt);
  }
  void number(std::string_view, const std::optional<double>& value) {
    const bool nan = value && std::isnan(*value);
    statement_.bind(index_++, nan ? std::nullopt : value);
    statement_.bind(index_++, nan);
  }
  void best(std::string_view, const std::optional<BestRow>& best) {
    statement_.bind(index_++, best ? std::optional(best->trial) : std::nullopt);
    statement_.bind(index_++, best ? std::optional(best->resource) : std::nullopt);
    statement_.bind(index_++, best ? std::optional(best->value) : std::nullopt);
  }
  // The objective stands in its own column; its metric's name is in the job's document.
  void metrics(std::string_view, const Metrics& metrics, bool objective_is_among_them) {
    if (metrics.size() <= (objective_is_among_them ? 1U : 0U)) return statement_.bind(index_++, std::nullopt);
    std::string text;
    JsonWriter json(text);
    json.begin_object();
    for (const auto& [name, value] : metrics) json.field(name, value);
    json.end_object();
    statement_.bind(index_++, text);
  }

 private:
  Statement& statement_;
  int index_ = 0;
};

// ---- what is read -------------------------------------------------------------------------------------------------------------

class ColumnReader {
 public:
  explicit ColumnReader(const Statement& row) : row_(row) {}

  template <class T>
  void field(std::string_view, T& value) {
    read(column_++, value);
  }
  template <class T>
  void field(std::string_view, std::optional<T>& value) {
    if (!row_.is_null(column_)) read(column_, value.emplace());
    ++column_;
  }
  void number(std::string_view, std::optional<double>& value) {
    value = number_from(row_, column_, column_ + 1);
    column_ += 2;
  }
  void best(std::string_view, std::optional<BestRow>& best) {
    if (!row_.is_null(column_)) best = BestRow{row_.small_integer(column_), row_.integer(column_ + 1), row_.number(column_ + 2)};
    column_ += 3;
  }
  void metrics(std::string_view, Metrics& metrics, bool) {
    if (!row_.is_null(column_)) {
      const Json stored = stored_json(row_.text(column_));
      for (const auto& [name, value] : stored.items()) metrics.emplace_back(name, number_from_json(value).value_or(kNan));
    }
    ++column_;
  }

 private:
  static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

  void read(int column, JobState& state) { state = known_word(job_state_from(row_.text(column)), row_.text(column)); }
  void read(int column, TrialState& state) { state = known_word(trial_state_from(row_.text(column)), row_.text(column)); }
  void read(int column, ExitClass& exit) { exit = known_word(exit_class_from(row_.text(column)), row_.text(column)); }
  void read(int column, Verdict& verdict) { verdict = known_word(verdict_from(row_.text(column)), row_.text(column)); }
  template <class T>
  void read(int column, T& value) {
    read_column(row_, column, value);
  }
  void read(int, Configuration&) {}
  void read(int column, std::vector<double>& values) { values = values_from_text(row_.text(column)); }
  void read(int column, std::vector<WorkerId>& workers) {
    if (row_.text(column) == "[]") return;
    for (const Json& worker : stored_json(row_.text(column))) workers.push_back(WorkerId{worker.get<std::string>()});
  }
  void read(int column, std::vector<int>& numbers) {
    if (row_.text(column) == "[]") return;
    for (const Json& number : stored_json(row_.text(column))) {
      if (number.is_number_integer()) numbers.push_back(number.get<int>());
    }
  }

  void read(int column, std::vector<RuleState>& rules) {
    if (row_.text(column) == "[]") return;
    for (const Json& one : stored_json(row_.text(column))) {
      for_each_value(rules.emplace_back(), [&one](const char* name, auto& value) {
        if (const auto found = one.find(name); found != one.end()) from_stored(*found, value);
      });
    }
  }
  template <class T>
  static void from_stored(const Json& json, T& value) {
    json.get_to(value);
  }
  static void from_stored(const Json& json, Timestamp& time) { json.get_to(time.ms); }

  const Statement& row_;
  int column_ = 0;
};

int column_of(const Names& names, std::string_view name) {
  return static_cast<int>(std::find(names.begin(), names.end(), name) - names.begin());
}

}  // namespace

// ---- statements ---------------------------------------------------------------------------------------------------------------

template <class Row>
std::string list_of_names() {
  return list_of(names_of<Row>(), [](std::size_t i) { return names_of<Row>()[i]; });
}

template <class Row>
std::string select_sql(std::string_view rest) {
  static const std::string select = joined({"SELECT ", list_of_names<Row>(), " FROM ", Table<Row>::name, " "});
  return joined({select, rest});
}

template <class Row>
std::string insert_sql(std::string_view more) {
  const std::string parameters = list_of(names_of<Row>(), parameter);
  const std::string after = more.empty() ? "" : ", " + parameter(names_of<Row>().size());
  return joined({"INSERT INTO ", Table<Row>::name, " (", list_of_names<Row>(), more.empty() ? "" : ", ", more, ") VALUES (",
                 parameters, after, ")"});
}

template <class Row>
std::string on_conflict_update_sql() {
  const auto key = key_of<Row>();
  const auto others = not_key_of<Row>();
  return joined({" ON CONFLICT (", list_of(key, [&](std::size_t i) { return key[i]; }), ") DO UPDATE SET ",
                 list_of(others, [&](std::size_t i) { return others[i] + " = excluded." + others[i]; })});
}

template <class Row>
std::string update_sql() {
  static_assert(Table<Row>::key_columns == 1);
  const auto others = not_key_of<Row>();
  return joined({"UPDATE ", Table<Row>::name, " SET ",
                 list_of(others, [&](std::size_t i) { return others[i] + " = " + parameter(i + 1); }), " WHERE ",
                 key_of<Row>().front(), " = ?1"});
}

template <class Row>
int bind_row(Statement& statement, const Row& row) {
  ColumnBinder columns(statement);
  list_columns(row, columns);
  return columns.bound();
}

template <class Row>
Row row_from(const Statement& row) {
  Row made;
  ColumnReader columns(row);
  list_columns(made, columns);
  return made;
}

template std::string select_sql<JobRow>(std::string_view);
template std::string select_sql<TrialRow>(std::string_view);
template std::string select_sql<SegmentRow>(std::string_view);
template std::string select_sql<DecisionRow>(std::string_view);
template std::string select_sql<FindingRow>(std::string_view);
template std::string insert_sql<JobRow>(std::string_view);
template std::string insert_sql<TrialRow>(std::string_view);
template std::string insert_sql<SegmentRow>(std::string_view);
template std::string insert_sql<ObservationRow>(std::string_view);
template std::string insert_sql<DecisionRow>(std::string_view);
template std::string insert_sql<FindingRow>(std::string_view);
template std::string insert_sql<EventRow>(std::string_view);
template std::string on_conflict_update_sql<TrialRow>();
template std::string on_conflict_update_sql<SegmentRow>();
template std::string on_conflict_update_sql<ObservationRow>();
template std::string on_conflict_update_sql<DecisionRow>();
template std::string update_sql<JobRow>();
template int bind_row(Statement&, const JobRow&);
template int bind_row(Statement&, const TrialRow&);
template int bind_row(Statement&, const SegmentRow&);
template int bind_row(Statement&, const ObservationRow&);
template int bind_row(Statement&, const DecisionRow&);
template int bind_row(Statement&, const FindingRow&);
template int bind_row(Statement&, const EventRow&);
template JobRow row_from<JobRow>(const Statement&);
template TrialRow row_from<TrialRow>(const Statement&);
template SegmentRow row_from<SegmentRow>(const Statement&);
template ObservationRow row_from<ObservationRow>(const Statement&);
template DecisionRow row_from<DecisionRow>(const Statement&);
template FindingRow row_from<FindingRow>(const Statement&);

const int kTrialConfigurationColumn = column_of(names_of<TrialRow>(), "configuration");

std::optional<double> number_from(const Statement& row, int column, int is_nan_column) {
  if (!row.is_null(column)) return row.number(column);
  if (row.integer(is_nan_column) != 0) return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

std::string configuration_text(const Configuration& configuration) { return to_json(configuration).dump(); }

Configuration configuration_from_text(std::string_view text) { return configuration_from_json(stored_json(text)); }

std::string values_text(const std::vector<double>& values) {
  if (values.empty()) return "[]";
  Json list = Json::array();
  for (const double value : values) list.push_back(number_to_json(value));
  return list.dump();
}

std::vector<double> values_from_text(std::string_view text) {
  std::vector<double> values;
  if (text == "[]") return values;
  for (const Json& value : stored_json(text))
    values.push_back(number_from_json(value).value_or(std::numeric_limits<double>::quiet_NaN()));
  return values;
}

}  // namespace tuneband

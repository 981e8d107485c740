#include "db/row_columns.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <span>

#include "core/json.hpp"
#include "core/text.hpp"
#include "db/column_values.hpp"
#include "db/listed_columns.hpp"

namespace tuneband {

namespace {

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

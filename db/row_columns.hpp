// How each row struct of scheduler/rows.hpp lies in its table. listed_columns.hpp lists a table's columns once; the texts of the
// statements, the binding and the reading (column_values.hpp) follow from the list.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.hpp"
#include "scheduler/rows.hpp"

namespace tuneband {

// For Row = JobRow, TrialRow, SegmentRow, ObservationRow, DecisionRow, FindingRow; of EventRow what is written.

// "SELECT job, number, ... FROM trials " and `rest` ("WHERE ..."): in the order of row_from().
template <class Row>
std::string select_sql(std::string_view rest);

// INSERT of all columns, of the parameters ?1, ?2, ...; `more`: further columns, of the parameters after those.
template <class Row>
std::string insert_sql(std::string_view more = "");
// What comes after an INSERT to change a row that is there, all but its key.
template <class Row>
std::string on_conflict_update_sql();
// UPDATE of all columns but the key, with the same parameters as insert_sql().
template <class Row>
std::string update_sql();

// Binds ?1, ?2, ... and gives how many those are.
template <class Row>
int bind_row(Statement& statement, const Row& row);

// Of a select_sql<Row>(). A job comes without its spec_json, a trial without its configuration: many readers want that
// as text, from kTrialConfigurationColumn.
template <class Row>
Row row_from(const Statement& row);

// All that are left of it.
template <class Row>
std::vector<Row> rows_from(Statement& rows) {
  std::vector<Row> all;
  while (rows.step()) all.push_back(row_from<Row>(rows));
  return all;
}

extern const int kTrialConfigurationColumn;

// A number that may be NaN or nothing takes two columns: SQLite turns NaN into NULL.
std::optional<double> number_from(const Statement& row, int column, int is_nan_column);

std::string configuration_text(const Configuration& configuration);
Configuration configuration_from_text(std::string_view text);
std::string values_text(const std::vector<double>& values);  // [0.5,"nan"]
std::vector<double> values_from_text(std::string_view text);

// What a trial is worth: the value of the model that it keeps, or else at the highest rung that it came to. As the index
// trials_by_objective has it, word by word.
inline constexpr std::string_view kValueOfTrial = "coalesce(kept_value, objective)";

inline constexpr std::string_view kObjectiveIsFinite = "objective BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308";

// Jobs that are deleted may have rows left, and stand in the table for as long. Nobody is told of them.
inline constexpr std::string_view kNotDeleted = "deleted = 0";

}  // namespace tuneband

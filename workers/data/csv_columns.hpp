// The columns of a CSV file, and where they stand in the files beside it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/csv_rows.hpp"
#include "core/error.hpp"

namespace tuneband::workers {

std::string_view trim(std::string_view text);

// Of a cell only its size: a file that is no table, named by mistake or to have it read out, has other things in it.
std::string size_of_text(std::string_view text);

// A column's name, if it is plainly one.
std::string shown(std::string_view name);
// Of a file that has one column, whose first line is this cell, and should have more.
std::string one_column_hint(std::string_view first_line);

// Where a column of that name is not there: whether it would be with another delimiter. "": not with a usual one.
std::string other_delimiter_hint(const std::vector<std::string>& names, std::string_view column);

// By the first row; "column3" where there is no header or the name is empty.
std::vector<std::string> column_names(const CsvRow& first, bool header);

// Puts a row's cells where the training file has them. Columns go by name where there is a header and names are not doubled,
// else all stand in the same order.
class ColumnMap {
 public:
  // As in the training file.
  ColumnMap() = default;

  // Of the file whose first row this is. `expected` are the training file's columns, `needed` those that have to be there.
  // Errors: with an empty path, a column that is not there, or that stands elsewhere where order counts.
  static Result<ColumnMap> create(const CsvRow& first, bool header, const std::vector<std::string>& expected,
                                  const std::vector<bool>& needed);

  // Cells of columns that the file lacks are empty. Valid until the next call.
  const CsvRow& in_order(const CsvRow& row);
  bool has(std::size_t column) const;
  // Columns that the training file lacks, by name.
  const std::vector<std::string>& additional() const { return additional_; }

 private:
  static constexpr auto kAbsent = static_cast<std::size_t>(-1);

  std::optional<std::vector<std::size_t>> sources_;  // of the training file's columns, in this file; nothing: as they stand
  std::vector<std::string> additional_;
  CsvRow ordered_;
};

}  // namespace tuneband::workers

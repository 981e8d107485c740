// What is odd in CSV files, and no fault: a user is told of it, and the job goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/csv_rows.hpp"
#include "core/error.hpp"
#include "workers/data/csv_columns.hpp"
#include "workers/data/csv_roles.hpp"

namespace tuneband::workers {

// Of the training files.
class CsvDoubts {
 public:
  // What is looked at from here on is of a file that the job's document has at `field`.
  void begin_file(std::string field) { field_ = std::move(field); }
  // Of the first file's, which has the columns' names: doubled ones, none at all, and what looks like a row of data.
  void look_at_names(const CsvRow& header);
  // A text that is no UTF-8 is told once a column; its bytes are compared as they are. `what`: "the name", "the text".
  void look_at_text(const CsvRow& row, std::size_t column, const char* what);
  // `equal` of a column's `numbers` become equal to others as 32-bit floats.
  void tell_of_equal_floats(const ColumnRoles& roles, std::size_t column, std::int64_t equal, std::int64_t numbers);
  // The first column without a name that is learnt from: a data frame's index that was written with its columns.
  void tell_of_nameless(const ColumnRoles& roles);

  std::vector<Error> take() { return std::move(doubts_); }

 private:
  std::string field_;
  std::vector<Error> doubts_;
  std::vector<std::size_t> nameless_;  // columns
  std::vector<bool> not_utf8_;         // columns that were told of
  std::size_t equal_floats_told_ = 0;
};

// Columns that the training file lacks: appends a doubt at `field` that names them.
void doubt_additional(const ColumnMap& columns, const std::string& field, std::vector<Error>& doubts);

}  // namespace tuneband::workers

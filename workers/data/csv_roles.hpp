// What the columns of a job's CSV files are for, as its document says.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/csv_rows.hpp"
#include "core/error.hpp"
#include "jobs/trainer_spec.hpp"

namespace tuneband::workers {

inline constexpr const char* kLabelField = "trainer.data.label";

// All by the column's place in the training file, from 0.
struct ColumnRoles {
  std::vector<std::string> names;  // column_names()
  std::size_t label = 0;
  std::optional<std::size_t> weight;
  std::optional<std::size_t> group;
  std::vector<bool> dropped;      // not looked at as data: weight and group, and what the user leaves out
  std::vector<bool> categorical;  // the user says so

  bool is_feature(std::size_t column) const { return column != label && !dropped[column]; }
  // Those that every file has to have.
  std::vector<bool> needed() const;
};

// `first`: the first row of the training files. Errors: at the field that names no column of the file, one of several of that
// name, or one that has another role already.
Result<ColumnRoles> column_roles(const CsvRow& first, const DataSpec& spec);

}  // namespace tuneband::workers

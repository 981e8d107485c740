// Columns of numbers that name rows.
#pragma once

#include <string>
#include <vector>

#include "workers/data/data_table.hpp"

namespace tuneband::workers {

// The numeric columns of a CSV file that have another whole number in each training row and either count, so that from the least
// to the largest there are hardly more numbers than rows, or are named as ids are ("id", "PassengerId", "user_id"). None where
// there are few rows: a year or a size may be another one in each of them.
std::vector<std::string> id_columns(const LoadedTables& tables);

}  // namespace tuneband::workers

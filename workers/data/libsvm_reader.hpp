// LibSVM files: "label[:weight] [qid:N] column:value column:value ...  # comment", columns from 0 and rising, what is not
// there is missing. All lines have a weight, or none has.
#pragma once

#include "core/error.hpp"
#include "workers/data/csv_reader.hpp"
#include "workers/data/data_table.hpp"

namespace tuneband::workers {

// Appends the rows of a file, each to the table that `target` names for its number (from 0). `columns` of a table grows as
// needed. Errors: with the line, and an empty path.
Result<TextRead> read_libsvm(const std::string& path, const RowTarget& target, const ReadOptions& options);

}  // namespace tuneband::workers

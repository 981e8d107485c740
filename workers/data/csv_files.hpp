// The rows of a job's CSV files, with their cells where the training file has them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/error.hpp"
#include "jobs/trainer_spec.hpp"
#include "workers/data/csv_columns.hpp"
#include "workers/data/csv_reader.hpp"

namespace tuneband::workers {

inline constexpr const char* kTrainField = "trainer.data.train";  // in the job's document
// Hints.
inline constexpr const char* kNoNumberHint =
    "correct the cell, where the value is missing leave it empty or name its text in trainer.data.missing, or name the column in "
    "trainer.data.categorical";

// In the job's document, of a training file: its own where there are several.
std::string train_field(const DataSpec& spec, std::size_t file);

// invalid_argument.
Error csv_fault(const std::string& field, std::string message, std::string hint = {});

// What a file's columns are, by its first row.
using HeaderReader = std::function<Result<ColumnMap>(const CsvRow&)>;
// A row below the header, and its number from 0.
using RowReader = std::function<Result<void>(const CsvRow&, std::uint64_t)>;

// Hands over the rows of a file, in order. Errors: as read_csv(), and a row that is longer or shorter than the first; what
// `on_header` and `on_row` give. At `field` where they have no path.
Result<TextRead> read_rows(const DataSpec& spec, const std::string& path, const std::string& field, const HeaderReader& on_header,
                           const RowReader& on_row, const ReadOptions& options);

// The same of each of the training files, one after the other; rows are numbered in each anew.
Result<void> read_training_rows(const DataSpec& spec, const HeaderReader& on_header, const RowReader& on_row,
                                const ReadOptions& options);

}  // namespace tuneband::workers

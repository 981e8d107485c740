// How a CSV file's cells become numbers: learnt from the training file, applied to it and to the validation file.
#pragma once

#include <functional>

#include "core/error.hpp"
#include "workers/data/data_table.hpp"

namespace tuneband::workers {

// Reads the training files once or twice. Errors: as load_tables().
Result<CsvEncoding> learn_csv_encoding(const protocol::DataSpec& spec);

// Appends the rows of `path` as numbers, each to the table that `target` names for its number (from 0). `field` is the file's
// place in the job ("trainer.data.validation"), for errors.
Result<void> encode_csv(const protocol::DataSpec& spec, const CsvEncoding& encoding, const std::string& path,
                        const std::string& field, const std::function<Table&(std::uint64_t row)>& target);

}  // namespace tuneband::workers

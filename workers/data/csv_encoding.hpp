// How a CSV file's cells become numbers: learnt from the training file, applied to it and to the validation file.
#pragma once

#include "core/error.hpp"
#include "workers/data/csv_reader.hpp"
#include "workers/data/data_table.hpp"

namespace tuneband::workers {

// Reads the training files once or twice; where `options` bound what is read, `positive` need not be there. Errors: as
// load_tables().
Result<CsvEncoding> learn_csv_encoding(const DataSpec& spec, const ReadOptions& options);

// Appends the rows of `path` as numbers, each to the table that `target` names for its number (from 0). `field` is the file's
// place in the job ("trainer.data.validation"), for errors. Where `options` bound what is read, rows with a label that the
// encoding lacks are left out. Columns that the encoding lacks are, too, and are told among its doubts.
Result<TextRead> encode_csv(const DataSpec& spec, CsvEncoding& encoding, const std::string& path, const std::string& field,
                            const RowTarget& target, const ReadOptions& options);

// Appends the features of the rows of a file that need not have labels, which are 0; `encoding` came with a model
// (read_features()). With a header columns go by name, else they stand as in the training file. Errors: at "data".
Result<TextRead> encode_features(const DataSpec& spec, const CsvEncoding& encoding, const std::string& path, Table& table);

}  // namespace tuneband::workers

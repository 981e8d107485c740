// A row of a CSV file as numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/csv_rows.hpp"
#include "core/error.hpp"
#include "workers/data/data_table.hpp"

namespace tuneband::workers {

// Takes rows whose cells stand as in the training file. Errors: at `field`, with line and column; a cell that is no number where
// one is expected, a label that is missing or none of the training file's, a weight below 0, a group that is missing.
class RowEncoder {
 public:
  // `encoding` and `field` outlive it. `sampled`: the encoding is learned of the first rows alone. Rows with a label that it
  // lacks are left out, and texts in a column of numbers count as missing.
  RowEncoder(const CsvEncoding& encoding, const std::string& field, bool sampled);

  // Of a file that is not trained on groups are needed for rankings alone, which are checked when all is read.
  void has_groups(bool there) { has_groups_ = there; }

  // Appends the row, without a label, which is 0.
  Result<void> encode_features(const CsvRow& row, Table& table) const;
  // Appends the row to the table that `target` names.
  Result<void> encode(const CsvRow& row, std::uint64_t number, const RowTarget& target) const;

 private:
  // `hint`: of a cell that is no number.
  Result<void> append_features(const CsvRow& row, Table& table, const char* hint) const;
  // Nothing: rows have none.
  Result<std::optional<std::uint64_t>> group_of(const CsvRow& row) const;
  // Nothing: all rows count alike.
  Result<std::optional<float>> weight_of(const CsvRow& row) const;
  Result<float> label_of(const CsvRow& row) const;
  Result<float> number_of(std::string_view cell, const CsvRow& row, const std::string& column, const char* hint = "") const;
  bool has_unknown_class(const CsvRow& row) const;
  bool is_positive(std::string_view cell) const;
  Error cell_fault(const CsvRow& row, const std::string& column, const std::string& expected, std::string_view cell,
                   std::string hint = {}) const;
  std::string hint_of_missing_label(std::string_view cell) const;

  const CsvEncoding& encoding_;
  const std::string& field_;
  const bool sampled_;
  const std::optional<double> positive_number_;
  bool has_groups_ = true;
};

}  // namespace tuneband::workers

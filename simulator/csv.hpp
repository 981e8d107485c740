// Whole CSV files (core/csv_rows.hpp) with their header, as recorded learning curves are: UTF-8, with a byte order mark or
// without, plain or compressed with gzip.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace tuneband {

struct Csv {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  // each as wide as the header
  std::vector<std::int64_t> lines;             // in which each row is, from 1; the last one of a row that spans several

  // Index of a column, or the number of columns when there is none of that name.
  std::size_t column(std::string_view name) const;
};

inline constexpr std::size_t kCsvSizeMax = std::size_t{512} << 20;  // bytes, unpacked

// Errors: no header, a column's name twice, a line with another number of cells, and those of CsvRows.
Result<Csv> parse_csv(std::string_view text);

// The text of a file, unpacked when it is gzip. Errors: not there, not readable, damaged, larger than kCsvSizeMax.
Result<std::string> read_text(const std::string& path);

Result<Csv> read_csv(const std::string& path);

}  // namespace tuneband

// CSV files as in RFC 4180, read as a stream by libcsv: quoted cells, any one-character delimiter, LF or CRLF, an optional UTF-8
// byte order mark. Blank lines are skipped; unquoted cells lose the blanks around them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace tuneband::workers {

inline constexpr std::size_t kCsvCellSizeMax = 1024 * 1024;  // bytes; more means a quote that was never closed
inline constexpr std::size_t kCsvColumnsMax = 1'000'000;

struct CsvRow {
  std::int64_t line = 0;                // of the file, from 1; the last one of a row that spans several
  std::vector<std::string_view> cells;  // valid during the call
};

// Calls `on_row` for each row until it gives an error. Errors: the file cannot be read, is compressed or not UTF-8-like text, a
// quote in the middle of a cell or never closed; with the line, and an empty path.
Result<void> read_csv(const std::string& path, char delimiter, const std::function<Result<void>(const CsvRow&)>& on_row);

// A text file's bytes in large pieces. Errors as above.
Result<void> read_text_file(const std::string& path, const std::function<Result<void>(std::string_view)>& on_piece);

}  // namespace tuneband::workers

// CSV files as in RFC 4180, read as a stream by libcsv: quoted cells, any one-character delimiter, LF or CRLF, an optional UTF-8
// byte order mark. The file may be compressed with gzip or zstd, whatever its name. Blank lines are skipped; unquoted cells lose
// the blanks around them.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
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

inline constexpr std::uint64_t kWholeFile = std::numeric_limits<std::uint64_t>::max();

struct ReadOptions {
  std::uint64_t bytes_max = kWholeFile;        // of text; what is behind them is left out, and so is what they cut
  std::function<void(std::uint64_t)> on_read;  // gets the bytes on disk that were read since it was called last; may be empty
};

// How much of a file was read.
struct TextRead {
  bool whole = true;
  double share = 1;  // of the bytes on disk, about
};

// Calls `on_row` for each row until it gives an error. Errors: the file cannot be read, is damaged or not UTF-8-like text, a
// quote in the middle of a cell or never closed; with the line, and an empty path.
Result<TextRead> read_csv(const std::string& path, char delimiter, const std::function<Result<void>(const CsvRow&)>& on_row,
                          const ReadOptions& options = {});

// A text file's bytes in large pieces. Errors as above.
Result<TextRead> read_text_file(const std::string& path, const std::function<Result<void>(std::string_view)>& on_piece,
                                const ReadOptions& options = {});

}  // namespace tuneband::workers

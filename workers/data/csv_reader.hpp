// Files of text, and CSV (core/csv_rows.hpp) from them: with an optional UTF-8 byte order mark, plain or compressed with gzip or
// zstd, whatever their name. Cells that are not quoted lose the blanks around them.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

#include "core/csv_rows.hpp"
#include "core/error.hpp"

namespace tuneband::workers {

inline constexpr std::uint64_t kWholeFile = std::numeric_limits<std::uint64_t>::max();

struct ReadOptions {
  std::uint64_t bytes_max = kWholeFile;        // of text; what is behind them is left out, and so is what they cut
  std::function<void(std::uint64_t)> on_read;  // gets the bytes on disk that were read since it was called last; may be empty
};

// How much of a file was read.
struct TextRead {
  bool whole = true;
  double share = 1;            // of the bytes on disk, about
  std::uint32_t checksum = 0;  // CRC-32 of the bytes on disk, of a whole file
};

// Calls `on_row` for each row until it gives an error. Errors: the file cannot be read, is damaged or not UTF-8-like text, a
// quote in the middle of a cell or never closed; with the line, and an empty path.
Result<TextRead> read_csv(const std::string& path, char delimiter, const std::function<Result<void>(const CsvRow&)>& on_row,
                          const ReadOptions& options = {});

// Of a file that was read and has no row: "is empty", "has no rows below its header".
std::string without_rows(const std::string& path, bool header);

// A text file's bytes in large pieces. Errors as above.
Result<TextRead> read_text_file(const std::string& path, const std::function<Result<void>(std::string_view)>& on_piece,
                                const ReadOptions& options = {});

}  // namespace tuneband::workers

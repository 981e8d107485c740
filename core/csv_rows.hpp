// CSV files as in RFC 4180, read as a stream by libcsv: quoted cells, any one-character delimiter, LF or CRLF. Blank lines are
// skipped.
#pragma once

#include <csv.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace tuneband {

inline constexpr std::size_t kCsvCellSizeMax = 1024 * 1024;  // bytes; more means a quote that was never closed
inline constexpr std::size_t kCsvColumnsMax = 1'000'000;

struct CsvRow {
  std::int64_t line = 0;                // of the file, from 1; the last one of a row that spans several
  std::vector<std::string_view> cells;  // valid during the call
};

struct CsvFormat {
  char delimiter = ',';
  bool keeps_blanks = false;  // around cells that are not quoted; else those are dropped
};

// Calls `on_row` for each row until it gives an error; empty lines are none. Errors: `on_row`'s; a quote in the middle of a cell,
// a cell or a line of too much, an empty line between rows of one cell, which may be meant as one; with the line in the message
// and an empty path.
class CsvRows {
 public:
  CsvRows(const CsvFormat& format, std::function<Result<void>(const CsvRow&)> on_row);
  ~CsvRows();
  CsvRows(const CsvRows&) = delete;
  CsvRows& operator=(const CsvRows&) = delete;

  // The next piece of the text, cut wherever.
  Result<void> feed(std::string_view piece);

  // After the last piece. Errors: besides those above a quote that is not closed.
  Result<void> finish();

 private:
  Result<void> feed_line(std::string_view text);
  void add_cell(const char* cell, std::size_t size);
  void end_row();
  Result<void> check_lines_before() const;
  static void cell_ended(void* cell, std::size_t size, void* self);
  static void row_ended(int terminator, void* self);

  csv_parser parser_{};
  std::function<Result<void>(const CsvRow&)> on_row_;
  std::int64_t line_ = 1;
  std::int64_t cell_line_ = 1;     // where the cell that is not over yet began
  std::string text_;               // of the row's cells so far, one after the other
  std::vector<std::size_t> ends_;  // of each in text_
  CsvRow row_;
  bool one_column_ = false;
  std::int64_t last_line_ = 0;  // of the row before; 0: there is none
  Result<void> outcome_;        // libcsv cannot be stopped by what it calls
};

}  // namespace tuneband

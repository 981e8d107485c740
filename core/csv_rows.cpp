#include "core/csv_rows.hpp"

#include <algorithm>
#include <new>

namespace tuneband {

namespace {

Error text_error(std::string message, std::string hint = {}) {
  return {ErrorCode::invalid_argument, std::move(message), "", std::move(hint)};
}

int is_no_blank(unsigned char /*byte*/) { return 0; }

}  // namespace

CsvRows::CsvRows(const CsvFormat& format, std::function<Result<void>(const CsvRow&)> on_row) : on_row_(std::move(on_row)) {
  if (csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI) != 0) throw std::bad_alloc();
  csv_set_delim(&parser_, static_cast<unsigned char>(format.delimiter));
  if (format.keeps_blanks) csv_set_space_func(&parser_, is_no_blank);
}

CsvRows::~CsvRows() { csv_free(&parser_); }

// A line at a time, so that a row knows its line.
Result<void> CsvRows::feed(std::string_view piece) {
  while (!piece.empty()) {
    const std::size_t newline = piece.find('\n');
    const std::size_t size = newline == std::string_view::npos ? piece.size() : newline + 1;
    if (auto fed = feed_line(piece.substr(0, size)); !fed) return fed;
    if (newline != std::string_view::npos) ++line_;
    piece.remove_prefix(size);
  }
  return {};
}

Result<void> CsvRows::feed_line(std::string_view text) {
  if (csv_parse(&parser_, text.data(), text.size(), cell_ended, row_ended, this) != text.size()) {
    if (csv_error(&parser_) != CSV_EPARSE) throw std::bad_alloc();
    return text_error("line " + std::to_string(line_) + " has a quote in the middle of a cell",
                      "put the whole cell into quotes and double those inside; or is the delimiter another?");
  }
  if (csv_get_buffer_size(&parser_) > kCsvCellSizeMax) {
    return text_error(
        "line " + std::to_string(cell_line_) + " begins a cell of more than " + std::to_string(kCsvCellSizeMax) + " bytes",
        "is a quote left open there?");
  }
  return outcome_;
}

Result<void> CsvRows::finish() {
  if (csv_fini(&parser_, cell_ended, row_ended, this) != 0) {
    return text_error("the quote that line " + std::to_string(cell_line_) + " opens is never closed");
  }
  return outcome_;
}

void CsvRows::cell_ended(void* cell, std::size_t size, void* self) {
  static_cast<CsvRows*>(self)->add_cell(static_cast<const char*>(cell), size);
}

void CsvRows::row_ended(int /*terminator*/, void* self) { static_cast<CsvRows*>(self)->end_row(); }

void CsvRows::add_cell(const char* cell, std::size_t size) {
  cell_line_ = line_;
  if (ends_.size() >= kCsvColumnsMax) {
    outcome_ = text_error("line " + std::to_string(line_) + " has more than " + std::to_string(kCsvColumnsMax) + " cells");
  }
  if (!outcome_) return;
  text_.append(cell, size);
  ends_.push_back(text_.size());
}

Result<void> CsvRows::check_lines_before() const {
  const std::int64_t begun = line_ - std::count(text_.begin(), text_.end(), '\n');
  if (!one_column_ || begun <= last_line_ + 1) return {};
  return text_error("line " + std::to_string(last_line_ + 1) + " is empty, in a file of one column",
                    "for a missing value write two quotes, or remove the line");
}

void CsvRows::end_row() {
  cell_line_ = line_ + 1;
  if (last_line_ == 0) {
    one_column_ = ends_.size() == 1;
  } else if (outcome_) {
    outcome_ = check_lines_before();
  }
  last_line_ = line_;
  if (outcome_) {
    row_.line = line_;
    row_.cells.clear();
    std::size_t start = 0;
    for (const std::size_t end : ends_) {
      row_.cells.emplace_back(text_.data() + start, end - start);
      start = end;
    }
    outcome_ = on_row_(row_);
  }
  text_.clear();
  ends_.clear();
}

}  // namespace tuneband

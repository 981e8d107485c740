#include "simulator/csv.hpp"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>

#include "core/csv_cell.hpp"
#include "core/csv_rows.hpp"

namespace tuneband {

namespace {

Error csv_error(std::string message, std::string path = {}, std::string hint = {}) {
  return {ErrorCode::invalid_argument, std::move(message), std::move(path), std::move(hint)};
}

std::string line_path(std::int64_t line) { return "line " + std::to_string(line); }

Result<void> take_header(const CsvRow& row, std::vector<std::string>& header) {
  std::set<std::string> names;
  for (const std::string_view cell : row.cells) {
    header.push_back(text_of_csv_cell(std::string(cell)));
    if (!names.insert(header.back()).second) {
      return csv_error("the column `" + header.back() + "` is there twice", line_path(row.line));
    }
  }
  return {};
}

Result<void> take_row(const CsvRow& row, Csv& csv) {
  if (row.cells.size() == 1 && row.cells.front().empty()) return {};  // no more than an empty line
  if (csv.header.empty()) return take_header(row, csv.header);
  if (row.cells.size() != csv.header.size()) {
    return csv_error(
        "expected " + std::to_string(csv.header.size()) + " cells as in the header, got " + std::to_string(row.cells.size()),
        line_path(row.line));
  }
  csv.lines.push_back(row.line);
  std::vector<std::string>& cells = csv.rows.emplace_back();
  for (const std::string_view cell : row.cells) cells.push_back(text_of_csv_cell(std::string(cell)));
  return {};
}

}  // namespace

std::size_t Csv::column(std::string_view name) const {
  return static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
}

Result<Csv> parse_csv(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  Csv csv;
  CsvRows rows({.keeps_blanks = true}, [&csv](const CsvRow& row) { return take_row(row, csv); });
  if (auto fed = rows.feed(text); !fed) return fed.error();
  if (auto finished = rows.finish(); !finished) return finished.error();
  if (csv.header.empty()) return csv_error("there is nothing in it: expected a line with the columns' names");
  return csv;
}

Result<std::string> read_text(const std::string& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) return Error{ErrorCode::not_found, "cannot be read: " + std::string(std::strerror(errno)), path, ""};
  std::string text;
  char piece[1 << 16];
  while (true) {
    const int count = gzread(file.get(), piece, sizeof piece);
    if (count < 0) return csv_error("cannot be read: it is no file of text, or its gzip is damaged", path);
    if (count == 0) break;
    text.append(piece, static_cast<std::size_t>(count));
    if (text.size() > kCsvSizeMax) return Error{ErrorCode::too_large, "is larger than 512 MiB", path, ""};
  }
  int status = Z_OK;
  gzerror(file.get(), &status);
  if (status != Z_OK && status != Z_STREAM_END) return csv_error("ends too early: its gzip is cut off", path);
  return text;
}

Result<Csv> read_csv(const std::string& path) {
  const auto text = read_text(path);
  if (!text) return text.error();
  auto csv = parse_csv(*text);
  if (csv) return csv;
  Error error = csv.error();
  error.path = error.path.empty() ? path : path + ", " + error.path;
  return error;
}

}  // namespace tuneband

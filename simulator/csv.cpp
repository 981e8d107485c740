#include "simulator/csv.hpp"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <set>

#include "core/csv_cell.hpp"

namespace tuneband {

namespace {

Error csv_error(std::string message, std::string path = {}, std::string hint = {}) {
  return {ErrorCode::invalid_argument, std::move(message), std::move(path), std::move(hint)};
}

// Cuts a text into lines of cells.
class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ >= text_.size(); }
  std::size_t line() const { return line_; }

  // Nothing: a quote is not closed.
  std::optional<std::vector<std::string>> next_line() {
    std::vector<std::string> cells;
    ++line_;
    while (true) {
      auto cell = next_cell();
      if (!cell) return std::nullopt;
      cells.push_back(text_of_csv_cell(std::move(*cell)));
      if (at_end()) return cells;
      const char separator = text_[at_++];
      if (separator == ',') continue;
      if (separator == '\r' && !at_end() && text_[at_] == '\n') ++at_;
      return cells;
    }
  }

 private:
  std::optional<std::string> next_cell() {
    if (at_end() || text_[at_] != '"') {
      const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
      std::string cell(text_.substr(at_, end - at_));
      at_ = end;
      return cell;
    }
    std::string cell;
    for (++at_; !at_end(); ++at_) {
      if (text_[at_] != '"') {
        cell += text_[at_];
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        cell += text_[at_++];
      } else {
        ++at_;
        return cell;
      }
    }
    return std::nullopt;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 0;
};

std::string line_path(std::size_t line) { return "line " + std::to_string(line); }

}  // namespace

std::size_t Csv::column(std::string_view name) const {
  return static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
}

Result<Csv> parse_csv(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  Csv csv;
  CsvReader reader(text);
  while (!reader.at_end()) {
    auto cells = reader.next_line();
    const std::string where = line_path(reader.line());
    if (!cells) return csv_error("a quote is not closed", where);
    if (cells->size() == 1 && cells->front().empty()) continue;  // an empty line
    if (csv.header.empty()) {
      if (cells->size() > kCsvColumnsMax) return csv_error("more than " + std::to_string(kCsvColumnsMax) + " columns", where);
      csv.header = std::move(*cells);
      std::set<std::string> names;
      for (const std::string& name : csv.header) {
        if (!names.insert(name).second) return csv_error("the column `" + name + "` is there twice", where);
      }
    } else if (cells->size() != csv.header.size()) {
      return csv_error(
          "expected " + std::to_string(csv.header.size()) + " cells as in the header, got " + std::to_string(cells->size()),
          where);
    } else {
      csv.rows.push_back(std::move(*cells));
    }
  }
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

#include "workers/data/libsvm_reader.hpp"

#include <algorithm>
#include <optional>

#include "core/decimal.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "workers/data/csv_reader.hpp"
#include "workers/data/float_of.hpp"

namespace tuneband::workers {

namespace {

constexpr std::size_t kLibsvmLineSizeMax = 256 * 1024 * 1024;  // bytes

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view next_token(std::string_view& line) {
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  std::size_t size = 0;
  while (size < line.size() && !is_blank(line[size])) ++size;
  const std::string_view token = line.substr(0, size);
  line.remove_prefix(size);
  return token;
}

std::optional<float> parse_finite(std::string_view text) {
  const auto value = parse_number(text);
  return value ? float_of(*value) : std::nullopt;
}

class LibsvmReader {
 public:
  explicit LibsvmReader(const RowTarget& target) : target_(target) {}

  Result<void> feed(std::string_view piece) {
    while (!piece.empty()) {
      const std::size_t newline = piece.find('\n');
      pending_ += piece.substr(0, newline);
      if (pending_.size() > kLibsvmLineSizeMax) return fault("the line is too long", "");
      if (newline == std::string_view::npos) return {};
      if (auto read = read_line(pending_); !read) return read;
      pending_.clear();
      piece.remove_prefix(newline + 1);
    }
    return {};
  }

  Result<void> finish() { return read_line(pending_); }

 private:
  Error fault(const std::string& what, std::string_view token) const {
    std::string message = "line " + std::to_string(line_) + ": " + what;
    if (!token.empty()) message += ", got a text of length " + std::to_string(token.size());
    return {ErrorCode::invalid_argument, std::move(message), "", ""};
  }

  Result<void> read_line(std::string_view line) {
    ++line_;
    line = line.substr(0, line.find('#'));
    const std::string_view label_text = next_token(line);
    if (label_text.empty()) return {};
    const std::size_t colon = label_text.find(':');
    const auto label = parse_finite(label_text.substr(0, colon));
    if (!label) return fault("expected a label, a number, in front", label_text);
    const auto weight = read_weight(label_text, colon);
    if (!weight) return weight.error();
    const auto query = read_query(line);
    if (!query) return query.error();
    Table& table = target_({row_, *query ? std::optional(mix64(**query)) : std::nullopt, *label});
    table.sparse = true;
    if (table.row_starts.empty()) table.row_starts.push_back(0);
    if (*query) table.groups.push_back(**query);
    if (auto read = read_entries(line, table); !read) return read;
    table.labels.push_back(*label);
    if (*weight) table.weights.push_back(**weight);
    table.row_starts.push_back(table.values.size());
    ++row_;
    return {};
  }

  // What stands behind the label's colon; nothing: there is none, in no line.
  Result<std::optional<float>> read_weight(std::string_view label, std::size_t colon) {
    const bool weighted = colon != std::string_view::npos;
    const auto weight = weighted ? parse_finite(label.substr(colon + 1)) : std::nullopt;
    if (weighted && !(weight && *weight >= 0)) return fault("expected label:weight with a weight of at least 0", label);
    if (weighted_.value_or(weighted) != weighted)
      return fault(weighted ? "has a weight, and the lines before have none" : "has no weight, and the lines before have one",
                   "");
    weighted_ = weighted;
    return weight;
  }

  Result<void> read_entries(std::string_view line, Table& table) {
    std::int64_t last_column = -1;
    for (std::string_view token = next_token(line); !token.empty(); token = next_token(line)) {
      const std::size_t colon = token.find(':');
      if (colon == std::string_view::npos) return fault("expected column:value", token);
      const std::string_view name = token.substr(0, colon);
      const std::string_view text = token.substr(colon + 1);
      if (name == "qid") return fault("qid must stand right after the label", token);
      const auto column = integer_in<std::uint64_t>(name);
      if (!column || *column >= kFeaturesMax) return fault("expected column:value with a column from 0", token);
      if (static_cast<std::int64_t>(*column) <= last_column) return fault("columns must rise within a line", token);
      last_column = static_cast<std::int64_t>(*column);
      table.columns = std::max(table.columns, static_cast<std::size_t>(*column) + 1);
      if (is_missing(text)) continue;
      const auto value = parse_finite(text);
      if (!value) return fault("expected column:value with a finite number", token);
      table.entry_columns.push_back(static_cast<unsigned>(*column));
      table.values.push_back(*value);
    }
    return {};
  }

  static bool is_missing(std::string_view text) { return text == "nan" || text == "NaN" || text == "NA"; }

  // "qid:7", which is taken off `line`; nothing: it does not begin so.
  Result<std::optional<std::uint64_t>> read_query(std::string_view& line) const {
    std::string_view rest = line;
    std::string_view token = next_token(rest);
    if (!token.starts_with("qid:")) return std::optional<std::uint64_t>();
    line = rest;
    token.remove_prefix(4);
    const auto query = integer_in<std::uint64_t>(token);
    if (!query) return fault("expected qid: and a number", token);
    return query;
  }

  const RowTarget& target_;
  std::string pending_;  // a line begun
  std::int64_t line_ = 0;
  std::uint64_t row_ = 0;
  std::optional<bool> weighted_;  // lines are; nothing: there was none
};

}  // namespace

Result<TextRead> read_libsvm(const std::string& path, const RowTarget& target, const ReadOptions& options) {
  LibsvmReader reader(target);
  const auto read = read_text_file(
      path, [&](std::string_view piece) { return reader.feed(piece); }, options);
  if (!read || !read->whole) return read;
  if (auto finished = reader.finish(); !finished) return finished.error();
  return read;
}

}  // namespace tuneband::workers

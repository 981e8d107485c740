#include "workers/data/csv_files.hpp"

#include <optional>
#include <utility>

namespace tuneband::workers {

Error csv_fault(const std::string& field, std::string message, std::string hint) {
  return {ErrorCode::invalid_argument, std::move(message), field, std::move(hint)};
}

std::string train_field(const DataSpec& spec, std::size_t file) {
  return spec.train.size() == 1 ? kTrainField : join_path(kTrainField, file);
}

Result<TextRead> read_rows(const DataSpec& spec, const std::string& path, const std::string& field, const HeaderReader& on_header,
                           const RowReader& on_row, const ReadOptions& options) {
  std::optional<ColumnMap> columns;
  std::size_t width = 0;
  std::uint64_t number = 0;
  const auto take_row = [&](const CsvRow& row) -> Result<void> {
    if (!columns) {
      width = row.cells.size();
      auto found = on_header(row);
      if (!found) return found.error();
      columns = std::move(*found);
      if (spec.header) return {};
    }
    if (row.cells.size() != width) {
      return csv_fault(field,
                       "line " + std::to_string(row.line) + " has " + std::to_string(row.cells.size()) +
                           (row.cells.size() == 1 ? " cell" : " cells") + ", the first line has " + std::to_string(width),
                       "is the delimiter another, or a quote left open?");
    }
    return on_row(columns->in_order(row), number++);
  };
  auto read = read_csv(path, spec.delimiter, take_row, options);
  if (read || !read.error().path.empty()) return read;
  Error error = read.error();
  error.path = field;
  return error;
}

Result<void> read_training_rows(const DataSpec& spec, const HeaderReader& on_header, const RowReader& on_row,
                                const ReadOptions& options) {
  for (std::size_t i = 0; i < spec.train.size(); ++i) {
    auto read = read_rows(spec, spec.train[i], train_field(spec, i), on_header, on_row, options);
    if (!read) return read.error();
  }
  return {};
}

}  // namespace tuneband::workers

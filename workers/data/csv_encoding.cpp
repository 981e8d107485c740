#include "workers/data/csv_encoding.hpp"

#include <algorithm>
#include <set>

#include "core/text.hpp"
#include "workers/data/csv_columns.hpp"
#include "workers/data/csv_doubts.hpp"
#include "workers/data/csv_files.hpp"
#include "workers/data/row_encoder.hpp"

namespace tuneband::workers {

namespace {

bool same_in_any_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

// A row has nothing to say without them.
std::vector<bool> columns_needed(const CsvEncoding& encoding) {
  std::vector<bool> needed(encoding.columns.size());
  for (const FeatureColumn& feature : encoding.features) needed[feature.source] = true;
  needed[encoding.label.source] = true;
  if (encoding.weight) needed[*encoding.weight] = true;
  return needed;
}

// Whether the features' columns are where they were in the training file.
bool stand_as_trained(const CsvRow& first, const CsvEncoding& encoding) {
  const std::vector<std::string> names = column_names(first, true);
  return std::all_of(encoding.features.begin(), encoding.features.end(), [&](const FeatureColumn& feature) {
    return feature.source < names.size() && names[feature.source] == feature.name;
  });
}

Result<ColumnMap> columns_of_features(const CsvRow& first, const std::vector<std::string>& features, const std::string& field) {
  auto columns = ColumnMap::create(first, true, features, std::vector<bool>(features.size(), true));
  const std::vector<std::string> names = column_names(first, true);
  for (std::size_t i = 0; columns && i < names.size(); ++i) {
    if (!trim(first.cells[i]).empty() || std::find(features.begin(), features.end(), names[i]) == features.end()) continue;
    return csv_fault(field, "column " + std::to_string(i) + " has no name, and the columns do not stand as in the training file",
                     "give all columns that the model uses a name, there and in the training file");
  }
  if (columns) return columns;
  if (first.cells.size() == 1 && features.size() > 1)
    return csv_fault(field, columns.error().message, one_column_hint(first.cells[0]));
  if (std::set<std::string>(features.begin(), features.end()).size() < features.size())
    return csv_fault(field, "the model has features of the same name, and the columns do not stand as in the training file");
  return csv_fault(field, columns.error().message);
}

}  // namespace

bool MissingCells::has(std::string_view cell) const {
  const bool by_text = std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
    return any_case ? same_in_any_case(cell, text) : cell == text;
  });
  if (by_text || numbers.empty()) return by_text;
  const auto number = parse_number(cell);
  return number && std::find(numbers.begin(), numbers.end(), *number) != numbers.end();
}

std::size_t CsvEncoding::width() const {
  std::size_t width = 0;
  for (const FeatureColumn& feature : features) width += feature.width();
  return width;
}

std::string CsvEncoding::feature_types() const {
  std::string types;
  for (const FeatureColumn& feature : features) {
    types.append(feature.width(), feature.kind == ColumnKind::native ? 'c' : 'q');
  }
  return types.find('c') == std::string::npos ? "" : types;
}

std::vector<std::string> CsvEncoding::feature_names() const {
  std::vector<std::string> names;
  for (const FeatureColumn& feature : features) {
    if (feature.kind != ColumnKind::one_hot) {
      names.push_back(feature.name);
      continue;
    }
    for (const std::string& category : feature.categories) names.push_back(feature.name + "=" + valid_utf8(category));
  }
  return names;
}

Result<TextRead> encode_csv(const DataSpec& spec, CsvEncoding& encoding, const std::string& path, const std::string& field,
                            const RowTarget& target, const ReadOptions& options) {
  RowEncoder encoder(encoding, field, options.bytes_max != kWholeFile);
  const auto on_header = [&](const CsvRow& first) {
    auto columns = ColumnMap::create(first, spec.header, encoding.columns, columns_needed(encoding));
    if (!columns) return columns;
    if (encoding.group) encoder.has_groups(columns->has(*encoding.group));
    doubt_additional(*columns, field, encoding.doubts);
    return columns;
  };
  const auto on_row = [&](const CsvRow& row, std::uint64_t number) { return encoder.encode(row, number, target); };
  return read_rows(spec, path, field, on_header, on_row, options);
}

Result<TextRead> encode_features(const DataSpec& spec, const CsvEncoding& encoding, const std::string& path, Table& table) {
  constexpr const char* kField = "data";
  CsvEncoding here = encoding;
  table.columns = here.width();
  table.feature_types = here.feature_types();
  const auto on_header = [&](const CsvRow& first) -> Result<ColumnMap> {
    if (spec.header && here.header && !stand_as_trained(first, here)) {
      for (std::size_t i = 0; i < here.features.size(); ++i) here.features[i].source = i;
      return columns_of_features(first, here.columns, kField);
    }
    for (const FeatureColumn& feature : here.features) {
      if (feature.source >= first.cells.size()) {
        return csv_fault(kField,
                         "the file has " + std::to_string(first.cells.size()) + " columns, and the model needs one numbered " +
                             std::to_string(feature.source) + ", from 0, as in the training file",
                         first.cells.size() == 1 ? one_column_hint(first.cells[0]) : "");
      }
    }
    return ColumnMap();
  };
  const std::string field = kField;
  const RowEncoder encoder(here, field, false);
  const auto on_row = [&](const CsvRow& row, std::uint64_t) { return encoder.encode_features(row, table); };
  return read_rows(spec, path, field, on_header, on_row, ReadOptions());
}

}  // namespace tuneband::workers

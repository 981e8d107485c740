#include "workers/data/row_encoder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/random.hpp"
#include "core/text.hpp"
#include "workers/data/csv_columns.hpp"
#include "workers/data/csv_files.hpp"
#include "workers/data/float_of.hpp"

namespace tuneband::workers {

namespace {

constexpr float kMissingValue = std::numeric_limits<float>::quiet_NaN();
constexpr const char* kNoValueHint = "correct the cell, or leave it empty if the value is missing";

std::optional<std::size_t> place_of(const std::vector<std::string>& sorted, std::string_view text) {
  const auto found =
      std::lower_bound(sorted.begin(), sorted.end(), text, [](const std::string& a, std::string_view b) { return a < b; });
  if (found == sorted.end() || *found != text) return std::nullopt;
  return static_cast<std::size_t>(found - sorted.begin());
}

void append_category(const FeatureColumn& feature, std::optional<std::size_t> place, std::vector<float>& values) {
  if (feature.kind != ColumnKind::one_hot) {
    values.push_back(place ? static_cast<float>(*place) : kMissingValue);
    return;
  }
  values.insert(values.end(), feature.categories.size(), place ? 0.0F : kMissingValue);
  if (place) values[values.size() - feature.categories.size() + *place] = 1.0F;
}

}  // namespace

RowEncoder::RowEncoder(const CsvEncoding& encoding, const std::string& field, bool sampled)
    : encoding_(encoding), field_(field), sampled_(sampled), positive_number_(parse_number(encoding.label.positive)) {}

Result<void> RowEncoder::encode_features(const CsvRow& row, Table& table) const {
  table.labels.push_back(0);
  return append_features(row, table, kNoValueHint);
}

Result<void> RowEncoder::encode(const CsvRow& row, std::uint64_t number, const RowTarget& target) const {
  if (sampled_ && has_unknown_class(row)) return {};
  const auto label = label_of(row);
  if (!label) return label.error();
  const auto group = group_of(row);
  if (!group) return group.error();
  const auto weight = weight_of(row);
  if (!weight) return weight.error();
  Table& table = target({number, *group, *label});
  if (*group) table.groups.push_back(**group);
  if (*weight) table.weights.push_back(**weight);
  if (auto appended = append_features(row, table, kNoNumberHint); !appended) return appended;
  table.labels.push_back(*label);
  return {};
}

Result<void> RowEncoder::append_features(const CsvRow& row, Table& table, const char* hint) const {
  table.unknown_texts.resize(encoding_.features.size());
  for (std::size_t i = 0; i < encoding_.features.size(); ++i) {
    const FeatureColumn& feature = encoding_.features[i];
    const std::string_view cell = trim(row.cells[feature.source]);
    const bool missing = encoding_.missing.has(cell);
    if (feature.kind == ColumnKind::numeric) {
      const bool unknown = sampled_ && !missing && !parse_number(cell);
      if (unknown) ++table.unknown_texts[i];
      auto value = missing || unknown ? Result<float>(kMissingValue) : number_of(cell, row, feature.name, hint);
      if (!value) return value.error();
      table.values.push_back(*value);
    } else {
      const auto place = missing ? std::nullopt : place_of(feature.categories, cell);
      if (!missing && !place) ++table.unknown_texts[i];
      append_category(feature, place, table.values);
    }
  }
  return {};
}

Result<std::optional<std::uint64_t>> RowEncoder::group_of(const CsvRow& row) const {
  if (!encoding_.group || !has_groups_) return std::optional<std::uint64_t>();
  const std::string_view cell = trim(row.cells[*encoding_.group]);
  if (encoding_.missing.has(cell))
    return cell_fault(row, encoding_.columns[*encoding_.group], "a group", cell, "name the row's group, or remove the row");
  return std::optional(stable_hash(cell));
}

Result<std::optional<float>> RowEncoder::weight_of(const CsvRow& row) const {
  if (!encoding_.weight) return std::optional<float>();
  const std::string_view cell = trim(row.cells[*encoding_.weight]);
  const std::string& column = encoding_.columns[*encoding_.weight];
  const auto weight = number_of(cell, row, column, encoding_.missing.has(cell) ? "give the row a weight, or remove it" : "");
  if (!weight) return weight.error();
  if (*weight < 0) return cell_fault(row, column, "a weight of at least 0", cell);
  return std::optional(*weight);
}

bool RowEncoder::has_unknown_class(const CsvRow& row) const {
  const LabelColumn& label = encoding_.label;
  const std::string_view cell = trim(row.cells[label.source]);
  return label.positive.empty() && !label.classes.empty() && !encoding_.missing.has(cell) && !place_of(label.classes, cell);
}

Error RowEncoder::cell_fault(const CsvRow& row, const std::string& column, const std::string& expected, std::string_view cell,
                             std::string hint) const {
  return csv_fault(
      field_,
      "line " + std::to_string(row.line) + ", column " + shown(column) + ": expected " + expected + ", got " + size_of_text(cell),
      std::move(hint));
}

Result<float> RowEncoder::number_of(std::string_view cell, const CsvRow& row, const std::string& column, const char* hint) const {
  const auto value = parse_number(cell);
  if (!value) return cell_fault(row, column, "a number", cell, hint);
  if (!std::isfinite(*value)) return cell_fault(row, column, "a finite number", cell, hint);
  const auto nearest = float_of(*value);
  if (!nearest) return cell_fault(row, column, "a number that fits 32-bit floats", cell);
  return *nearest;
}

Result<float> RowEncoder::label_of(const CsvRow& row) const {
  const LabelColumn& label = encoding_.label;
  const std::string_view cell = trim(row.cells[label.source]);
  if (encoding_.missing.has(cell)) return cell_fault(row, label.name, "a label", cell, hint_of_missing_label(cell));
  if (!label.positive.empty()) return is_positive(cell) ? 1.0F : 0.0F;
  if (label.classes.empty()) return number_of(cell, row, label.name);
  const auto place = place_of(label.classes, cell);
  if (place) return static_cast<float>(*place);
  return cell_fault(row, label.name, "one of the " + std::to_string(label.classes.size()) + " labels of the training file", cell,
                    label.classes.size() > 2 ? "a model tells these apart alone: remove the row, or train with rows of the class"
                                             : "name the one that counts as 1 in trainer.data.positive, and all others are 0");
}

std::string RowEncoder::hint_of_missing_label(std::string_view cell) const {
  if (cell.empty()) return "remove the row";
  return "the text counts as missing: remove the row, or where it is a class " +
         std::string(encoding_.missing.any_case ? "set trainer.data.missing to []" : "take it out of trainer.data.missing");
}

// Numbers are compared as such: 2.0 is 2.
bool RowEncoder::is_positive(std::string_view cell) const {
  if (cell == encoding_.label.positive) return true;
  return encoding_.label.classes.empty() && positive_number_ && parse_number(cell) == positive_number_;
}

}  // namespace tuneband::workers

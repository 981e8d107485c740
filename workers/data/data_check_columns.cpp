// What is in a job's columns that a model learns nothing of, and features that it constrains.
#include <algorithm>
#include <cmath>
#include <optional>

#include "core/text.hpp"
#include "workers/data/data_check_parts.hpp"
#include "workers/data/feature_places.hpp"
#include "workers/data/id_columns.hpp"
#include "workers/data/model_features.hpp"
#include "workers/data/text_forms.hpp"

namespace tuneband::workers {

namespace {

// Whether categories may be native: check_trainer() refuses the rest.
bool splits_by_categories(const XgboostSpec& spec, const Json& job) {
  const auto takes = [&](const char* name, std::initializer_list<const char*> refused) {
    const std::vector<std::string> values = values_of(spec, job, name);
    return std::none_of(values.begin(), values.end(), [&](const std::string& value) {
      return std::find(refused.begin(), refused.end(), value) != refused.end();
    });
  };
  return takes("tree_method", {"exact", "auto"}) && takes("booster", {"gblinear"});
}

bool is_named(const std::vector<std::string>& columns, const FeatureColumn& feature) {
  return std::any_of(columns.begin(), columns.end(), [&](const std::string& column) {
    return column == feature.name || column == std::to_string(feature.source);
  });
}

// Dates that the user did not ask to be categories.
bool are_unasked_dates(const DataSpec& data, const FeatureColumn& feature) {
  return are_dates(feature.categories) && !is_named(data.categorical, feature);
}

// Likewise numbers.
bool are_unasked_numbers(const DataSpec& data, const FeatureColumn& feature) {
  return are_numbers_with_signs(feature.categories) && !is_named(data.categorical, feature);
}

// Columns that name rows. What was doubted already is not doubted twice.
void check_ids(const LoadedTables& tables, Diagnostics& diagnostics) {
  std::vector<std::string> ids = id_columns(tables);
  std::erase_if(ids, [&](const std::string& id) {
    return std::any_of(tables.encoding.doubts.begin(), tables.encoding.doubts.end(),
                       [&](const Error& doubt) { return doubt.message.find("`" + id + "`") != std::string::npos; });
  });
  if (ids.empty()) return;
  diagnostics.warning("trainer.data.train",
                      "columns with another whole number in each row, as ids have, which say nothing of new rows: " + listed(ids),
                      "name them in trainer.data.drop, unless they measure something, such as a time");
}

// A sample has no more texts than all rows.
void check_description(const LoadedTables& tables, Diagnostics& diagnostics) {
  if (tables.encoding.features.empty() || describe_features(tables.encoding).size() <= kFeaturesSizeMax) return;
  diagnostics.warning("trainer.data.train",
                      "the texts of the categories are too many to be kept in a model, which `tuneband predict` needs",
                      "drop columns of ids and of free text");
}

// Rows of `part` whose text in a column no row has that is trained on.
std::size_t rows_of_unknown_text(const LoadedTables& tables, const Table& part, std::size_t column, std::size_t first) {
  const FeatureColumn& feature = tables.encoding.features[column];
  std::vector<bool> trained(feature.categories.size());
  for (std::size_t row = 0; row < tables.train.rows(); ++row) {
    if (const auto text = category_of(tables.train, row, feature, first)) trained[*text] = true;
  }
  std::size_t rows = part.unknown_texts[column];
  for (std::size_t row = 0; row < part.rows(); ++row) {
    const auto text = category_of(part, row, feature, first);
    if (text && !trained[*text]) ++rows;
  }
  return rows;
}

// Such as of a column of numbers `a=b` and a column `a` with the text `b`.
std::string doubled_name(std::vector<std::string> names) {
  std::ranges::sort(names);
  const auto found = std::ranges::adjacent_find(names);
  return found == names.end() ? "" : *found;
}

// Whether some column has two values, missing being one.
bool has_contrast(const Table& table) {
  if (table.sparse) return !table.values.empty();
  for (std::size_t place = table.columns; place < table.values.size(); ++place) {
    const float first = table.values[place % table.columns];
    const float value = table.values[place];
    if (value != first && !(std::isnan(value) && std::isnan(first))) return true;
  }
  return false;
}

// Of what tells no row from another nothing is learned.
void check_features(const LoadedTables& tables, Diagnostics& diagnostics) {
  if (!tables.rows_of_all && !has_contrast(tables.train)) {
    diagnostics.warning("trainer.data.train", "no feature has two values in the training rows: there is nothing to learn from",
                        "does trainer.data.drop name what should stay?");
  }
  const std::string doubled = doubled_name(tables.encoding.feature_names());
  if (doubled.empty()) return;
  diagnostics.warning("trainer.data.train", "two features are called " + valid_utf8(doubled) + ": importances count them as one",
                      "rename a column");
}

}  // namespace

std::string listed(std::vector<std::string> columns) {
  if (columns.size() > kNamesShownMax) columns.resize(kNamesShownMax);
  std::string list;
  for (const std::string& column : columns) list += (list.empty() ? "" : ", ") + column;
  return list;
}

std::optional<std::size_t> category_of(const Table& table, std::size_t row, const FeatureColumn& column, std::size_t first) {
  const auto begin = table.values.begin() + static_cast<std::ptrdiff_t>(row * table.columns + first);
  if (std::isnan(*begin)) return std::nullopt;
  if (column.kind != ColumnKind::one_hot) return static_cast<std::size_t>(*begin);
  return static_cast<std::size_t>(std::find(begin, begin + static_cast<std::ptrdiff_t>(column.categories.size()), 1.0F) - begin);
}

void check_columns(const XgboostSpec& spec, const Json& job, const LoadedTables& tables, Diagnostics& diagnostics) {
  for (const Error& doubt : tables.encoding.doubts) diagnostics.warning(doubt.path, doubt.message, doubt.hint);
  std::vector<std::string> ordinal;
  std::vector<std::string> numbers;
  std::vector<std::string> dates;
  for (const FeatureColumn& feature : tables.encoding.features) {
    if (are_unasked_numbers(spec.data, feature)) {
      numbers.push_back(feature.name);
    } else if (are_unasked_dates(spec.data, feature)) {
      dates.push_back(feature.name);
    } else if (feature.kind == ColumnKind::ordinal) {
      ordinal.push_back(feature.name + " (" + std::to_string(feature.categories.size()) + ")");
    }
  }
  if (!numbers.empty()) {
    diagnostics.warning("trainer.data.train",
                        "columns of numbers with a comma or a sign, which count as categories: " + listed(numbers),
                        kPlainNumbersHint);
  }
  if (!dates.empty()) {
    diagnostics.warning("trainer.data.train",
                        "columns of dates, which count as categories, so that nothing is known of other days: " + listed(dates),
                        "give numbers in their place, such as days since one of them, month and weekday; or drop them");
  }
  check_features(tables, diagnostics);
  check_ids(tables, diagnostics);
  check_description(tables, diagnostics);
  if (ordinal.empty()) return;
  diagnostics.warning(
      "trainer.data.train",
      "columns with more than " + std::to_string(kOneHotCategoriesMax) +
          " different texts become one number each, the text's place in sorted order: " + listed(ordinal),
      std::string(splits_by_categories(spec, job) ? "set trainer.data.categorical_encoding to native to keep them as categories; "
                                                  : "") +
          "drop those that are free text or ids");
}

void check_texts(const DataSpec& data, const LoadedTables& tables, const Table& part, const std::string& field, bool own_file,
                 Diagnostics& diagnostics) {
  std::size_t first = 0;
  std::size_t told = 0;
  for (std::size_t i = 0; i < tables.encoding.features.size() && part.rows() > 0; ++i) {
    const FeatureColumn& feature = tables.encoding.features[i];
    const bool as_such = are_unasked_dates(data, feature) || are_unasked_numbers(data, feature);
    const bool otherwise = feature.kind == ColumnKind::numeric || feature.width() == 0 || as_such;
    const std::size_t rows = otherwise ? 0 : rows_of_unknown_text(tables, part, i, first);
    first += feature.width();
    const auto share = share_of_unknown_texts(rows, part.rows());
    if (!share || told++ >= kNamesShownMax) continue;
    diagnostics.warning(field,
                        "column `" + feature.name + "`: " + std::to_string(*share) +
                            " % of the rows have texts that the training data lacks: " +
                            (own_file ? "they count as missing" : "nothing is learnt of them"),
                        own_file ? "are they written in another way there?" : "drop it if it names rows or groups");
  }
}

void check_texts_of_sample(const CsvEncoding& encoding, const Table& part, const std::string& field, Diagnostics& diagnostics) {
  std::size_t told = 0;
  for (std::size_t i = 0; i < part.unknown_texts.size(); ++i) {
    if (encoding.features[i].kind != ColumnKind::numeric || part.unknown_texts[i] == 0 || told++ >= kNamesShownMax) continue;
    diagnostics.warning(field,
                        "column `" + encoding.features[i].name + "` has texts there, and none in the sample of the training data",
                        "a fault if the rest of that has none: correct the cells, or leave them empty");
  }
}

void check_constraints(const XgboostSpec& spec, const Json& job, const LoadedTables& tables, Diagnostics& diagnostics) {
  for (const char* name : {"monotone_constraints", "interaction_constraints"}) {
    const XgboostParameter& parameter = *find_xgboost_parameter(name);
    for (const std::string& value : values_of(spec, job, name)) {
      if (!fault_of_value(parameter, value).empty()) continue;  // said by check_trainer()
      const auto placed = constraints_by_place(parameter, value, tables.encoding, tables.train.columns);
      if (placed) continue;
      const auto& [code, message, path, hint] = placed.error();
      if (tables.rows_of_all) {  // one-hot columns may have further categories, each a feature
        diagnostics.warning(field_of(spec, name), "of the sample that was checked: " + message,
                            "if the rest has no more features, the first trial fails");
      } else {
        diagnostics.error(field_of(spec, name), message, hint);
      }
    }
  }
}

}  // namespace tuneband::workers

// trainer.data: which rows an XGBoost trial trains on.
#include <algorithm>
#include <cctype>
#include <filesystem>

#include "core/text.hpp"
#include "jobs/trainer_spec_parts.hpp"

namespace tuneband {

namespace {

constexpr std::size_t kColumnNamesMax = 100'000;
constexpr std::size_t kMissingTextsMax = 1000;
constexpr std::size_t kMissingTextSizeMax = 1000;  // bytes
constexpr std::size_t kTrainFilesMax = 10'000;
constexpr const char* kNameTheFiles = "name the file in it, or a list of files";
constexpr const char* kColumnExpected = "a column, by name or by number from 0";

// A text or a whole number: columns go by name or by number.
std::optional<std::string> column_from(const Json& value, const std::string& path, Diagnostics& diagnostics) {
  if (value.is_number_integer() && value >= 0) return value.dump();
  if (value.is_string() && !value.get_ref<const std::string&>().empty()) return value.get<std::string>();
  diagnostics.error(path, std::string("expected ") + kColumnExpected + ", got " + excerpt(value));
  return std::nullopt;
}

std::vector<std::string> read_columns(ObjectReader& reader, const std::string& field) {
  std::vector<std::string> columns;
  const Json* list = reader.find(field);
  if (list == nullptr) return columns;
  if (!list->is_array() || list->size() > kColumnNamesMax) {
    reader.diagnostics().error(reader.path_to(field), "expected an array of columns, got " + excerpt(*list));
    return columns;
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    if (auto column = column_from((*list)[i], join_path(reader.path_to(field), i), reader.diagnostics()))
      columns.push_back(std::move(*column));
  }
  return columns;
}

// "": none.
std::string read_column(ObjectReader& reader, const std::string& field) {
  const Json* column = reader.find(field);
  return column == nullptr ? "" : column_from(*column, reader.path_to(field), reader.diagnostics()).value_or("");
}

std::string ending_of(const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending;
}

// "train.csv.gz" too.
std::optional<DataFormat> format_of_ending(const std::filesystem::path& path) {
  const std::string ending = ending_of(path);
  if (ending == ".gz" || ending == ".zst" || ending == ".zstd") return format_of_ending(path.stem());
  if (ending == ".csv") return DataFormat::csv;
  if (ending == ".libsvm" || ending == ".svm" || ending == ".svmlight" || ending == ".txt") return DataFormat::libsvm;
  return std::nullopt;
}

DataFormat read_format(ObjectReader& reader, const std::string& train) {
  if (reader.has("format")) {
    const auto index = reader.word("format", {"csv", "libsvm"});
    return index == std::size_t{1} ? DataFormat::libsvm : DataFormat::csv;
  }
  const auto guessed = format_of_ending(train);
  if (guessed || train.empty()) return guessed.value_or(DataFormat::csv);
  if (train.ends_with('/')) {
    reader.diagnostics().error(reader.path_to("train"), "expected a file, and " + excerpt(train) + " is a directory",
                               kNameTheFiles);
    return DataFormat::csv;
  }
  const std::string hint = "set it to csv or libsvm";
  const bool has_ending = !ending_of(train).empty();
  reader.diagnostics().error(reader.path_to("format"), "is missing, and the ending of " + excerpt(train) + " does not tell it",
                             has_ending ? hint + ", where it is one of these, plain or compressed with gzip or zstd"
                                        : hint + "; of a directory " + kNameTheFiles);
  return DataFormat::csv;
}

std::string checked_path(const Json& json, const std::string& path, Diagnostics& diagnostics) {
  const bool text = json.is_string() && !json.get_ref<const std::string&>().empty();
  if (!text || json.get_ref<const std::string&>().size() > kPathSizeMax || has_nul(json.get_ref<const std::string&>())) {
    diagnostics.error(path, "expected a path, got " + excerpt(json));
    return "";
  }
  return normal_path(json.get<std::string>());
}

// A path, or an array of them.
std::vector<std::string> read_train(ObjectReader& data) {
  const std::string expected = "a path or an array of 1 to " + std::to_string(kTrainFilesMax) + " paths";
  const Json* json = data.require("train", expected);
  if (json == nullptr) return {};
  const std::string path = data.path_to("train");
  if (!json->is_array()) return {read_path(data, "train")};
  std::vector<std::string> files;
  if (json->empty() || json->size() > kTrainFilesMax) {
    data.diagnostics().error(path, "expected " + expected);
  } else {
    for (std::size_t i = 0; i < json->size(); ++i)
      files.push_back(checked_path((*json)[i], join_path(path, i), data.diagnostics()));
  }
  return files;
}

std::optional<HeldOutRows> read_held_out(ObjectReader& data, const std::string& field) {
  const Json* json = data.find(field);
  if (json == nullptr) return std::nullopt;
  if (json->is_string()) return read_path(data, field);
  if (!json->is_object()) {
    data.diagnostics().error(data.path_to(field), "expected a path or {\"fraction\": ..., \"seed\": ...}, got " + excerpt(*json));
    return SplitSpec{};
  }
  ObjectReader reader(*json, data.path_to(field), data.diagnostics());
  SplitSpec split;
  split.fraction = reader.number_or("fraction", split.fraction, {0, 1, true, true});
  split.seed = static_cast<std::uint64_t>(reader.integer_or("seed", 0, {0, std::numeric_limits<std::int64_t>::max()}));
  split.stratified = reader.boolean_or("stratify", false);
  reader.finish();
  return split;
}

// A number of folds, or with more: {"count": 5, "seed": 1, "early": 2}.
FoldsSpec read_folds(ObjectReader& data) {
  const IntegerRange range{2, kFoldsMax};
  FoldsSpec folds;
  const Json& json = *data.find("folds");
  if (!json.is_object()) {
    folds.count = static_cast<int>(data.integer_or("folds", folds.count, range));
    return folds;
  }
  ObjectReader reader(json, data.path_to("folds"), data.diagnostics());
  reader.require_present("count");
  folds.count = static_cast<int>(reader.integer_or("count", folds.count, range));
  folds.seed = static_cast<std::uint64_t>(reader.integer_or("seed", 0, {0, std::numeric_limits<std::int64_t>::max()}));
  folds.early = static_cast<int>(reader.integer_or("early", 0, {2, std::max(2, folds.count)}));
  reader.finish();
  return folds;
}

ValidationRows read_validation(ObjectReader& data) {
  const auto rows = read_held_out(data, "validation");
  if (data.has("folds")) {
    if (rows) {
      data.diagnostics().error(data.path_to("folds"), "takes the place of validation, and both are set", "leave one of them out");
    }
    return read_folds(data);
  }
  if (!rows) return SplitSpec{};
  return std::visit([](const auto& one) { return ValidationRows(one); }, *rows);
}

// Both are fractions of all rows of `train`.
void check_rest(const DataSpec& data, const std::string& path, Diagnostics& diagnostics) {
  const SplitSpec* validation = data.validation_split();
  const SplitSpec* test = data.test_split();
  if (validation == nullptr || test == nullptr || validation->fraction + test->fraction < 1) return;
  diagnostics.error(path, "expected fractions for validation and test that leave rows to train on, got " +
                              format_number(validation->fraction) + " and " + format_number(test->fraction));
}

bool usable_delimiter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 128 && c != '"' && c != '\n' && c != '\r' && c != '\0' && c != '.' && c != '-' && c != '+' && !std::isalnum(byte);
}

std::optional<MissingSpec> read_missing(ObjectReader& reader) {
  const Json* list = reader.find("missing");
  if (list == nullptr) return std::nullopt;
  const std::string path = reader.path_to("missing");
  MissingSpec missing;
  if (!list->is_array() || list->size() > kMissingTextsMax) {
    reader.diagnostics().error(path, "expected an array of at most " + std::to_string(kMissingTextsMax) +
                                         " texts that stand for a missing value, got " + excerpt(*list));
    return missing;
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    const Json& one = (*list)[i];
    if (one.is_number()) {
      missing.numbers.push_back(one.get<double>());
    } else if (one.is_string() && one.get_ref<const std::string&>().size() <= kMissingTextSizeMax) {
      missing.texts.push_back(one.get<std::string>());
    } else {
      reader.diagnostics().error(join_path(path, i), "expected a text like \"unknown\" or a number, got " + excerpt(one));
    }
  }
  return missing;
}

void read_csv_fields(ObjectReader& reader, DataSpec& data) {
  Diagnostics& diagnostics = reader.diagnostics();
  data.header = reader.boolean_or("header", true);
  const std::string delimiter = reader.text_or("delimiter", ",", {1, 1});
  data.delimiter = delimiter[0];
  if (!usable_delimiter(data.delimiter)) {
    diagnostics.error(reader.path_to("delimiter"), "expected a character like , or ; or a tab, got " + excerpt(delimiter));
  }
  if (const Json* label = reader.require("label", kColumnExpected)) {
    data.label = column_from(*label, reader.path_to("label"), diagnostics).value_or("");
  }
  if (const Json* positive = reader.find("positive")) {
    const auto text = scalar_text(*positive);
    if (!text || text->empty())
      diagnostics.error(reader.path_to("positive"), "expected a text or a number, got " + excerpt(*positive));
    data.positive = text.value_or("");
  }
  data.weight = read_column(reader, "weight");
  data.group = read_column(reader, "group");
  data.drop = read_columns(reader, "drop");
  data.categorical = read_columns(reader, "categorical");
  if (reader.word("categorical_encoding", {"numbers", "native"}) == std::size_t{1}) {
    data.categorical_encoding = CategoricalEncoding::native;
  }
  data.missing = read_missing(reader);
  if (!data.label.empty() && std::find(data.drop.begin(), data.drop.end(), data.label) != data.drop.end()) {
    diagnostics.error(reader.path_to("drop"), "holds the label's column `" + data.label + "`");
  }
  if (data.header) return;
  const auto check_number = [&](const std::string& column, const std::string& path) {
    if (column.find_first_not_of("0123456789") == std::string::npos) return;
    diagnostics.error(path, "a file without a header has no column names, got " + excerpt(column),
                      "give the column's number, from 0");
  };
  for (const auto& [column, field] : {std::pair{&data.label, "label"}, {&data.weight, "weight"}, {&data.group, "group"}})
    check_number(*column, reader.path_to(field));
  for (std::size_t i = 0; i < data.drop.size(); ++i) check_number(data.drop[i], join_path(reader.path_to("drop"), i));
  for (std::size_t i = 0; i < data.categorical.size(); ++i)
    check_number(data.categorical[i], join_path(reader.path_to("categorical"), i));
}

void refuse_csv_fields(ObjectReader& reader) {
  for (const char* field : {"header", "delimiter", "label", "positive", "weight", "group", "drop", "categorical",
                            "categorical_encoding", "missing"}) {
    if (reader.has(field)) reader.diagnostics().error(reader.path_to(field), "belongs to CSV files only, and this one is LibSVM");
  }
}

}  // namespace

DataSpec read_data(ObjectReader& trainer) {
  DataSpec data;
  const Json* json = trainer.require("data", "an object with `train`, the path of a file, and what it needs");
  if (json == nullptr) return data;
  ObjectReader reader(*json, trainer.path_to("data"), trainer.diagnostics());
  data.train = read_train(reader);
  data.format = read_format(reader, data.train.empty() ? "" : data.train.front());
  data.validation = read_validation(reader);
  data.test = read_held_out(reader, "test");
  check_rest(data, reader.path_to("test"), reader.diagnostics());
  if (data.format == DataFormat::csv) {
    read_csv_fields(reader, data);
  } else {
    refuse_csv_fields(reader);
  }
  reader.finish();
  return data;
}

}  // namespace tuneband

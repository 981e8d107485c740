#include "jobs/trainer_spec.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "core/masked_document.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "jobs/xgboost_parameters.hpp"
#include "scheduler/job_spec.hpp"

namespace tuneband {

namespace {

constexpr std::size_t kPathSizeMax = 4000;  // bytes
constexpr std::size_t kFixedParametersMax = 200;
constexpr std::size_t kEvalMetricsMax = 50;
constexpr std::size_t kColumnNamesMax = 100'000;
constexpr std::size_t kMissingTextsMax = 1000;
constexpr std::size_t kMissingTextSizeMax = 1000;  // bytes
constexpr std::size_t kArgumentsMax = 1000;
constexpr std::size_t kArgumentSizeMax = 100'000;  // bytes
constexpr std::size_t kVariablesMax = 1000;
constexpr std::size_t kMetricPatternsMax = 100;
constexpr std::size_t kRegexSizeMax = 2000;  // bytes
constexpr std::int64_t kThreadsMax = 1024;
constexpr double kIntervalSecondsMax = 86'400;
constexpr NumberRange kShrinkageMaxRange{0.1, 1e6};
constexpr double kSegmentSecondsMax = 30 * 86'400.0;
constexpr std::int64_t kMemoryMbMax = 1LL << 24;
constexpr std::size_t kTrainFilesMax = 10'000;
constexpr std::int64_t kRankMax = 999;

std::int64_t to_ms(double seconds) { return static_cast<std::int64_t>(seconds * 1000 + 0.5); }

std::string resolve_path(const std::string& path, const std::string& base_dir) {
  return (std::filesystem::path(base_dir) / path).lexically_normal().string();
}

// Argument, path and environment end up as C strings.
bool has_nul(const std::string& text) { return text.find('\0') != std::string::npos; }

// A text or a whole number: columns go by name or by number.
std::optional<std::string> column_from(const Json& value, const std::string& path, Diagnostics& diagnostics) {
  if (value.is_number_integer() && value >= 0) return value.dump();
  if (value.is_string() && !value.get_ref<const std::string&>().empty()) return value.get<std::string>();
  diagnostics.error(path, "expected a column, by name or by number from 0, got " + excerpt(value));
  return std::nullopt;
}

std::optional<std::string> scalar_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return format_number(value.get<double>());
  if (value.is_number_integer() || value.is_boolean()) return value.dump();
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
  if (!guessed && !train.empty()) {
    reader.diagnostics().error(reader.path_to("format"), "is missing, and the ending of " + excerpt(train) + " does not tell it",
                               "set it to csv or libsvm");
  }
  return guessed.value_or(DataFormat::csv);
}

std::string read_path(ObjectReader& reader, const std::string& field, const std::string& base_dir) {
  const auto path = reader.text(field, {1, kPathSizeMax});
  if (!path) return "";
  if (has_nul(*path)) reader.diagnostics().error(reader.path_to(field), "has a NUL byte in it");
  return resolve_path(*path, base_dir);
}

std::string checked_path(const Json& json, const std::string& path, const std::string& base_dir, Diagnostics& diagnostics) {
  const bool text = json.is_string() && !json.get_ref<const std::string&>().empty();
  if (!text || json.get_ref<const std::string&>().size() > kPathSizeMax || has_nul(json.get_ref<const std::string&>())) {
    diagnostics.error(path, "expected a path, got " + excerpt(json));
    return "";
  }
  return resolve_path(json.get<std::string>(), base_dir);
}

// A path, or an array of them.
std::vector<std::string> read_train(ObjectReader& data, const std::string& base_dir) {
  const Json* json = data.require("train");
  if (json == nullptr) return {};
  const std::string path = data.path_to("train");
  if (!json->is_array()) return {read_path(data, "train", base_dir)};
  std::vector<std::string> files;
  if (json->empty() || json->size() > kTrainFilesMax) {
    data.diagnostics().error(path, "expected a path or an array of 1 to " + std::to_string(kTrainFilesMax) + " paths");
  } else {
    for (std::size_t i = 0; i < json->size(); ++i)
      files.push_back(checked_path((*json)[i], join_path(path, i), base_dir, data.diagnostics()));
  }
  return files;
}

std::optional<HeldOutRows> read_held_out(ObjectReader& data, const std::string& field, const std::string& base_dir) {
  const Json* json = data.find(field);
  if (json == nullptr) return std::nullopt;
  if (json->is_string()) return read_path(data, field, base_dir);
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

ValidationRows read_validation(ObjectReader& data, const std::string& base_dir) {
  const auto rows = read_held_out(data, "validation", base_dir);
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

// Texts or numbers, as they stand in the cells.
std::optional<std::vector<std::string>> read_missing(ObjectReader& reader) {
  const Json* list = reader.find("missing");
  if (list == nullptr) return std::nullopt;
  const std::string path = reader.path_to("missing");
  std::vector<std::string> texts;
  if (!list->is_array() || list->size() > kMissingTextsMax) {
    reader.diagnostics().error(path, "expected an array of at most " + std::to_string(kMissingTextsMax) +
                                         " texts that stand for a missing value, got " + excerpt(*list));
    return texts;
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    const auto text = (*list)[i].is_boolean() ? std::nullopt : scalar_text((*list)[i]);
    if (text && text->size() <= kMissingTextSizeMax) {
      texts.push_back(*text);
    } else {
      reader.diagnostics().error(join_path(path, i), "expected a text like \"unknown\" or a number, got " + excerpt((*list)[i]));
    }
  }
  return texts;
}

void read_csv_fields(ObjectReader& reader, DataSpec& data) {
  Diagnostics& diagnostics = reader.diagnostics();
  data.header = reader.boolean_or("header", true);
  const std::string delimiter = reader.text_or("delimiter", ",", {1, 1});
  data.delimiter = delimiter[0];
  if (!usable_delimiter(data.delimiter)) {
    diagnostics.error(reader.path_to("delimiter"), "expected a character like , or ; or a tab, got " + excerpt(delimiter));
  }
  if (const Json* label = reader.require("label")) {
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

DataSpec read_data(ObjectReader& trainer, const std::string& base_dir) {
  DataSpec data;
  const Json* json = trainer.require("data");
  if (json == nullptr) return data;
  ObjectReader reader(*json, trainer.path_to("data"), trainer.diagnostics());
  data.train = read_train(reader, base_dir);
  data.format = read_format(reader, data.train.empty() ? "" : data.train.front());
  data.validation = read_validation(reader, base_dir);
  data.test = read_held_out(reader, "test", base_dir);
  check_rest(data, reader.path_to("test"), reader.diagnostics());
  if (data.format == DataFormat::csv) {
    read_csv_fields(reader, data);
  } else {
    refuse_csv_fields(reader);
  }
  reader.finish();
  return data;
}

// Names are checked later, together with the search space's.
std::vector<std::pair<std::string, std::string>> read_parameters(ObjectReader& trainer) {
  std::vector<std::pair<std::string, std::string>> parameters;
  const Json* json = trainer.find("parameters");
  if (json == nullptr) return parameters;
  const std::string path = trainer.path_to("parameters");
  if (!json->is_object() || json->size() > kFixedParametersMax) {
    trainer.diagnostics().error(path, "expected an object of at most " + std::to_string(kFixedParametersMax) +
                                          " XGBoost parameters, got " + excerpt(*json));
    return parameters;
  }
  for (const auto& [name, value] : json->items()) {
    const auto* known = find_xgboost_parameter(name);
    const bool may_be_json = known != nullptr && known->constrains_features();
    auto text = may_be_json && value.is_structured() ? std::optional(value.dump()) : scalar_text(value);
    if (text && !has_nul(*text)) {
      parameters.emplace_back(name, std::move(*text));
    } else {
      trainer.diagnostics().error(join_path(path, name), "expected a number, a text, true or false, got " + excerpt(value),
                                  name == "eval_metric" ? "trainer.eval_metric takes several" : "");
    }
  }
  return parameters;
}

std::vector<std::string> read_eval_metrics(ObjectReader& trainer) {
  const Json* json = trainer.find("eval_metric");
  if (json == nullptr) return {};
  if (json->is_string()) return {trainer.text_or("eval_metric", "")};
  const std::string path = trainer.path_to("eval_metric");
  std::vector<std::string> metrics;
  if (!json->is_array() || json->empty() || json->size() > kEvalMetricsMax) {
    trainer.diagnostics().error(
        path, "expected a metric or an array of up to " + std::to_string(kEvalMetricsMax) + ", got " + excerpt(*json));
    return metrics;
  }
  for (std::size_t i = 0; i < json->size(); ++i) {
    if ((*json)[i].is_string()) {
      metrics.push_back((*json)[i].get<std::string>());
    } else {
      trainer.diagnostics().error(join_path(path, i), "expected a metric's name, got " + excerpt((*json)[i]));
    }
  }
  return metrics;
}

XgboostSpec read_xgboost(ObjectReader& reader, const std::string& base_dir) {
  XgboostSpec spec;
  spec.data = read_data(reader, base_dir);
  spec.parameters = read_parameters(reader);
  spec.eval_metrics = read_eval_metrics(reader);
  spec.eval_train = reader.boolean_or("eval_train", false);
  spec.threads = static_cast<int>(reader.integer_or("threads", 1, {1, kThreadsMax}));
  spec.checkpoint_interval_ms = to_ms(reader.number_or(
      "checkpoint_interval_seconds", static_cast<double>(spec.checkpoint_interval_ms) / 1000, {0, kIntervalSecondsMax}));
  if (reader.word("sharding", {"rows", "files"}) == std::size_t{1}) spec.sharding = Sharding::files;
  if (reader.word("fidelity", {"prefix", "shrinkage"}) == std::size_t{1}) spec.fidelity = Fidelity::shrinkage;
  spec.shrinkage_max = reader.number_or("shrinkage_max", spec.shrinkage_max, kShrinkageMaxRange);
  if (spec.fidelity != Fidelity::shrinkage && reader.has("shrinkage_max")) {
    reader.diagnostics().error(reader.path_to("shrinkage_max"), "is only for the fidelity `shrinkage`");
  }
  spec.adapt_eta = reader.boolean_or("adapt_eta", false);
  if (spec.fidelity != Fidelity::shrinkage && reader.has("adapt_eta")) {
    reader.diagnostics().error(reader.path_to("adapt_eta"), "is only for the fidelity `shrinkage`, whose rungs begin anew");
  }
  if (spec.fidelity != Fidelity::shrinkage && spec.data.early_folds() < spec.data.folds()) {
    reader.diagnostics().error(reader.path_to("data.folds.early"), "is only for the fidelity `shrinkage`, whose rungs begin anew",
                               "set trainer.fidelity to shrinkage, or leave `early` out");
  }
  spec.keep_best = reader.word("keep", {"last", "best"}) == std::size_t{1};
  return spec;
}

std::vector<std::string> read_argv(ObjectReader& reader) {
  std::vector<std::string> argv;
  const Json* json = reader.require("argv");
  if (json == nullptr) return argv;
  const std::string path = reader.path_to("argv");
  if (!json->is_array() || json->empty() || json->size() > kArgumentsMax) {
    reader.diagnostics().error(
        path, "expected an array of texts, the program first, got " + excerpt(*json),
        json->is_string() ? R"(like ["python3", "train.py"]; for a line of a shell ["sh", "-c", "..."])" : "");
    return argv;
  }
  for (std::size_t i = 0; i < json->size(); ++i) {
    const Json& argument = (*json)[i];
    if (argument.is_string() && argument.get_ref<const std::string&>().size() <= kArgumentSizeMax &&
        !has_nul(argument.get<std::string>())) {
      argv.push_back(argument.get<std::string>());
    } else {
      reader.diagnostics().error(join_path(path, i), "expected a text, got " + excerpt(argument), "numbers go in quotes too");
    }
  }
  if (!argv.empty() && argv[0].empty())
    reader.diagnostics().error(join_path(path, std::size_t{0}), "expected a program, got an empty text");
  return argv;
}

bool is_variable_name(const std::string& name) { return !name.empty() && !has_nul(name) && name.find('=') == std::string::npos; }

void read_reference(const std::string& name, const Json& json, const std::string& path, const std::string& base_dir,
                    CommandSpec& spec, Diagnostics& diagnostics) {
  using Source = EnvironmentReference::Source;
  ObjectReader reader(json, path, diagnostics);
  const auto variable = reader.text("from_environment", {1, kPathSizeMax});
  const std::string file = reader.has("file") ? read_path(reader, "file", base_dir) : "";
  reader.finish();
  if (variable.has_value() == !file.empty()) {
    diagnostics.error(path, "expected a text, {\"from_environment\": NAME} or {\"file\": PATH}");
  } else if (variable && !is_variable_name(*variable)) {
    diagnostics.error(join_path(path, "from_environment"), "is not a name for an environment variable");
  } else {
    spec.environment_references.push_back({name, variable ? Source::worker_variable : Source::file, variable ? *variable : file});
  }
}

void read_environment(ObjectReader& reader, const std::string& base_dir, CommandSpec& spec) {
  const Json* json = reader.find("environment");
  if (json == nullptr) return;
  const std::string path = reader.path_to("environment");
  Diagnostics& diagnostics = reader.diagnostics();
  if (!json->is_object() || json->size() > kVariablesMax) {
    return diagnostics.error(path, "expected an object of at most " + std::to_string(kVariablesMax) + " variables");
  }
  for (const auto& [name, value] : json->items()) {
    const std::string at = join_path(path, name);
    auto text = scalar_text(value);
    if (!is_variable_name(name)) {
      diagnostics.error(at, "is not a name for an environment variable");
    } else if (value.is_object()) {
      read_reference(name, value, at, base_dir, spec, diagnostics);
    } else if (!text || has_nul(*text)) {
      diagnostics.error(at, "expected a text, {\"from_environment\": NAME} or {\"file\": PATH}");
    } else if (*text == kMaskedValue) {
      diagnostics.error(at, "is the mask of a value, not the value", "documents are shown without these values: give it anew");
    } else {
      spec.environment.emplace_back(name, std::move(*text));
    }
  }
}

void read_pass_environment(ObjectReader& reader, CommandSpec& spec) {
  const Json* json = reader.find("pass_environment");
  if (json == nullptr) return;
  const std::string path = reader.path_to("pass_environment");
  if (!json->is_array() || json->size() > kVariablesMax) {
    return reader.diagnostics().error(path, "expected an array of variables' names, got " + excerpt(*json));
  }
  for (std::size_t i = 0; i < json->size(); ++i) {
    const Json& name = (*json)[i];
    if (name.is_string() && is_variable_name(name.get<std::string>())) {
      spec.pass_environment.push_back(name.get<std::string>());
    } else {
      reader.diagnostics().error(join_path(path, i), "expected the name of an environment variable, got " + excerpt(name));
    }
  }
}

// "[3]\tvalid-auc:0.71\ttrain-auc:0.8", as XGBoost prints its evaluations.
constexpr const char* kXgboostLinePattern = R"(\t([^\s:]+):(\S+))";

void read_metrics(ObjectReader& reader, CommandSpec& spec) {
  const Json* json = reader.find("metrics");
  if (json == nullptr) return;
  const std::string path = reader.path_to("metrics");
  if (json->is_string()) {
    if (reader.word("metrics", {"json", "xgboost"}) == std::size_t{1}) spec.metrics.push_back({"", kXgboostLinePattern});
    return;
  }
  if (!json->is_array() || json->empty() || json->size() > kMetricPatternsMax) {
    reader.diagnostics().error(path,
                               "expected \"json\", \"xgboost\" or an array of {\"name\", \"regex\"}, got " + excerpt(*json));
    return;
  }
  for (std::size_t i = 0; i < json->size(); ++i) {
    ObjectReader pattern((*json)[i], join_path(path, i), reader.diagnostics());
    pattern.require_present("name");
    pattern.require_present("regex");
    spec.metrics.push_back(
        {pattern.text_or("name", "", {0, kMetricNameSizeMax}), pattern.text_or("regex", "", {1, kRegexSizeMax})});
    pattern.finish();
  }
}

void read_may_end_early(ObjectReader& reader, CommandSpec& spec) {
  spec.may_end_early = reader.boolean("may_end_early").value_or(false);
  if (spec.may_end_early && spec.resume == ResumeMode::checkpoint) {
    reader.diagnostics().error(reader.path_to("may_end_early"),
                               "a training that has ended by itself cannot go on from its checkpoint",
                               "leave out one of the two, or let it report its last value for {until_resource}");
  }
}

CommandSpec read_command(ObjectReader& reader, const std::string& base_dir) {
  CommandSpec spec;
  spec.argv = read_argv(reader);
  read_environment(reader, base_dir, spec);
  read_pass_environment(reader, spec);
  const std::string working_dir = reader.text_or("working_dir", "", {0, kPathSizeMax});
  if (!working_dir.empty()) spec.working_dir = resolve_path(working_dir, base_dir);
  read_metrics(reader, spec);
  spec.resource_regex = reader.text_or("resource_regex", "", {0, kRegexSizeMax});
  spec.resource_name = reader.text_or("resource_name", spec.resource_name, {1, 50});
  if (reader.word("resume", {"checkpoint", "restart"}) == std::size_t{0}) spec.resume = ResumeMode::checkpoint;
  read_may_end_early(reader, spec);
  spec.grace_ms = to_ms(reader.number_or("grace_seconds", static_cast<double>(spec.grace_ms) / 1000, {0, 3600}));
  if (const auto seconds = reader.number("timeout_seconds", {0, kSegmentSecondsMax, true, false}))
    spec.timeout_ms = to_ms(*seconds);
  if (const auto mb = reader.integer("memory_mb", {1, kMemoryMbMax})) spec.memory_bytes_max = *mb * kMegabyte;
  if (const auto seconds = reader.number("cpu_seconds", {0, kSegmentSecondsMax, true, false})) spec.cpu_ms_max = to_ms(*seconds);
  spec.metric_rank = static_cast<int>(reader.integer_or("metric_rank", 0, {0, kRankMax}));
  return spec;
}

// Of the data's key.
Json key_of(const SplitSpec& split) {
  Json key{split.fraction, split.seed};
  if (split.stratified) key.push_back("stratified");
  return key;
}
Json key_of(const std::string& file) { return file; }
Json key_of(const FoldsSpec& folds) { return {"folds", folds.count, folds.seed}; }
template <class... Rows>
Json key_of(const std::variant<Rows...>& rows) {
  return std::visit([](const auto& one) { return key_of(one); }, rows);
}

}  // namespace

TrainerSpec parse_trainer(const Json& json, const std::string& path, const std::string& base_dir, Diagnostics& diagnostics) {
  ObjectReader reader(json, path, diagnostics);
  reader.require_present("type");
  const auto type = reader.word("type", {"xgboost", "command"});
  if (!type) return XgboostSpec{};  // with a fault in the diagnostics; the other fields depend on the type
  reader.find("replicas");          // known, and read elsewhere
  reader.word("preflight", {"files", kPreflightLocal});
  TrainerSpec spec;
  if (*type == 0) {
    spec = read_xgboost(reader, base_dir);
  } else {
    spec = read_command(reader, base_dir);
  }
  reader.finish();
  return spec;
}

std::vector<std::string> eval_metrics_for(const XgboostSpec& spec, const std::string& objective_metric) {
  if (!spec.eval_metrics.empty()) return spec.eval_metrics;
  const auto dash = objective_metric.find('-');
  return dash == std::string::npos ? std::vector<std::string>{} : std::vector<std::string>{objective_metric.substr(dash + 1)};
}

std::string variable_of_parameter(const std::string& parameter) {
  std::string name = "TUNEBAND_PARAMETER_";
  for (const char c : parameter) {
    const auto byte = static_cast<unsigned char>(c);
    name += std::isalnum(byte) ? static_cast<char>(std::toupper(byte)) : '_';
  }
  return name;
}

std::string resource_name(const TrainerSpec& trainer) {
  const auto* command = std::get_if<CommandSpec>(&trainer);
  return command == nullptr ? "rounds" : command->resource_name;
}

std::string data_key(const TrainerSpec& trainer) {
  const auto* xgboost = std::get_if<XgboostSpec>(&trainer);
  if (xgboost == nullptr) return "";
  const DataSpec& data = xgboost->data;
  Json options = {data.format == DataFormat::csv ? "csv" : "libsvm",
                  data.header,
                  std::string(1, data.delimiter),
                  data.label,
                  data.positive,
                  data.drop,
                  data.categorical};
  options.push_back(key_of(data.validation));
  if (data.train.size() > 1) options.push_back(data.train);
  if (data.missing) options.push_back({{"missing", *data.missing}});
  if (data.categorical_encoding == CategoricalEncoding::native) options.push_back({{"categorical_encoding", "native"}});
  if (data.test) options.push_back({{"test", key_of(*data.test)}});
  if (!data.weight.empty()) options.push_back({{"weight", data.weight}});
  if (!data.group.empty()) options.push_back({{"group", data.group}});
  return (data.train.empty() ? "" : data.train.front()) + "#" +
         std::to_string(stable_hash(options.dump(-1, ' ', true, Json::error_handler_t::replace)));
}

}  // namespace tuneband

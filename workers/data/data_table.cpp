#include "workers/data/data_table.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/random.hpp"
#include "workers/data/csv_encoding.hpp"
#include "workers/data/libsvm_reader.hpp"

namespace tuneband::workers {

namespace {

constexpr const char* kTrainPath = "trainer.data.train";
constexpr const char* kValidationPath = "trainer.data.validation";
constexpr const char* kTestPath = "trainer.data.test";
constexpr std::uint64_t kTestDraw = 1;

constexpr std::uint64_t kExpansionAssumed = 4;          // of a compressed file
constexpr std::uint64_t kSampleOfFileMin = 256 * 1024;  // bytes
constexpr double kShareMin = 1e-9;

// 0 where it is not there.
std::uint64_t size_of_file(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

// Of a row of the training files. The test rows are drawn first, so that they are the same ones however the others are shared
// out.
RowTarget split_target(const DataSpec& spec, LoadedTables& tables) {
  const auto split_or_none = [](const SplitSpec* split) { return split == nullptr ? SplitSpec{0, 0} : *split; };
  const SplitSpec of_test = split_or_none(spec.test_split());
  const SplitSpec of_validation = split_or_none(spec.validation_split());
  return [test = RowSplit(of_test, of_test.fraction, kTestDraw),
          validation = RowSplit(of_validation, of_validation.fraction / (1 - of_test.fraction), std::nullopt),
          &tables](const RowKey& row) mutable -> Table& {
    if (test.holds_out(row)) return tables.test;
    return validation.holds_out(row) ? tables.validation : tables.train;
  };
}

// Where the rows of each file go: reads it with `read(path, field, target)`, which says how much of it was read. The training
// files' rows are numbered as one table's.
template <class Read>
Result<void> read_files(const DataSpec& spec, LoadedTables& tables, const Read& read) {
  const RowTarget target = split_target(spec, tables);
  const auto rows = [&tables] { return tables.rows(); };
  double rows_of_all = 0;
  bool whole = true;
  const auto count = [&](const TextRead& done, std::size_t rows_before) {
    rows_of_all += static_cast<double>(rows() - rows_before) / std::max(done.share, kShareMin);
    whole = whole && done.whole;
    tables.checksum = static_cast<std::uint32_t>(mix64((std::uint64_t{tables.checksum} << 32) | done.checksum));
    if (!whole) tables.rows_of_all = rows_of_all;
  };
  for (std::size_t i = 0; i < spec.train.size(); ++i) {
    const std::string field = spec.train.size() == 1 ? kTrainPath : join_path(kTrainPath, i);
    const std::size_t rows_before = rows();
    const Result<TextRead> done = read(spec.train[i], field, [&](const RowKey& row) -> Table& {
      return target({rows_before + row.number, row.group, row.label});
    });
    if (!done) return done.error();
    count(*done, rows_before);
    for (Table* part : tables.parts()) part->file_ends.push_back(part->rows());
  }
  const auto read_whole = [&](const std::string* path, const char* field, Table& table) -> Result<void> {
    if (path == nullptr) return {};
    const std::size_t rows_before = rows();
    const Result<TextRead> done = read(*path, field, [&table](const RowKey&) -> Table& { return table; });
    if (!done) return done.error();
    count(*done, rows_before);
    return {};
  };
  const auto validation = read_whole(spec.validation_file(), kValidationPath, tables.validation);
  if (!validation) return validation;
  return read_whole(spec.test_file(), kTestPath, tables.test);
}

// Of the text in the files, about.
std::uint64_t text_size(const DataSpec& spec) {
  std::uint64_t size = 0;
  for (const std::string& path : files_of(spec)) {
    const bool compressed = path.ends_with(".gz") || path.ends_with(".zst") || path.ends_with(".zstd");
    size += size_of_file(path) * (compressed ? kExpansionAssumed : 1);
  }
  return size;
}

// Of each file.
ReadOptions read_options(const DataSpec& spec, const LoadOptions& options) {
  ReadOptions read;
  const std::uint64_t size = size_of_files(spec);
  if (text_size(spec) > options.sample_bytes) {
    read.bytes_max = std::max(options.sample_bytes / files_of(spec).size(), kSampleOfFileMin);
  }
  if (!options.on_progress) return read;
  const std::uint64_t readings = spec.format == DataFormat::csv ? 2 : 1;
  read.on_read = [&options, all = static_cast<double>(std::max<std::uint64_t>(size * readings, 1)),
                  done = std::uint64_t{0}](std::uint64_t bytes) mutable {
    done += bytes;
    options.on_progress(std::min(1.0, static_cast<double>(done) / all));
  };
  return read;
}

Result<void> load_csv(const DataSpec& spec, const ReadOptions& options, LoadedTables& tables) {
  auto encoding = learn_csv_encoding(spec, options);
  if (!encoding) return encoding.error();
  tables.encoding = std::move(*encoding);
  for (Table* table : tables.parts()) {
    table->columns = tables.encoding.width();
    table->feature_types = tables.encoding.feature_types();
  }
  return read_files(spec, tables, [&](const std::string& path, const std::string& field, const RowTarget& target) {
    return encode_csv(spec, tables.encoding, path, field, target, options);
  });
}

Result<void> check_queries(const Table& table, const std::string& field) {
  if (table.groups.empty() || table.groups.size() == table.rows()) return {};
  return Error{ErrorCode::invalid_argument, "some lines have a qid and some have none", field, ""};
}

// Those of LibSVM files, where each line may have one: all rows have one, or none has.
Result<void> check_all_weighted(const LoadedTables& tables) {
  const auto parts = tables.parts();
  const bool weighted = std::any_of(parts.begin(), parts.end(), [](const Table* table) { return !table->weights.empty(); });
  for (const auto& [table, field] : {std::pair{&tables.train, kTrainPath}, std::pair{&tables.validation, kValidationPath},
                                     std::pair{&tables.test, kTestPath}}) {
    if (table->weights.size() == (weighted ? table->rows() : 0)) continue;
    return Error{ErrorCode::invalid_argument, "some rows have a weight, as in label:weight, and some have none", field,
                 "label:1 counts as a row without a weight"};
  }
  return {};
}

Result<void> load_libsvm(const DataSpec& spec, const ReadOptions& options, LoadedTables& tables) {
  const auto read_one = [&options](const std::string& path, const std::string& field,
                                   const RowTarget& target) -> Result<TextRead> {
    auto read = read_libsvm(path, target, options);
    if (read) return read;
    Error error = read.error();
    error.path = field;
    return error;
  };
  if (auto done = read_files(spec, tables, read_one); !done) return done;
  std::size_t columns = 1;
  for (const Table* table : tables.parts()) columns = std::max(columns, table->columns);
  for (Table* table : tables.parts()) table->columns = columns;
  if (auto checked = check_all_weighted(tables); !checked) return checked;
  if (auto checked = check_queries(tables.train, kTrainPath); !checked) return checked;
  if (auto checked = check_queries(tables.validation, kValidationPath); !checked) return checked;
  return check_queries(tables.test, kTestPath);
}

Result<void> check_sizes(const DataSpec& spec, const LoadedTables& tables) {
  const auto check = [&](const Table& table, const auto& from, const char* path, const char* whom) -> Result<void> {
    if (table.rows() > 0) return {};
    if (tables.rows_of_all) return no_row_in_sample();
    if (const auto* file = std::get_if<std::string>(&from))
      return Error{ErrorCode::invalid_argument,
                   "the file " + *file + " " + without_rows(*file, spec.format == DataFormat::csv && spec.header), path, ""};
    return Error{ErrorCode::invalid_argument, "the split of " + std::to_string(tables.rows()) + " rows leaves none for " + whom,
                 path, "give more rows, another fraction or another seed"};
  };
  const bool validation_took = spec.validation_split() != nullptr && tables.validation.rows() > 0;
  const bool test_took = spec.test_split() != nullptr && tables.test.rows() > 0;
  const HeldOutRows train = validation_took || test_took ? HeldOutRows(SplitSpec{}) : HeldOutRows(spec.train.front());
  const char* const path = validation_took ? kValidationPath : test_took ? kTestPath : kTrainPath;
  if (auto checked = check(tables.train, train, path, "training"); !checked) return checked;
  if (spec.folds() == 0) {
    if (auto checked = check(tables.validation, spec.validation, kValidationPath, "validation"); !checked) return checked;
  }
  return spec.test ? check(tables.test, *spec.test, kTestPath, "the test") : Result<void>();
}

// Rows that all count nothing measure nothing.
Result<void> check_weights(const DataSpec& spec, const LoadedTables& tables) {
  if (tables.rows_of_all) return {};
  for (const Table* table : tables.parts()) {
    const bool nothing = std::all_of(table->weights.begin(), table->weights.end(), [](float weight) { return weight == 0; });
    if (table->weights.empty() || !nothing) continue;
    const char* part = table == &tables.train ? "training" : table == &tables.validation ? "validation" : "test";
    return Error{ErrorCode::invalid_argument, "every row of the " + std::string(part) + " data has the weight 0",
                 spec.format == DataFormat::csv ? "trainer.data.weight" : kTrainPath, ""};
  }
  return {};
}

std::string file_version(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return "absent";
  return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino) + ":" + std::to_string(status.st_size) + ":" +
         std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec);
}

}  // namespace

Table empty_like(const Table& table) {
  Table empty;
  empty.columns = table.columns;
  empty.sparse = table.sparse;
  empty.feature_types = table.feature_types;
  if (table.sparse) empty.row_starts.push_back(0);
  return empty;
}

RowValues values_of_row(const Table& table, std::size_t row) {
  if (table.sparse) return {table.row_starts[row], table.row_starts[row + 1]};
  return {row * table.columns, (row + 1) * table.columns};
}

void append_row(const Table& from, std::size_t row, Table& to) {
  to.labels.push_back(from.labels[row]);
  if (!from.weights.empty()) to.weights.push_back(from.weights[row]);
  if (!from.groups.empty()) to.groups.push_back(from.groups[row]);
  const auto offset = [](std::size_t index) { return static_cast<std::ptrdiff_t>(index); };
  const auto [begin, end] = values_of_row(from, row);
  to.values.insert(to.values.end(), from.values.begin() + offset(begin), from.values.begin() + offset(end));
  if (!from.sparse) return;
  to.entry_columns.insert(to.entry_columns.end(), from.entry_columns.begin() + offset(begin),
                          from.entry_columns.begin() + offset(end));
  to.row_starts.push_back(to.values.size());
}

Error no_row_in_sample() {
  return {ErrorCode::too_large, "no row is as short as what was read of the data to check it", "trainer.data", ""};
}

std::vector<std::string> files_of(const DataSpec& spec) {
  std::vector<std::string> files = spec.train;
  if (const std::string* validation = spec.validation_file()) files.push_back(*validation);
  if (const std::string* test = spec.test_file()) files.push_back(*test);
  return files;
}

std::uint64_t size_of_files(const DataSpec& spec) {
  std::uint64_t size = 0;
  for (const std::string& path : files_of(spec)) size += size_of_file(path);
  return size;
}

std::string data_version(const DataSpec& spec) {
  std::string version;
  for (const std::string& file : files_of(spec)) version += file_version(file) + "|";
  return version;
}

Result<LoadedTables> load_tables(const DataSpec& spec, const LoadOptions& options) {
  LoadedTables tables;
  tables.folds = spec.folds();
  const ReadOptions read = read_options(spec, options);
  const std::string version = data_version(spec);
  auto loaded = spec.format == DataFormat::csv ? load_csv(spec, read, tables) : load_libsvm(spec, read, tables);
  if (!loaded) return loaded.error();
  // A CSV file is read twice or three times, and its columns are those of the first.
  if (data_version(spec) != version)
    return Error{ErrorCode::invalid_argument, "a file changed while it was read", "trainer.data", "submit it once it is whole"};
  if (auto checked = check_sizes(spec, tables); !checked) return checked.error();
  if (auto checked = check_weights(spec, tables); !checked) return checked.error();
  return tables;
}

std::optional<std::size_t> share_of_unknown_texts(std::size_t with_unknown, std::size_t rows) {
  constexpr std::size_t kShareTold = 20;  // %
  const std::size_t share = with_unknown * 100 / rows;
  return share < kShareTold ? std::nullopt : std::optional(share);
}

}  // namespace tuneband::workers

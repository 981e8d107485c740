#include "workers/data/data_table.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <system_error>

#include "core/random.hpp"
#include "workers/data/csv_encoding.hpp"
#include "workers/data/libsvm_reader.hpp"

namespace tuneband::workers {

namespace {

constexpr const char* kTrainPath = "trainer.data.train";
constexpr const char* kValidationPath = "trainer.data.validation";

constexpr std::uint64_t kExpansionAssumed = 4;          // of a compressed file
constexpr std::uint64_t kSampleOfFileMin = 256 * 1024;  // bytes
constexpr double kShareMin = 1e-9;

template <class Visit>
void for_each_file(const DataSpec& spec, const Visit& visit) {
  for (const std::string& file : spec.train) visit(file);
  if (const auto* validation = std::get_if<std::string>(&spec.validation)) visit(*validation);
}

// 0 where it is not there.
std::uint64_t size_of_file(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

using RowTarget = std::function<Table&(std::uint64_t row)>;

// A row's side depends on the seed and its number alone: the same split in every process.
RowTarget split_target(const SplitSpec& split, LoadedTables& tables) {
  return [split, &tables](std::uint64_t row) -> Table& {
    return random_unit(split.seed, {row}) < split.fraction ? tables.validation : tables.train;
  };
}

// Where the rows of each file go: reads it with `read(path, field, target)`, which says how much of it was read. The training
// files' rows are numbered as one table's.
template <class Read>
Result<void> read_files(const DataSpec& spec, LoadedTables& tables, const Read& read) {
  const auto* split = std::get_if<SplitSpec>(&spec.validation);
  const RowTarget target =
      split != nullptr ? split_target(*split, tables) : [&tables](std::uint64_t) -> Table& { return tables.train; };
  const auto rows = [&tables] { return tables.train.rows() + tables.validation.rows(); };
  double rows_of_all = 0;
  bool whole = true;
  const auto count = [&](const TextRead& done, std::size_t rows_before) {
    rows_of_all += static_cast<double>(rows() - rows_before) / std::max(done.share, kShareMin);
    whole = whole && done.whole;
    if (!whole) tables.rows_of_all = rows_of_all;
  };
  for (std::size_t i = 0; i < spec.train.size(); ++i) {
    const std::string field = spec.train.size() == 1 ? kTrainPath : join_path(kTrainPath, i);
    const std::size_t rows_before = rows();
    const Result<TextRead> done =
        read(spec.train[i], field, [&](std::uint64_t row) -> Table& { return target(rows_before + row); });
    if (!done) return done.error();
    count(*done, rows_before);
    tables.train_file_ends.push_back(tables.train.rows());
  }
  if (split != nullptr) return {};
  const std::size_t rows_before = rows();
  const Result<TextRead> done = read(std::get<std::string>(spec.validation), kValidationPath,
                                     [&tables](std::uint64_t) -> Table& { return tables.validation; });
  if (!done) return done.error();
  count(*done, rows_before);
  return {};
}

// Of the text in the files, about.
std::uint64_t text_size(const DataSpec& spec) {
  std::uint64_t size = 0;
  for_each_file(spec, [&size](const std::string& path) {
    const bool compressed = path.ends_with(".gz") || path.ends_with(".zst") || path.ends_with(".zstd");
    size += size_of_file(path) * (compressed ? kExpansionAssumed : 1);
  });
  return size;
}

// Of each file.
ReadOptions read_options(const DataSpec& spec, const LoadOptions& options) {
  ReadOptions read;
  const std::uint64_t size = size_of_files(spec);
  const std::size_t files = spec.train.size() + (std::holds_alternative<std::string>(spec.validation) ? 1 : 0);
  if (text_size(spec) > options.sample_bytes) {
    read.bytes_max = std::max(options.sample_bytes / files, kSampleOfFileMin);
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
  tables.train.columns = tables.validation.columns = tables.encoding.width();
  tables.train.feature_types = tables.validation.feature_types = tables.encoding.feature_types();
  return read_files(spec, tables, [&](const std::string& path, const std::string& field, const RowTarget& target) {
    return encode_csv(spec, tables.encoding, path, field, target, options);
  });
}

Result<void> check_queries(const Table& table, const std::string& field) {
  const auto queried = std::accumulate(table.query_sizes.begin(), table.query_sizes.end(), std::size_t{0});
  if (table.query_sizes.empty() || queried == table.rows()) return {};
  return Error{ErrorCode::invalid_argument, "some lines have a qid and some have none", field, ""};
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
  tables.train.columns = tables.validation.columns = std::max({tables.train.columns, tables.validation.columns, std::size_t{1}});
  if (std::holds_alternative<SplitSpec>(spec.validation)) {  // queries are torn apart
    tables.train.query_sizes.clear();
    tables.validation.query_sizes.clear();
    return {};
  }
  if (auto checked = check_queries(tables.train, kTrainPath); !checked) return checked;
  return check_queries(tables.validation, kValidationPath);
}

Result<void> check_sizes(const DataSpec& spec, const LoadedTables& tables) {
  const bool split = std::holds_alternative<SplitSpec>(spec.validation);
  const std::size_t all = tables.train.rows() + tables.validation.rows();
  if (tables.train.rows() > 0 && tables.validation.rows() > 0) return {};
  const bool train_empty = tables.train.rows() == 0;
  if (tables.rows_of_all) return no_row_in_sample();
  if (split && all > 0) {
    return Error{ErrorCode::invalid_argument,
                 "the split of " + std::to_string(all) + " rows leaves none for " + (train_empty ? "training" : "validation"),
                 kValidationPath, "give more rows, another fraction or another seed"};
  }
  const std::string file = train_empty ? spec.train.front() : std::get<std::string>(spec.validation);
  return Error{ErrorCode::invalid_argument, "the file " + file + " has no rows", train_empty ? kTrainPath : kValidationPath, ""};
}

}  // namespace

Error no_row_in_sample() {
  return {ErrorCode::too_large, "no row is as short as what was read of the data to check it", "trainer.data", ""};
}

std::uint64_t size_of_files(const DataSpec& spec) {
  std::uint64_t size = 0;
  for_each_file(spec, [&size](const std::string& path) { size += size_of_file(path); });
  return size;
}

Result<LoadedTables> load_tables(const DataSpec& spec, const LoadOptions& options) {
  LoadedTables tables;
  const ReadOptions read = read_options(spec, options);
  auto loaded = spec.format == DataFormat::csv ? load_csv(spec, read, tables) : load_libsvm(spec, read, tables);
  if (!loaded) return loaded.error();
  if (auto checked = check_sizes(spec, tables); !checked) return checked.error();
  return tables;
}

}  // namespace tuneband::workers

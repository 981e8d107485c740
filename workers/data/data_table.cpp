#include "workers/data/data_table.hpp"

#include <algorithm>
#include <numeric>

#include "core/random.hpp"
#include "workers/data/csv_encoding.hpp"
#include "workers/data/libsvm_reader.hpp"

namespace tuneband::workers {

namespace {

constexpr const char* kTrainPath = "trainer.data.train";
constexpr const char* kValidationPath = "trainer.data.validation";

using RowTarget = std::function<Table&(std::uint64_t row)>;

// A row's side depends on the seed and its number alone: the same split in every process.
RowTarget split_target(const protocol::SplitSpec& split, LoadedTables& tables) {
  return [split, &tables](std::uint64_t row) -> Table& {
    return random_unit(split.seed, {row}) < split.fraction ? tables.validation : tables.train;
  };
}

// Where the rows of each file go: reads it with `read(path, field, target)`. The training files' rows are numbered as one
// table's.
template <class Read>
Result<void> read_files(const protocol::DataSpec& spec, LoadedTables& tables, const Read& read) {
  const auto* split = std::get_if<protocol::SplitSpec>(&spec.validation);
  const RowTarget target =
      split != nullptr ? split_target(*split, tables) : [&tables](std::uint64_t) -> Table& { return tables.train; };
  for (std::size_t i = 0; i < spec.train.size(); ++i) {
    const std::string field = spec.train.size() == 1 ? kTrainPath : join_path(kTrainPath, i);
    const std::uint64_t rows_before = tables.train.rows() + tables.validation.rows();
    auto done = read(spec.train[i], field, [&](std::uint64_t row) -> Table& { return target(rows_before + row); });
    if (!done) return done;
    tables.train_file_ends.push_back(tables.train.rows());
  }
  if (split != nullptr) return {};
  return read(std::get<std::string>(spec.validation), kValidationPath,
              [&tables](std::uint64_t) -> Table& { return tables.validation; });
}

Result<void> load_csv(const protocol::DataSpec& spec, LoadedTables& tables) {
  auto encoding = learn_csv_encoding(spec);
  if (!encoding) return encoding.error();
  tables.encoding = std::move(*encoding);
  tables.train.columns = tables.validation.columns = tables.encoding.width();
  tables.train.feature_types = tables.validation.feature_types = tables.encoding.feature_types();
  return read_files(spec, tables, [&](const std::string& path, const std::string& field, const RowTarget& target) {
    return encode_csv(spec, tables.encoding, path, field, target);
  });
}

Result<void> check_queries(const Table& table, const std::string& field) {
  const auto queried = std::accumulate(table.query_sizes.begin(), table.query_sizes.end(), std::size_t{0});
  if (table.query_sizes.empty() || queried == table.rows()) return {};
  return Error{ErrorCode::invalid_argument, "some lines have a qid and some have none", field, ""};
}

Result<void> load_libsvm(const protocol::DataSpec& spec, LoadedTables& tables) {
  auto done =
      read_files(spec, tables, [](const std::string& path, const std::string& field, const RowTarget& target) -> Result<void> {
        auto read = read_libsvm(path, target);
        if (read) return read;
        Error error = read.error();
        error.path = field;
        return error;
      });
  if (!done) return done;
  tables.train.columns = tables.validation.columns = std::max({tables.train.columns, tables.validation.columns, std::size_t{1}});
  if (std::holds_alternative<protocol::SplitSpec>(spec.validation)) {  // queries are torn apart
    tables.train.query_sizes.clear();
    tables.validation.query_sizes.clear();
    return {};
  }
  if (auto checked = check_queries(tables.train, kTrainPath); !checked) return checked;
  return check_queries(tables.validation, kValidationPath);
}

Result<void> check_sizes(const protocol::DataSpec& spec, const LoadedTables& tables) {
  const bool split = std::holds_alternative<protocol::SplitSpec>(spec.validation);
  const std::size_t all = tables.train.rows() + tables.validation.rows();
  if (tables.train.rows() > 0 && tables.validation.rows() > 0) return {};
  const bool train_empty = tables.train.rows() == 0;
  if (split && all > 0) {
    return Error{ErrorCode::invalid_argument,
                 "the split of " + std::to_string(all) + " rows leaves none for " + (train_empty ? "training" : "validation"),
                 kValidationPath, "give more rows, another fraction or another seed"};
  }
  const std::string file = train_empty ? spec.train.front() : std::get<std::string>(spec.validation);
  return Error{ErrorCode::invalid_argument, "the file " + file + " has no rows", train_empty ? kTrainPath : kValidationPath, ""};
}

}  // namespace

Result<LoadedTables> load_tables(const protocol::DataSpec& spec) {
  LoadedTables tables;
  auto loaded = spec.format == protocol::DataFormat::csv ? load_csv(spec, tables) : load_libsvm(spec, tables);
  if (!loaded) return loaded.error();
  if (auto checked = check_sizes(spec, tables); !checked) return checked.error();
  return tables;
}

}  // namespace tuneband::workers

// Rows of numbers with labels, as XGBoost takes them, read from CSV or LibSVM files.
//
// CSV columns become features like this. A column is numeric when every cell of the training file that is not missing is a
// number. Any other, and any the user names, is categorical: one feature of 0 and 1 for each category where these are at most
// kOneHotCategoriesMax, else one feature with the category's place in sorted order; or, where the user wants XGBoost's own way
// with categories, one feature with that place, which XGBoost is told to be a category. Missing cells (empty, and those of
// DataSpec::missing) are NaN in every feature of their column, and so are categories that only the other files have. A column
// that is numeric but for a few cells is an error, since those are dirt.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "jobs/trainer_spec.hpp"
#include "workers/data/csv_reader.hpp"
#include "workers/data/data_split.hpp"

namespace tuneband::workers {

inline constexpr std::size_t kOneHotCategoriesMax = 32;
inline constexpr std::size_t kColumnCategoriesMax = 100'000;
inline constexpr std::size_t kLabelClassesMax = 10'000;
inline constexpr std::size_t kFeaturesMax = 10'000'000;

// What XGBoost keeps of a value that is not missing: its entry (8), its histogram index and column pages.
inline constexpr std::size_t kXgboostBytesPerValue = 16;

struct Table {
  std::size_t columns = 0;
  std::vector<float> labels;               // one a row
  std::vector<float> weights;              // one a row; empty: all are 1
  std::vector<std::uint64_t> groups;       // one a row, its qid or a hash of its group's name; empty: there are none
  std::vector<float> values;               // dense: rows x columns, row after row, NaN = missing; sparse: the entries
  bool sparse = false;                     // then also:
  std::vector<std::size_t> row_starts;     // into values; rows + 1
  std::vector<unsigned> entry_columns;     // of each value
  std::vector<std::size_t> unknown_texts;  // for each feature column of a CSV file: rows with a text that the training files lack
  std::vector<unsigned> query_sizes;       // of make_queries(): rows of each, one after the other; empty: no queries
  std::vector<std::size_t> file_ends;  // of each training file that rows may come from: rows up to its end; empty: of one file
  std::string feature_types;           // XGBoost's, one a column: 'q' for a quantity, 'c' for a category; empty: quantities

  std::size_t rows() const { return labels.size(); }
};

// Where the values of a row are among all.
struct RowValues {
  std::size_t begin = 0;
  std::size_t end = 0;
};
RowValues values_of_row(const Table& table, std::size_t row);

// A table without rows, whose columns are those of `table`.
Table empty_like(const Table& table);
// To one that is like it. Queries are left to the caller.
void append_row(const Table& from, std::size_t row, Table& to);

enum class ColumnKind { numeric, one_hot, ordinal, native };

struct FeatureColumn {
  std::size_t source = 0;  // column of the file, from 0
  std::string name;
  ColumnKind kind = ColumnKind::numeric;
  std::vector<std::string> categories;  // sorted

  std::size_t width() const { return kind == ColumnKind::one_hot ? categories.size() : 1; }  // in features
};

// Cells that stand for nothing known.
struct MissingCells {
  std::vector<std::string> texts;    // "" is one of them
  bool any_case = false;             // upper or lower case is the same
  std::vector<double> numbers = {};  // however they are written

  bool has(std::string_view cell) const;
};

struct LabelColumn {
  std::size_t source = 0;
  std::string name;
  std::vector<std::string> classes;  // of a text label, sorted: 0, 1, ...; empty: numbers
  std::string positive;              // not "": 1 for this text, 0 for the others
  std::string other;                 // of labels of numbers, with `positive`: the only other one; "": there are several
};

// How the cells of a CSV file become numbers; learnt from the training file alone, and deterministic.
struct CsvEncoding {
  char delimiter = ',';
  bool header = true;
  std::vector<std::string> columns;  // of the file, by name; "column3" where there is no header
  std::vector<FeatureColumn> features;
  LabelColumn label;
  MissingCells missing;
  std::optional<std::size_t> weight;  // these columns are no features
  std::optional<std::size_t> group;
  std::vector<Error> doubts;  // that are no faults: texts that are not UTF-8, names that two columns share

  std::size_t width() const;
  // As Table::feature_types.
  std::string feature_types() const;
  // One for each feature: "age", "job=admin.".
  std::vector<std::string> feature_names() const;
};

// Of how many per cent of the rows, if it is worth telling that they have texts in a column that the training data lacks; else
// nothing. `rows`: above 0.
std::optional<std::size_t> share_of_unknown_texts(std::size_t with_unknown, std::size_t rows);

struct LoadedTables {
  // Where only a sample was read: of all rows, about. Labels that the sample of the training file lacks are left out.
  std::optional<double> rows_of_all;
  Table train;
  Table validation;            // no rows: there are folds
  Table test;                  // no rows: the job has none
  int folds = 0;               // that the rows of `train` are to be shared out to (data_folds.hpp)
  CsvEncoding encoding;        // of csv; else empty
  std::uint32_t checksum = 0;  // of the bytes of all files

  std::size_t rows() const { return train.rows() + validation.rows() + test.rows(); }
  std::array<Table*, 3> parts() { return {&train, &validation, &test}; }
  std::array<const Table*, 3> parts() const { return {&train, &validation, &test}; }
};

// The table that a row belongs to.
using RowTarget = std::function<Table&(const RowKey& row)>;

struct LoadOptions {
  // Of text, of all files together: of more, the first rows of each file are read alone. Files that may have less are read whole.
  std::uint64_t sample_bytes = kWholeFile;
  std::function<void(double)> on_progress;  // gets the share that is read, from 0 to 1; may be empty
};

// Of a sample that ends before the first row does, which says nothing about the data.
Error no_row_in_sample();

// The files that have rows of `spec`, in the order in which they are read.
std::vector<std::string> files_of(const DataSpec& spec);

// On disk.
std::uint64_t size_of_files(const DataSpec& spec);

// Of the files that `spec` names, as they are now: equal while none of them has changed.
std::string data_version(const DataSpec& spec);

// Reads what `spec` names. Errors: no_row_in_sample(), and invalid_argument with a path like "trainer.data.label" and the line
// and column in the message.
Result<LoadedTables> load_tables(const DataSpec& spec, const LoadOptions& options = {});

}  // namespace tuneband::workers

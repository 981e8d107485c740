#include "workers/data/csv_encoding.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "core/random.hpp"
#include "core/text.hpp"
#include "workers/data/csv_columns.hpp"
#include "workers/data/csv_reader.hpp"

namespace tuneband::workers {

namespace {

constexpr const char* kTrainField = "trainer.data.train";
constexpr const char* kOneColumn = "is the delimiter another? the file has one column";  // a hint
constexpr const char* kLabelField = "trainer.data.label";
constexpr const char* kNoNumberHint =
    "correct the cell, leave it empty if the value is missing, or name the column in trainer.data.categorical";
constexpr const char* kNoValueHint = "correct the cell, or leave it empty if the value is missing";
constexpr std::int64_t kOddShareOf = 100;  // fewer odd cells than one in so many are dirt, not categories
constexpr std::size_t kDoubtsMax = 8;      // more than anyone reads

bool same_in_any_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

// The words that are usual, or the user's own.
MissingCells missing_cells(const DataSpec& spec) {
  if (!spec.missing) return {{"", "?", "-", "na", "nan", "n/a", "#n/a", "null", "none"}, true};
  MissingCells own{{""}, false};
  own.texts.insert(own.texts.end(), spec.missing->begin(), spec.missing->end());
  return own;
}

Error fault(const std::string& field, std::string message, std::string hint = {}) {
  return {ErrorCode::invalid_argument, std::move(message), field, std::move(hint)};
}

// The parser knows no path into the job: adds it.
template <class Value>
Result<Value> at_field(Result<Value> read, const std::string& field) {
  if (read || !read.error().path.empty()) return read;
  Error error = read.error();
  error.path = field;
  return error;
}

// What a file's columns are, by its first row.
using HeaderReader = std::function<Result<ColumnMap>(const CsvRow&)>;

// Calls `on_row(row, number)` for the rows below the header, with their cells in the order of the training file's columns, after
// checking that they are as long as the first.
Result<TextRead> read_rows(const DataSpec& spec, const std::string& path, const HeaderReader& on_header,
                           const std::function<Result<void>(const CsvRow&, std::uint64_t)>& on_row, const ReadOptions& options) {
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
      return fault("",
                   "line " + std::to_string(row.line) + " has " + std::to_string(row.cells.size()) +
                       (row.cells.size() == 1 ? " cell" : " cells") + ", the first line has " + std::to_string(width),
                   "is the delimiter another, or a quote left open?");
    }
    return on_row(columns->in_order(row), number++);
  };
  return read_csv(path, spec.delimiter, take_row, options);
}

// Calls `on_header(row)` for the first row of each of the training files, and `on_row(row)` for those below.
Result<void> read_training_rows(const DataSpec& spec, const HeaderReader& on_header,
                                const std::function<Result<void>(const CsvRow&)>& on_row, const ReadOptions& options) {
  for (std::size_t i = 0; i < spec.train.size(); ++i) {
    const std::string field = spec.train.size() == 1 ? kTrainField : join_path(kTrainField, i);
    auto read = read_rows(
        spec, spec.train[i], on_header, [&](const CsvRow& row, std::uint64_t) { return on_row(row); }, options);
    if (auto done = at_field(std::move(read), field); !done) return done.error();
  }
  return {};
}

// By name, else by number from 0.
Result<std::size_t> find_column(const std::string& column, const std::vector<std::string>& names, const DataSpec& spec,
                                const std::string& field) {
  const auto found = std::find(names.begin(), names.end(), column);
  if (found != names.end() && spec.header) {
    if (std::find(found + 1, names.end(), column) != names.end()) {
      return fault(field, "the file has more than one column " + shown(column), "give the column's number, from 0");
    }
    return static_cast<std::size_t>(found - names.begin());
  }
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(column.data(), column.data() + column.size(), number);
  const bool is_number = error == std::errc{} && end == column.data() + column.size();
  if (is_number && number < names.size()) return number;
  if (is_number) {
    return fault(field, "the file has " + std::to_string(names.size()) + " columns, numbered from 0, and no column " + column);
  }
  std::string hint = did_you_mistype(column, names);
  if (hint.empty())
    hint = names.size() == 1 ? kOneColumn
                             : "the file has " + std::to_string(names.size()) + " columns; they go by number, too, from 0";
  return fault(field, "the file has no column " + shown(column), hint);
}

// Whether different numbers of a column become equal as 32-bit floats, which is what XGBoost has. Of those up to 2^24 no whole
// ones do, and what is lost of smaller fractions is noise.
class FloatCollisions {
 public:
  void add(double number) {
    const double size = std::abs(number);
    if (!(size > kExactMax && size <= std::numeric_limits<float>::max())) return;
    const auto rounded = static_cast<float>(number);
    const auto first = first_.find(rounded);
    if (first != first_.end()) {
      count_ += first->second == number ? 0 : 1;
    } else if (first_.size() < kFloatsKept) {
      first_.emplace(rounded, number);
    }
  }
  // Of so many numbers: enough to tell of.
  bool matter(std::int64_t numbers) const { return count_ > 0 && count_ * kShareOf >= numbers; }
  std::int64_t count() const { return count_; }

 private:
  static constexpr double kExactMax = 1 << 24;
  static constexpr std::size_t kFloatsKept = 4096;
  static constexpr std::int64_t kShareOf = 100;

  std::unordered_map<float, double> first_;  // of each float the first number that became it
  std::int64_t count_ = 0;
};

// What the training file has in one column.
struct ColumnProfile {
  bool dropped = false;
  bool forced = false;  // the user says categorical
  bool categorical = false;
  bool dubious = false;  // has a text that is not UTF-8
  std::int64_t numbers = 0;
  std::int64_t odd = 0;  // neither number nor missing
  std::int64_t first_odd_line = 0;
  std::string first_odd;
  FloatCollisions collisions;
  std::set<std::string, std::less<>> categories;  // first the odd ones, then all where categorical
};

class EncodingLearner {
 public:
  EncodingLearner(const DataSpec& spec, const ReadOptions& options)
      : spec_(spec), options_(options), missing_(missing_cells(spec)) {}

  Result<CsvEncoding> learn() {
    auto read = read_training_rows(
        spec_, [this](const CsvRow& row) { return take_header(row); }, [this](const CsvRow& row) { return take_row(row); },
        options_);
    if (!read) return read.error();
    if (rows_ == 0 && options_.bytes_max != kWholeFile) return no_row_in_sample();
    if (rows_ == 0)
      return fault(kTrainField, "the file " + spec_.train.front() + " has no rows" + (spec_.header ? " below its header" : ""));
    if (auto decided = decide(); !decided) return decided.error();
    doubt_large_numbers();
    doubt_nameless();
    if (auto collected = collect_number_like_categories(); !collected) return collected.error();
    return build();
  }

 private:
  // Of the first file, whose columns are those of all.
  Result<ColumnMap> take_header(const CsvRow& row) {
    if (!names_.empty()) return columns_of(row);
    names_ = column_names(row, spec_.header);
    profiles_.resize(names_.size());
    if (spec_.header) doubt_names(row);
    auto label = find_column(spec_.label, names_, spec_, kLabelField);
    if (!label) return label.error();
    label_ = *label;
    for (const auto& [column, found, field] :
         {std::tuple{&spec_.weight, &weight_, "trainer.data.weight"}, {&spec_.group, &group_, "trainer.data.group"}}) {
      if (column->empty()) continue;
      auto place = find_column(*column, names_, spec_, field);
      if (!place) return place.error();
      if (*place == label_ || *place == weight_)
        return fault(field, "names the column " + shown(*column) + ", which is " + role_of(*place));
      *found = *place;
      profiles_[*place].dropped = true;
    }
    for (const auto& [list, field] :
         {std::pair{&spec_.drop, "trainer.data.drop"}, std::pair{&spec_.categorical, "trainer.data.categorical"}}) {
      for (std::size_t i = 0; i < list->size(); ++i) {
        const std::string path = join_path(field, i);
        auto column = find_column((*list)[i], names_, spec_, path);
        if (!column) return column.error();
        if (const std::string role = role_of(*column); !role.empty())
          return fault(path, "names the column " + shown((*list)[i]) + ", which is " + role);
        (list == &spec_.drop ? profiles_[*column].dropped : profiles_[*column].forced) = true;
      }
    }
    return ColumnMap();
  }

  // Of another file, or of the first one again.
  Result<ColumnMap> columns_of(const CsvRow& first) const {
    std::vector<bool> needed;
    for (std::size_t i = 0; i < profiles_.size(); ++i) needed.push_back(!profiles_[i].dropped || i == weight_ || i == group_);
    return ColumnMap::create(first, spec_.header, names_, needed);
  }

  // "": a feature's, or none's.
  std::string role_of(std::size_t column) const {
    return column == label_ ? "the label" : column == weight_ ? "the weight" : column == group_ ? "the group" : "";
  }

  // All are numbers, and they do not count the columns.
  static bool look_like_values(const CsvRow& header) {
    std::vector<double> numbers;
    for (const std::string_view cell : header.cells) {
      const auto number = parse_number(trim(cell));
      if (!number) return false;
      numbers.push_back(*number);
    }
    return std::adjacent_find(numbers.begin(), numbers.end(), [](double a, double b) { return b != a + 1; }) != numbers.end();
  }

  void doubt_names(const CsvRow& header) {
    std::map<std::string_view, std::size_t> first;
    std::string doubled;
    std::size_t told = 0;
    for (std::size_t i = 0; i < header.cells.size(); ++i) {
      doubt_text(header, i, "the name");
      const std::string_view name = trim(header.cells[i]);
      if (name.empty()) nameless_.push_back(i);
      const auto [other, is_new] = first.emplace(name, i);
      if (is_new || name.empty() || told++ >= kDoubtsMax) continue;
      doubled += (doubled.empty() ? "columns " : ", columns ") + std::to_string(other->second) + " and " + std::to_string(i) +
                 " are both " + shown(name);
    }
    const std::string line = "line " + std::to_string(header.line) + ": ";
    if (look_like_values(header)) {
      doubts_.push_back(
          fault(kTrainField, line + "every column's name is a number", "if it is a row of data, set header to false"));
    }
    if (doubled.empty()) return;
    doubts_.push_back(
        fault(kTrainField, line + doubled, "give each its own name, or name them in the job by their numbers, from 0"));
  }

  // A text that is no UTF-8 is told once a column; its bytes are compared as they are.
  void doubt_text(const CsvRow& row, std::size_t column, const char* what) {
    const std::string_view cell = row.cells[column];
    if (profiles_[column].dubious || doubts_.size() >= kDoubtsMax || valid_utf8(cell) == cell) return;
    profiles_[column].dubious = true;
    doubts_.push_back(fault(kTrainField,
                            "line " + std::to_string(row.line) + ", column " + std::to_string(column) + ": " + what +
                                " is not UTF-8, " + shown(trim(cell)),
                            "if the file is Latin-1, iconv -f LATIN1 -t UTF-8 makes it UTF-8"));
  }

  Result<void> take_row(const CsvRow& row) {
    ++rows_;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      ColumnProfile& profile = profiles_[i];
      const std::string_view cell = trim(row.cells[i]);
      if (profile.dropped || missing_.has(cell)) continue;
      if (const auto number = parse_number(cell)) {
        ++profile.numbers;
        profile.collisions.add(*number);
        continue;
      }
      if (profile.odd++ == 0) {
        profile.first_odd_line = row.line;
        profile.first_odd = cell;
      }
      doubt_text(row, i, "the text");
      if (auto added = add_category(i, cell); !added) return added;
    }
    return {};
  }

  Result<void> add_category(std::size_t column, std::string_view cell) {
    auto& categories = profiles_[column].categories;
    if (categories.find(cell) != categories.end()) return {};
    const std::size_t limit = column == label_ ? kLabelClassesMax : kColumnCategoriesMax;
    if (categories.size() >= limit) {
      return fault(kTrainField,
                   "column " + shown(names_[column]) + " has more than " + std::to_string(limit) + " different texts",
                   column == label_ ? "is it the label?" : "name it in trainer.data.drop");
    }
    categories.emplace(cell);
    return {};
  }

  // Which columns are categorical, once all cells were seen.
  Result<void> decide() {
    for (std::size_t i = 0; i < profiles_.size(); ++i) {
      ColumnProfile& profile = profiles_[i];
      profile.categorical = profile.forced || profile.odd > 0;
      if (profile.forced || profile.odd == 0 || profile.numbers == 0) continue;
      const bool few = profile.odd * kOddShareOf < profile.numbers + profile.odd;
      const bool mostly_numbers =
          profile.numbers > profile.odd && profile.numbers > static_cast<std::int64_t>(kOneHotCategoriesMax);
      if (!few && !mostly_numbers) continue;
      const bool first_line = profile.first_odd_line == 1 && profile.odd == 1;
      return fault(kTrainField,
                   "line " + std::to_string(profile.first_odd_line) + ", column " + shown(names_[i]) +
                       ": expected a number, got " + size_of_text(profile.first_odd) + "; " + std::to_string(profile.numbers) +
                       " other cells of the column are numbers",
                   first_line    ? "is line 1 a header? then set trainer.data.header to true"
                   : i == label_ ? "correct the label, or remove the row"
                                 : kNoNumberHint);
    }
    return {};
  }

  void doubt_large_numbers() {
    std::size_t told = 0;
    for (std::size_t i = 0; i < profiles_.size(); ++i) {
      const ColumnProfile& profile = profiles_[i];
      if (profile.categorical || !profile.collisions.matter(profile.numbers) || told++ >= kDoubtsMax) continue;
      doubts_.push_back(fault(i == label_ ? kLabelField : kTrainField,
                              "column " + shown(names_[i]) + ": " + std::to_string(profile.collisions.count()) + " of " +
                                  std::to_string(profile.numbers) +
                                  " numbers become equal to others as 32-bit floats, which is what XGBoost has",
                              i == label_ ? "subtract an offset, or divide" : "subtract an offset, or drop it if it is an id"));
    }
  }

  // A data frame's index that was written with its columns.
  void doubt_nameless() {
    for (const std::size_t i : nameless_) {
      if (profiles_[i].dropped || i == label_) continue;
      doubts_.push_back(fault(
          kTrainField, "column " + std::to_string(i) + " has no name, and is learnt from as " + shown(names_[i]),
          "if it is a data frame's index, which says nothing of new rows, name " + std::to_string(i) + " in trainer.data.drop"));
      return;
    }
  }

  // A second reading, for categorical columns that have numbers among their cells.
  Result<void> collect_number_like_categories() {
    std::vector<std::size_t> mixed;
    for (std::size_t i = 0; i < profiles_.size(); ++i) {
      if (profiles_[i].categorical && profiles_[i].numbers > 0 && !profiles_[i].dropped) mixed.push_back(i);
    }
    if (mixed.empty()) return {};
    return read_training_rows(
        spec_, [this](const CsvRow& first) { return columns_of(first); },
        [&](const CsvRow& row) -> Result<void> {
          for (const std::size_t i : mixed) {
            const std::string_view cell = trim(row.cells[i]);
            if (missing_.has(cell)) continue;
            if (auto added = add_category(i, cell); !added) return added;
          }
          return {};
        },
        options_);
  }

  Result<CsvEncoding> build() {
    CsvEncoding encoding;
    encoding.delimiter = spec_.delimiter;
    encoding.header = spec_.header;
    encoding.columns = names_;
    encoding.doubts = std::move(doubts_);
    encoding.missing = missing_;
    encoding.weight = weight_;
    encoding.group = group_;
    for (std::size_t i = 0; i < profiles_.size(); ++i) {
      ColumnProfile& profile = profiles_[i];
      if (i == label_ || profile.dropped) continue;
      FeatureColumn feature{i, names_[i], ColumnKind::numeric, {}};
      if (profile.categorical) {
        feature.kind = kind_of(profile.categories.size());
        feature.categories.assign(profile.categories.begin(), profile.categories.end());
      }
      encoding.features.push_back(std::move(feature));
    }
    if (encoding.features.empty()) return fault(kTrainField, "no column is left to learn from besides the label");
    if (auto label = build_label(encoding.label); !label) return label.error();
    return encoding;
  }

  ColumnKind kind_of(std::size_t categories) const {
    if (spec_.categorical_encoding == CategoricalEncoding::native) return ColumnKind::native;
    return categories <= kOneHotCategoriesMax ? ColumnKind::one_hot : ColumnKind::ordinal;
  }

  Result<void> build_label(LabelColumn& label) {
    const ColumnProfile& profile = profiles_[label_];
    label = {label_, names_[label_], {}, spec_.positive};
    if (profile.odd > 0) label.classes.assign(profile.categories.begin(), profile.categories.end());
    if (label.positive.empty() || label.classes.empty()) return {};
    if (std::binary_search(label.classes.begin(), label.classes.end(), label.positive)) return {};
    if (options_.bytes_max != kWholeFile) return {};  // it may be among the rows that were not read
    return fault("trainer.data.positive", "the label's column has no " + shown(label.positive),
                 "the column has " + std::to_string(label.classes.size()) + " different texts");
  }

  const DataSpec& spec_;
  const ReadOptions& options_;
  MissingCells missing_;
  std::vector<std::string> names_;
  std::vector<ColumnProfile> profiles_;
  std::vector<Error> doubts_;
  std::vector<std::size_t> nameless_;
  std::size_t label_ = 0;
  std::optional<std::size_t> weight_;
  std::optional<std::size_t> group_;
  std::uint64_t rows_ = 0;
};

std::optional<std::size_t> place_of(const std::vector<std::string>& sorted, std::string_view text) {
  const auto found =
      std::lower_bound(sorted.begin(), sorted.end(), text, [](const std::string& a, std::string_view b) { return a < b; });
  if (found == sorted.end() || *found != text) return std::nullopt;
  return static_cast<std::size_t>(found - sorted.begin());
}

class RowEncoder {
 public:
  RowEncoder(const CsvEncoding& encoding, const std::string& field, bool sampled)
      : encoding_(encoding), field_(field), sampled_(sampled) {
    if (const auto number = parse_number(encoding.label.positive)) positive_number_ = *number;
  }

  // Of a file that is not trained on groups are needed for rankings alone, which are checked when all is read.
  void has_groups(bool there) { has_groups_ = there; }

  Result<void> encode_features(const CsvRow& row, Table& table) const {
    table.labels.push_back(0);
    return append_features(row, table, kNoValueHint);
  }

  // Appends the row to the table that `target` names.
  Result<void> encode(const CsvRow& row, std::uint64_t number, const RowTarget& target) {
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

 private:
  static constexpr float kMissingValue = std::numeric_limits<float>::quiet_NaN();

  // `hint`: of a cell that is no number.
  Result<void> append_features(const CsvRow& row, Table& table, const char* hint) const {
    table.unknown_texts.resize(encoding_.features.size());
    for (std::size_t i = 0; i < encoding_.features.size(); ++i) {
      const FeatureColumn& feature = encoding_.features[i];
      const std::string_view cell = trim(row.cells[feature.source]);
      if (feature.kind == ColumnKind::numeric) {
        auto value = encoding_.missing.has(cell) ? Result<float>(kMissingValue) : number_of(cell, row, feature.name, hint);
        if (!value) return value.error();
        table.values.push_back(*value);
      } else {
        const bool missing = encoding_.missing.has(cell);
        const auto place = missing ? std::nullopt : place_of(feature.categories, cell);
        if (!missing && !place) ++table.unknown_texts[i];
        append_category(feature, place, table.values);
      }
    }
    return {};
  }

  // Nothing: rows have none.
  Result<std::optional<std::uint64_t>> group_of(const CsvRow& row) const {
    if (!encoding_.group || !has_groups_) return std::optional<std::uint64_t>();
    const std::string_view cell = trim(row.cells[*encoding_.group]);
    if (encoding_.missing.has(cell)) return cell_fault(row, encoding_.columns[*encoding_.group], "a group", cell);
    return std::optional(stable_hash(cell));
  }

  // Nothing: all rows count alike.
  Result<std::optional<float>> weight_of(const CsvRow& row) const {
    if (!encoding_.weight) return std::optional<float>();
    const std::string_view cell = trim(row.cells[*encoding_.weight]);
    const std::string& column = encoding_.columns[*encoding_.weight];
    const auto weight = number_of(cell, row, column);
    if (!weight) return weight.error();
    if (*weight < 0) return cell_fault(row, column, "a weight of at least 0", cell);
    return std::optional(*weight);
  }

  static void append_category(const FeatureColumn& feature, std::optional<std::size_t> place, std::vector<float>& values) {
    if (feature.kind != ColumnKind::one_hot) {
      values.push_back(place ? static_cast<float>(*place) : kMissingValue);
      return;
    }
    values.insert(values.end(), feature.categories.size(), place ? 0.0F : kMissingValue);
    if (place) values[values.size() - feature.categories.size() + *place] = 1.0F;
  }

  bool has_unknown_class(const CsvRow& row) const {
    const LabelColumn& label = encoding_.label;
    const std::string_view cell = trim(row.cells[label.source]);
    return label.positive.empty() && !label.classes.empty() && !encoding_.missing.has(cell) && !place_of(label.classes, cell);
  }

  Error cell_fault(const CsvRow& row, const std::string& column, const std::string& expected, std::string_view cell,
                   std::string hint = {}) const {
    return fault(field_,
                 "line " + std::to_string(row.line) + ", column " + shown(column) + ": expected " + expected + ", got " +
                     size_of_text(cell),
                 std::move(hint));
  }

  Result<float> number_of(std::string_view cell, const CsvRow& row, const std::string& column, const char* hint = "") const {
    const auto value = parse_number(cell);
    if (!value) return cell_fault(row, column, "a number", cell, hint);
    if (!(std::abs(*value) <= std::numeric_limits<float>::max()))
      return cell_fault(row, column, "a number that fits 32-bit floats", cell);
    return static_cast<float>(*value);
  }

  Result<float> label_of(const CsvRow& row) const {
    const LabelColumn& label = encoding_.label;
    const std::string_view cell = trim(row.cells[label.source]);
    if (encoding_.missing.has(cell)) return cell_fault(row, label.name, "a label", cell, hint_of_missing_label(cell));
    if (!label.positive.empty()) return is_positive(cell) ? 1.0F : 0.0F;
    if (label.classes.empty()) return number_of(cell, row, label.name);
    const auto place = place_of(label.classes, cell);
    if (place) return static_cast<float>(*place);
    return cell_fault(row, label.name, "one of the " + std::to_string(label.classes.size()) + " labels of the training file",
                      cell, "name the one that counts as 1 in trainer.data.positive, and all others are 0");
  }

  std::string hint_of_missing_label(std::string_view cell) const {
    if (cell.empty()) return "remove the row";
    return "the text counts as missing: remove the row, or where it is a class " +
           std::string(encoding_.missing.any_case ? "set trainer.data.missing to []" : "take it out of trainer.data.missing");
  }

  // Numbers are compared as such: 2.0 is 2.
  bool is_positive(std::string_view cell) const {
    if (cell == encoding_.label.positive) return true;
    return encoding_.label.classes.empty() && positive_number_ && parse_number(cell) == positive_number_;
  }

  const CsvEncoding& encoding_;
  const std::string& field_;
  bool sampled_;
  bool has_groups_ = true;
  std::optional<double> positive_number_;
};

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
  if (columns) return columns;
  if (first.cells.size() == 1 && features.size() > 1) return fault(field, columns.error().message, kOneColumn);
  if (std::set<std::string>(features.begin(), features.end()).size() < features.size())
    return fault(field, "the model has features of the same name, and the columns do not stand as in the training file");
  return fault(field, columns.error().message);
}

void doubt_additional(const ColumnMap& columns, const std::string& field, std::vector<Error>& doubts) {
  const std::vector<std::string>& names = columns.additional();
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), kDoubtsMax); ++i) list += (i > 0 ? ", " : "") + shown(names[i]);
  if (names.size() > kDoubtsMax) list += ", ...";
  if (!list.empty()) doubts.push_back(fault(field, "columns that the training file lacks are left out: " + list));
}

}  // namespace

bool MissingCells::has(std::string_view cell) const {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return any_case ? same_in_any_case(cell, text) : cell == text; });
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
    if (feature.kind != ColumnKind::one_hot) names.push_back(feature.name);
    if (feature.kind != ColumnKind::one_hot) continue;
    for (const std::string& category : feature.categories) names.push_back(feature.name + "=" + valid_utf8(category));
  }
  return names;
}

Result<CsvEncoding> learn_csv_encoding(const DataSpec& spec, const ReadOptions& options) {
  return EncodingLearner(spec, options).learn();
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
  return at_field(read_rows(
                      spec, path, on_header,
                      [&](const CsvRow& row, std::uint64_t number) { return encoder.encode(row, number, target); }, options),
                  field);
}

Result<TextRead> encode_features(const DataSpec& spec, const CsvEncoding& encoding, const std::string& path, Table& table) {
  constexpr const char* kField = "data";
  CsvEncoding here = encoding;
  table.columns = here.width();
  table.feature_types = here.feature_types();
  const auto on_header = [&](const CsvRow& first) -> Result<ColumnMap> {
    if (spec.header && !stand_as_trained(first, here)) {
      for (std::size_t i = 0; i < here.features.size(); ++i) here.features[i].source = i;
      return columns_of_features(first, here.columns, kField);
    }
    for (const FeatureColumn& feature : here.features) {
      if (feature.source >= first.cells.size()) {
        return fault(kField,
                     "the file has " + std::to_string(first.cells.size()) + " columns, and the model needs one numbered " +
                         std::to_string(feature.source) + ", from 0, as in the training file",
                     first.cells.size() == 1 ? kOneColumn : "");
      }
    }
    return ColumnMap();
  };
  const std::string field = kField;
  const RowEncoder encoder(here, field, false);
  return at_field(read_rows(
                      spec, path, on_header,
                      [&](const CsvRow& row, std::uint64_t) { return encoder.encode_features(row, table); }, ReadOptions()),
                  field);
}

}  // namespace tuneband::workers

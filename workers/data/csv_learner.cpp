// What a job's CSV training files teach: which columns are features, and how their cells become numbers.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "workers/data/column_profile.hpp"
#include "workers/data/csv_doubts.hpp"
#include "workers/data/csv_encoding.hpp"
#include "workers/data/csv_files.hpp"
#include "workers/data/csv_roles.hpp"

namespace tuneband::workers {

namespace {

constexpr const char* kNoNumberLabelHint =
    "correct the label, remove the row, or where the labels are classes name the column in trainer.data.categorical";
constexpr std::int64_t kOddShareOf = 100;  // fewer odd cells than one in so many are dirt, not categories

// The words that are usual, or the user's own.
MissingCells missing_cells(const DataSpec& spec) {
  if (!spec.missing) return {{"", "?", "-", "na", "nan", "n/a", "#n/a", "null", "none"}, true};
  MissingCells own{{""}, false, spec.missing->numbers};
  own.texts.insert(own.texts.end(), spec.missing->texts.begin(), spec.missing->texts.end());
  return own;
}

class EncodingLearner {
 public:
  EncodingLearner(const DataSpec& spec, const ReadOptions& options)
      : spec_(spec), options_(options), missing_(missing_cells(spec)), positive_number_(parse_number(spec.positive)) {}

  // Once.
  Result<CsvEncoding> learn() {
    auto read = read_training_rows(
        spec_, [this](const CsvRow& row) { return take_header(row); },
        [this](const CsvRow& row, std::uint64_t) { return take_row(row); }, options_);
    if (!read) return read.error();
    if (rows_ == 0 && options_.bytes_max != kWholeFile) return no_row_in_sample();
    if (rows_ == 0)
      return csv_fault(kTrainField, "the file " + spec_.train.front() + " " + without_rows(spec_.train.front(), spec_.header));
    if (auto decided = decide(); !decided) return decided.error();
    tell_of_equal_floats();
    doubts_.tell_of_nameless(roles_);
    if (auto collected = collect_number_like_categories(); !collected) return collected.error();
    return build();
  }

 private:
  // Of the first file, whose columns are those of all.
  Result<ColumnMap> take_header(const CsvRow& row) {
    field_ = train_field(spec_, files_++);
    doubts_.begin_file(field_);
    if (!profiles_.empty()) return columns_of(row);
    if (spec_.header) doubts_.look_at_names(row);
    auto roles = column_roles(row, spec_);
    if (!roles) return roles.error();
    roles_ = std::move(*roles);
    profiles_.resize(roles_.names.size());
    return ColumnMap();
  }

  // Of another file, or of the first one again.
  Result<ColumnMap> columns_of(const CsvRow& first) const {
    return ColumnMap::create(first, spec_.header, roles_.names, roles_.needed());
  }

  Result<void> take_row(const CsvRow& row) {
    ++rows_;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      ColumnProfile& profile = profiles_[i];
      const std::string_view cell = trim(row.cells[i]);
      if (roles_.dropped[i] || missing_.has(cell)) continue;
      if (const auto number = parse_number(cell)) {
        ++(std::isfinite(*number) ? profile.numbers : profile.infinite);
        profile.collisions.add(*number);
        if (i == roles_.label) note_label(*number, cell);
        continue;
      }
      if (profile.odd++ == 0) {
        profile.first_odd_field = field_;
        profile.first_odd_line = row.line;
        profile.first_odd = cell;
      }
      doubts_.look_at_text(row, i, "the text");
      if (auto added = add_category(i, cell); !added) return added;
    }
    return {};
  }

  // A label that is a number: how the positive one is written, and of the others the first two, which tell whether there is one
  // alone.
  void note_label(double number, std::string_view cell) {
    if (spec_.positive.empty()) return;
    if (number == positive_number_) {
      if (!positive_text_) positive_text_ = cell;
    } else if (other_labels_.size() < 2) {
      other_labels_.try_emplace(number, cell);
    }
  }

  Result<void> add_category(std::size_t column, std::string_view cell) {
    auto& categories = profiles_[column].categories;
    if (categories.find(cell) != categories.end()) return {};
    const std::size_t limit = column == roles_.label ? kLabelClassesMax : kColumnCategoriesMax;
    if (categories.size() >= limit) {
      return csv_fault(kTrainField,
                       "column " + shown(roles_.names[column]) + " has more than " + std::to_string(limit) + " different texts",
                       column == roles_.label ? "is it the label?" : "name it in trainer.data.drop");
    }
    categories.emplace(cell);
    return {};
  }

  // Which columns are categorical, once all cells were seen.
  Result<void> decide() {
    for (std::size_t i = 0; i < profiles_.size(); ++i) {
      ColumnProfile& profile = profiles_[i];
      profile.categorical = roles_.categorical[i] || profile.odd > 0;
      if (roles_.categorical[i] || profile.odd == 0 || profile.numbers == 0) continue;
      const bool few = profile.odd * kOddShareOf < profile.numbers + profile.odd;
      const bool mostly_numbers =
          profile.numbers > profile.odd && profile.numbers > static_cast<std::int64_t>(kOneHotCategoriesMax);
      if (!few && !mostly_numbers) continue;
      const bool first_line = profile.first_odd_line == 1 && profile.odd == 1;
      return csv_fault(profile.first_odd_field,
                       "line " + std::to_string(profile.first_odd_line) + ", column " + shown(roles_.names[i]) +
                           ": expected a number, got " + size_of_text(profile.first_odd) + "; " +
                           std::to_string(profile.numbers) + " other cells of the column are numbers",
                       first_line          ? "is line 1 a header? then set trainer.data.header to true"
                       : i == roles_.label ? kNoNumberLabelHint
                                           : kNoNumberHint);
    }
    return {};
  }

  void tell_of_equal_floats() {
    for (std::size_t i = 0; i < profiles_.size(); ++i) {
      const ColumnProfile& profile = profiles_[i];
      const bool told = !profile.categorical && profile.collisions.matter(profile.numbers);
      if (told) doubts_.tell_of_equal_floats(roles_, i, profile.collisions.count(), profile.numbers);
    }
  }

  // A second reading, for categorical columns that have numbers among their cells.
  Result<void> collect_number_like_categories() {
    std::vector<std::size_t> mixed;
    for (std::size_t i = 0; i < profiles_.size(); ++i) {
      const bool has_numbers = profiles_[i].numbers > 0 || profiles_[i].infinite > 0;
      if (profiles_[i].categorical && has_numbers && !roles_.dropped[i]) mixed.push_back(i);
    }
    if (mixed.empty()) return {};
    return read_training_rows(
        spec_, [this](const CsvRow& first) { return columns_of(first); },
        [&](const CsvRow& row, std::uint64_t) -> Result<void> {
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
    encoding.columns = roles_.names;
    encoding.doubts = doubts_.take();
    encoding.missing = missing_;
    encoding.weight = roles_.weight;
    encoding.group = roles_.group;
    for (std::size_t i = 0; i < profiles_.size(); ++i) {
      ColumnProfile& profile = profiles_[i];
      if (!roles_.is_feature(i)) continue;
      FeatureColumn feature{i, roles_.names[i], ColumnKind::numeric, {}};
      if (profile.categorical) {
        feature.kind = kind_of(profile.categories.size());
        feature.categories.assign(profile.categories.begin(), profile.categories.end());
      }
      encoding.features.push_back(std::move(feature));
    }
    if (encoding.width() == 0) return csv_fault(kTrainField, "no column is left to learn from besides the label");
    if (auto label = build_label(encoding.label); !label) return label.error();
    return encoding;
  }

  ColumnKind kind_of(std::size_t categories) const {
    if (spec_.categorical_encoding == CategoricalEncoding::native) return ColumnKind::native;
    return categories <= kOneHotCategoriesMax ? ColumnKind::one_hot : ColumnKind::ordinal;
  }

  Result<void> build_label(LabelColumn& label) {
    const ColumnProfile& profile = profiles_[roles_.label];
    label = {roles_.label, roles_.names[roles_.label], {}, spec_.positive, {}};
    if (profile.categorical) {
      label.classes.assign(profile.categories.begin(), profile.categories.end());
    } else {
      if (positive_text_) label.positive = *positive_text_;
      if (other_labels_.size() == 1) label.other = other_labels_.begin()->second;
    }
    const bool is_there = profile.categorical ? std::binary_search(label.classes.begin(), label.classes.end(), label.positive)
                                              : positive_text_.has_value();
    if (label.positive.empty() || is_there) return {};
    if (options_.bytes_max != kWholeFile) return {};  // it may be among the rows that were not read
    return csv_fault("trainer.data.positive", "the label's column has no `" + label.positive + "`", labels_there_are(label));
  }

  // Numbers, and of texts one that is nearly the wanted one: a file that is no table has other things in it.
  std::string labels_there_are(const LabelColumn& label) const {
    if (label.classes.empty()) {
      std::vector<std::string> numbers;
      for (const auto& [number, text] : other_labels_) numbers.push_back(text);
      if (numbers.empty()) return "";
      return "the column has " + join_and(numbers) + (numbers.size() > 1 ? ", or more numbers" : " alone");
    }
    std::vector<std::string> plain = label.classes;
    std::erase_if(plain, [](const std::string& name) { return !shown(name).starts_with('`'); });
    const std::string meant = did_you_mistype(label.positive, plain);
    return (meant.empty() ? "" : meant + " ") + "the column has " + std::to_string(label.classes.size()) + " different texts";
  }

  const DataSpec& spec_;
  const ReadOptions& options_;
  const MissingCells missing_;
  const std::optional<double> positive_number_;
  std::size_t files_ = 0;  // begun
  std::string field_;      // of the file that is read
  ColumnRoles roles_;
  std::vector<ColumnProfile> profiles_;         // by column; empty before the first row
  std::optional<std::string> positive_text_;    // of a label that is a number: its first text
  std::map<double, std::string> other_labels_;  // with `positive`: other numbers, and the first text of each; at most two
  CsvDoubts doubts_;
  std::uint64_t rows_ = 0;
};

}  // namespace

Result<CsvEncoding> learn_csv_encoding(const DataSpec& spec, const ReadOptions& options) {
  return EncodingLearner(spec, options).learn();
}

}  // namespace tuneband::workers

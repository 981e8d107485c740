#include "workers/data/csv_doubts.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "core/text.hpp"
#include "workers/data/csv_files.hpp"

namespace tuneband::workers {

namespace {

constexpr std::size_t kDoubtsMax = 8;  // more than anyone reads

// All are numbers, and they do not count the columns.
bool are_all_numbers(const CsvRow& header) {
  std::vector<double> numbers;
  for (const std::string_view cell : header.cells) {
    const auto number = parse_number(trim(cell));
    if (!number) return false;
    numbers.push_back(*number);
  }
  return std::adjacent_find(numbers.begin(), numbers.end(), [](double a, double b) { return b != a + 1; }) != numbers.end();
}

// The first column whose name is a number as values are and names hardly: with a fraction, or that of another column. A data
// frame writes a name that came before as "3.1", which is none.
std::optional<std::size_t> column_named_as_a_value(const CsvRow& header) {
  std::set<std::string_view> before;
  for (std::size_t i = 0; i < header.cells.size(); ++i) {
    const std::string_view name = trim(header.cells[i]);
    if (!parse_number(name)) continue;
    const std::size_t point = name.find('.');
    const bool fraction = point != std::string_view::npos && !before.contains(name.substr(0, point));
    if (fraction || !before.insert(name).second) return i;
  }
  return std::nullopt;
}

// "columns 1 and 3 are both `age`"; "": none are.
std::string doubled_names(const CsvRow& header) {
  std::map<std::string_view, std::size_t> first;
  std::string doubled;
  std::size_t told = 0;
  for (std::size_t i = 0; i < header.cells.size(); ++i) {
    const std::string_view name = trim(header.cells[i]);
    const auto [other, is_new] = first.emplace(name, i);
    if (is_new || name.empty() || told++ >= kDoubtsMax) continue;
    doubled += (doubled.empty() ? "columns " : ", columns ") + std::to_string(other->second) + " and " + std::to_string(i) +
               " are both " + shown(name);
  }
  return doubled;
}

}  // namespace

void CsvDoubts::look_at_names(const CsvRow& header) {
  for (std::size_t i = 0; i < header.cells.size(); ++i) {
    look_at_text(header, i, "the name");
    if (trim(header.cells[i]).empty()) nameless_.push_back(i);
  }
  const std::string line = "line " + std::to_string(header.line) + ": ";
  const std::string if_values = "if it is a row of data, set header to false";
  if (are_all_numbers(header)) {
    doubts_.push_back(csv_fault(field_, line + "every column's name is a number", if_values));
  } else if (const auto column = column_named_as_a_value(header)) {
    const std::string number = std::to_string(*column);
    doubts_.push_back(csv_fault(field_, line + "the name of column " + number + " is a number as values are", if_values));
    return;  // that two are the same follows
  }
  const std::string doubled = doubled_names(header);
  if (doubled.empty()) return;
  doubts_.push_back(
      csv_fault(field_, line + doubled, "give each its own name, or name them in the job by their numbers, from 0"));
}

void CsvDoubts::look_at_text(const CsvRow& row, std::size_t column, const char* what) {
  const std::string_view cell = row.cells[column];
  if (not_utf8_.size() <= column) not_utf8_.resize(row.cells.size());
  if (not_utf8_[column] || doubts_.size() >= kDoubtsMax || valid_utf8(cell) == cell) return;
  not_utf8_[column] = true;
  doubts_.push_back(csv_fault(field_,
                              "line " + std::to_string(row.line) + ", column " + std::to_string(column) + ": " + what +
                                  " is not UTF-8, " + shown(trim(cell)),
                              "if the file is Latin-1, iconv -f LATIN1 -t UTF-8 makes it UTF-8"));
}

void CsvDoubts::tell_of_equal_floats(const ColumnRoles& roles, std::size_t column, std::int64_t equal, std::int64_t numbers) {
  if (equal_floats_told_++ >= kDoubtsMax) return;
  const bool label = column == roles.label;
  doubts_.push_back(csv_fault(label ? kLabelField : kTrainField,
                              "column " + shown(roles.names[column]) + ": " + std::to_string(equal) + " of " +
                                  std::to_string(numbers) +
                                  " numbers become equal to others as 32-bit floats, which is what XGBoost has",
                              label ? "subtract an offset, or divide" : "subtract an offset, or drop it if it is an id"));
}

void CsvDoubts::tell_of_nameless(const ColumnRoles& roles) {
  const auto found =
      std::find_if(nameless_.begin(), nameless_.end(), [&](std::size_t column) { return roles.is_feature(column); });
  if (found == nameless_.end()) return;
  const std::string number = std::to_string(*found);
  doubts_.push_back(
      csv_fault(kTrainField, "column " + number + " has no name, and is learnt from as " + shown(roles.names[*found]),
                "if it is a data frame's index, which says nothing of new rows, name " + number + " in trainer.data.drop"));
}

void doubt_additional(const ColumnMap& columns, const std::string& field, std::vector<Error>& doubts) {
  const std::vector<std::string>& names = columns.additional();
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), kDoubtsMax); ++i) list += (i > 0 ? ", " : "") + shown(names[i]);
  if (names.size() > kDoubtsMax) list += ", ...";
  if (!list.empty()) doubts.push_back(csv_fault(field, "columns that the training file lacks are left out: " + list));
}

}  // namespace tuneband::workers

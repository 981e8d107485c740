#include "workers/data/csv_columns.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "core/text.hpp"

namespace tuneband::workers {

namespace {

constexpr std::size_t kNameShownMax = 60;  // bytes
constexpr char kUsualDelimiters[] = {',', ';', '\t', '|'};

std::string in_words(char delimiter) { return delimiter == '\t' ? "a tab" : std::string("`") + delimiter + "`"; }

Error column_fault(std::string message, std::string hint = {}) {
  return {ErrorCode::invalid_argument, std::move(message), "", std::move(hint)};
}

// The first place where columns differ that go by their order.
Error order_fault(const std::vector<std::string>& names, const std::vector<std::string>& expected, bool header) {
  const std::string counts =
      "the file has " + std::to_string(names.size()) + " columns, and the training file has " + std::to_string(expected.size());
  if (!header) return column_fault(counts);
  const auto [ours, theirs] = std::mismatch(names.begin(), names.end(), expected.begin(), expected.end());
  constexpr const char* kHint = "columns share a name: so all files need the same columns in the same order";
  if (theirs == expected.end()) return column_fault(counts + ", without " + shown(*ours), kHint);
  if (ours == names.end()) return column_fault(counts + ", with " + shown(*theirs), kHint);
  return column_fault("column " + std::to_string(ours - names.begin()) + " is " + shown(*ours) +
                          ", and in the training file it is " + shown(*theirs),
                      kHint);
}

}  // namespace

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string size_of_text(std::string_view text) { return "a text of length " + std::to_string(text.size()); }

std::string shown(std::string_view name) {
  const auto plain = [](char c) {
    const bool letter =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80;
    return letter || std::string_view(" _-.,()[]<>%#&+").find(c) != std::string_view::npos;
  };
  if (name.size() > kNameShownMax || !std::all_of(name.begin(), name.end(), plain)) return "(" + size_of_text(name) + ")";
  return "`" + valid_utf8(name) + "`";
}

std::string one_column_hint(std::string_view first_line) {
  std::string delimiter = "another";
  std::ptrdiff_t most = 0;
  for (const char likely : kUsualDelimiters) {
    const auto count = std::ranges::count(first_line, likely);
    if (count <= most) continue;
    most = count;
    delimiter = in_words(likely);
  }
  return "is the delimiter " + delimiter + "? the file has one column";
}

std::string other_delimiter_hint(const std::vector<std::string>& names, std::string_view column) {
  for (const char likely : kUsualDelimiters) {
    for (const std::string& name : names) {
      const auto parts = split(name, likely);
      const auto is_it = [column](std::string_view part) { return trim(part) == column; };
      if (parts.size() > 1 && std::any_of(parts.begin(), parts.end(), is_it))
        return "is the delimiter " + in_words(likely) + "? with that the first line has such a column";
    }
  }
  return "";
}

std::vector<std::string> column_names(const CsvRow& first, bool header) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < first.cells.size(); ++i) {
    const std::string name = header ? valid_utf8(trim(first.cells[i])) : "";
    names.push_back(name.empty() ? "column" + std::to_string(i) : name);
  }
  return names;
}

Result<ColumnMap> ColumnMap::create(const CsvRow& first, bool header, const std::vector<std::string>& expected,
                                    const std::vector<bool>& needed) {
  ColumnMap map;
  const std::vector<std::string> names = column_names(first, header);
  if (names == expected) return map;
  const std::unordered_set<std::string_view> known(expected.begin(), expected.end());
  std::unordered_map<std::string_view, std::size_t> place;
  bool doubled = known.size() < expected.size();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_new = place.emplace(names[i], i).second;
    if (!known.contains(names[i])) map.additional_.push_back(names[i]);
    doubled = doubled || (!is_new && known.contains(names[i]));
  }
  if (doubled || !header) return order_fault(names, expected, header);
  map.sources_.emplace();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto found = place.find(expected[i]);
    if (found == place.end() && needed[i])
      return column_fault("the file has no column " + shown(expected[i]) + ", which the training file has",
                          "a feature that is not needed can be named in trainer.data.drop");
    map.sources_->push_back(found == place.end() ? kAbsent : found->second);
  }
  return map;
}

const CsvRow& ColumnMap::in_order(const CsvRow& row) {
  if (!sources_) return row;
  ordered_.line = row.line;
  ordered_.cells.clear();
  for (const std::size_t source : *sources_) ordered_.cells.push_back(source == kAbsent ? std::string_view() : row.cells[source]);
  return ordered_;
}

bool ColumnMap::has(std::size_t column) const { return !sources_ || (*sources_)[column] != kAbsent; }

}  // namespace tuneband::workers

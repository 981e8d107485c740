#include "analytics/columns.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "core/time.hpp"

namespace tuneband {

namespace {

constexpr std::size_t kDrawnCharsMax = 24;  // sign, digits, point, exponent

}  // namespace

void Column::add_time(const std::optional<Timestamp>& time, Timestamp origin) {
  if (!time) return add_null();
  json_.value(seconds_of(*time - origin));
}

void Column::add_drawn(double value, int digits) {
  if (!std::isfinite(value)) return add(value);
  std::array<char, kDrawnCharsMax> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, digits).ptr;
  json_.raw(std::string_view(text.data(), static_cast<std::size_t>(end - text.data())));
}

void Column::write_cells(JsonWriter& out) {
  json_.end_array();
  out.raw(text_);
}

void Columns::write(JsonWriter& out) {
  for (Column& column : columns_) column.write(out);
}

int Words::index_of(std::string_view word) {
  if (word.empty()) return -1;
  const auto found = indices_.find(word);
  if (found != indices_.end()) return found->second;
  const int index = static_cast<int>(words_.size());
  words_.emplace_back(word);
  indices_.emplace(word, index);
  return index;
}

void Words::write(JsonWriter& out) const {
  out.begin_array();
  for (const std::string& word : words_) out.value(word);
  out.end_array();
}

}  // namespace tuneband

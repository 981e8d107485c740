#include "workers/data/id_columns.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace tuneband::workers {

namespace {

constexpr std::size_t kRowsMin = 100;
constexpr double kNumbersPerRowMax = 1.1;  // of a column that counts

bool is_lower(char letter) { return letter >= 'a' && letter <= 'z'; }

// "id" in any case, as a word of its own at the end: after what is no letter, or with a capital after a lower letter.
bool is_named_as_id(std::string_view name) {
  if (name.size() < 2) return false;
  const char i = name[name.size() - 2];
  const char d = name.back();
  if ((i != 'i' && i != 'I') || (d != 'd' && d != 'D')) return false;
  if (name.size() == 2) return true;
  const char before = name[name.size() - 3];
  const bool letter = is_lower(before) || (before >= 'A' && before <= 'Z');
  return !letter || (is_lower(before) && i == 'I');
}

// In rising order; empty: some value is no whole number, or two are the same.
std::vector<float> different_whole_numbers(const Table& table, std::size_t place) {
  std::vector<float> numbers;
  numbers.reserve(table.rows());
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const float value = table.values[row * table.columns + place];
    if (!std::isfinite(value) || value != std::floor(value)) return {};
    numbers.push_back(value);
  }
  std::sort(numbers.begin(), numbers.end());
  if (std::adjacent_find(numbers.begin(), numbers.end()) != numbers.end()) return {};
  return numbers;
}

}  // namespace

std::vector<std::string> id_columns(const LoadedTables& tables) {
  std::vector<std::string> columns;
  if (tables.train.sparse || tables.train.rows() < kRowsMin) return columns;
  std::size_t place = 0;
  for (const FeatureColumn& feature : tables.encoding.features) {
    const std::size_t first = place;
    place += feature.width();
    if (feature.kind != ColumnKind::numeric) continue;
    const std::vector<float> numbers = different_whole_numbers(tables.train, first);
    if (numbers.empty()) continue;
    const double span = static_cast<double>(numbers.back()) - static_cast<double>(numbers.front()) + 1;
    const bool counts = span <= kNumbersPerRowMax * static_cast<double>(tables.rows());
    if (counts || is_named_as_id(feature.name)) columns.push_back(feature.name);
  }
  return columns;
}

}  // namespace tuneband::workers

#include "workers/data/data_queries.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <vector>

namespace tuneband::workers {

namespace {

// The number of each row's group, from 0 in the order of first rows; in each file groups begin anew.
std::vector<std::size_t> group_numbers(const Table& table) {
  std::vector<std::size_t> numbers;
  std::unordered_map<std::uint64_t, std::size_t> known;
  std::size_t next = 0;
  auto file_end = table.file_ends.begin();
  for (std::size_t row = 0; row < table.rows(); ++row) {
    for (; file_end != table.file_ends.end() && *file_end <= row; ++file_end) known.clear();
    const auto [number, is_new] = known.emplace(table.groups[row], next);
    if (is_new) ++next;
    numbers.push_back(number->second);
  }
  return numbers;
}

void make_queries(Table& table) {
  if (table.groups.empty()) return;
  const std::vector<std::size_t> numbers = group_numbers(table);
  std::vector<unsigned> sizes(*std::max_element(numbers.begin(), numbers.end()) + 1);
  for (const std::size_t number : numbers) ++sizes[number];
  if (!std::is_sorted(numbers.begin(), numbers.end())) {
    std::vector<std::size_t> order(numbers.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return numbers[a] < numbers[b]; });
    Table sorted = empty_like(table);
    for (const std::size_t row : order) append_row(table, row, sorted);
    sorted.file_ends = std::move(table.file_ends);
    table = std::move(sorted);
  }
  table.query_sizes = std::move(sizes);
}

}  // namespace

void make_queries(LoadedTables& tables) {
  for (Table* part : tables.parts()) make_queries(*part);
}

}  // namespace tuneband::workers

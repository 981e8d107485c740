#include "workers/data/data_shards.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

namespace tuneband::workers {

namespace {

// Where each part that is given to one rank ends: a row, a query or a file.
std::vector<std::size_t> part_ends(const LoadedTables& tables, Sharding sharding) {
  if (sharding == Sharding::files) return tables.train.file_ends;
  const Table& table = tables.train;
  std::vector<std::size_t> ends(table.query_sizes.empty() ? table.rows() : table.query_sizes.size(), 1);
  if (!table.query_sizes.empty()) ends.assign(table.query_sizes.begin(), table.query_sizes.end());
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  return ends;
}

// Calls `take(part, begin, end)` for each part of the rank, with its rows.
template <class Take>
void for_each_part(const std::vector<std::size_t>& ends, int rank, int world_size, const Take& take) {
  for (std::size_t part = static_cast<std::size_t>(rank); part < ends.size(); part += static_cast<std::size_t>(world_size)) {
    take(part, part == 0 ? 0 : ends[part - 1], ends[part]);
  }
}

// The sizes of the queries that begin in rows `begin` to `end`.
void append_queries(const Table& from, std::size_t begin, std::size_t end, Table& to) {
  std::size_t row = 0;
  for (const unsigned size : from.query_sizes) {
    if (row >= end) return;
    if (row >= begin) to.query_sizes.push_back(size);
    row += size;
  }
}

bool lacks_a_value(const Table& table, std::size_t row) {
  const auto [begin, end] = values_of_row(table, row);
  return end - begin < table.columns ||
         std::any_of(&table.values[begin], &table.values[begin] + (end - begin), [](float value) { return std::isnan(value); });
}

// A row that lacks a value, for ranks that have none.
struct LentRow {
  std::size_t row = 0;
  std::vector<int> to;
};

// Nothing: all ranks have such a row, or none has.
std::optional<LentRow> lent_row(const Table& table, const std::vector<std::size_t>& ends, int world_size) {
  std::optional<std::size_t> found;
  std::vector<int> without;
  for (int rank = 0; rank < world_size; ++rank) {
    std::optional<std::size_t> its;
    bool has_rows = false;
    for_each_part(ends, rank, world_size, [&](std::size_t, std::size_t begin, std::size_t end) {
      has_rows = has_rows || begin < end;
      for (std::size_t row = begin; row < end && !its; ++row) {
        if (lacks_a_value(table, row)) its = row;
      }
    });
    if (!found) found = its;
    if (!its && has_rows) without.push_back(rank);
  }
  if (!found || without.empty()) return std::nullopt;
  return LentRow{*found, std::move(without)};
}

// Where among the rank's rows a row of the table is, if there.
std::optional<std::size_t> place_of(std::size_t row, const std::vector<std::size_t>& ends, int rank, int world_size) {
  std::optional<std::size_t> place;
  std::size_t before = 0;
  for_each_part(ends, rank, world_size, [&](std::size_t, std::size_t begin, std::size_t end) {
    if (begin <= row && row < end) place = before + row - begin;
    before += end - begin;
  });
  return place;
}

}  // namespace

Table shard_of(const LoadedTables& tables, Sharding sharding, int rank, int world_size) {
  const Table& table = tables.train;
  Table shard = empty_like(table);
  const bool by_query = !table.query_sizes.empty() && sharding == Sharding::rows;
  for_each_part(part_ends(tables, sharding), rank, world_size, [&](std::size_t part, std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) append_row(table, row, shard);
    if (by_query) {
      shard.query_sizes.push_back(table.query_sizes[part]);
    } else {
      append_queries(table, begin, end, shard);
    }
  });
  return shard;
}

Table shard_in_step(const LoadedTables& tables, Sharding sharding, int rank, int world_size) {
  const Table& table = tables.train;
  Table shard = shard_of(tables, sharding, rank, world_size);
  const std::vector<std::size_t> ends = part_ends(tables, sharding);
  const auto lent = lent_row(table, ends, world_size);
  if (!lent) return shard;
  auto place = place_of(lent->row, ends, rank, world_size);
  if (std::find(lent->to.begin(), lent->to.end(), rank) != lent->to.end()) {
    place = shard.rows();
    append_row(table, lent->row, shard);
    if (!table.query_sizes.empty()) shard.query_sizes.push_back(1);
  }
  if (!table.query_sizes.empty()) return shard;
  if (shard.weights.empty()) shard.weights.assign(shard.rows(), 1);
  if (place) shard.weights[*place] /= static_cast<float>(1 + lent->to.size());
  return shard;
}

}  // namespace tuneband::workers

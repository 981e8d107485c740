#include "workers/data/data_shards.hpp"

#include <numeric>

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

// The sizes of the queries that begin in rows `begin` to `end`.
void append_queries(const Table& from, std::size_t begin, std::size_t end, Table& to) {
  std::size_t row = 0;
  for (const unsigned size : from.query_sizes) {
    if (row >= end) return;
    if (row >= begin) to.query_sizes.push_back(size);
    row += size;
  }
}

}  // namespace

Table shard_of(const LoadedTables& tables, Sharding sharding, int rank, int world_size) {
  const Table& table = tables.train;
  Table shard = empty_like(table);
  const std::vector<std::size_t> ends = part_ends(tables, sharding);
  const bool by_query = !table.query_sizes.empty() && sharding == Sharding::rows;
  for (std::size_t part = static_cast<std::size_t>(rank); part < ends.size(); part += static_cast<std::size_t>(world_size)) {
    const std::size_t begin = part == 0 ? 0 : ends[part - 1];
    for (std::size_t row = begin; row < ends[part]; ++row) append_row(table, row, shard);
    if (by_query) {
      shard.query_sizes.push_back(table.query_sizes[part]);
    } else {
      append_queries(table, begin, ends[part], shard);
    }
  }
  return shard;
}

}  // namespace tuneband::workers

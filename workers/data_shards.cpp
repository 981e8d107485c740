#include "workers/data_shards.hpp"

namespace tuneband::workers {

namespace {

void append_row(const Table& from, std::size_t row, Table& to) {
  to.labels.push_back(from.labels[row]);
  const auto offset = [](std::size_t index) { return static_cast<std::ptrdiff_t>(index); };
  const std::size_t begin = from.sparse ? from.row_starts[row] : row * from.columns;
  const std::size_t end = from.sparse ? from.row_starts[row + 1] : begin + from.columns;
  to.values.insert(to.values.end(), from.values.begin() + offset(begin), from.values.begin() + offset(end));
  if (!from.sparse) return;
  to.entry_columns.insert(to.entry_columns.end(), from.entry_columns.begin() + offset(begin),
                          from.entry_columns.begin() + offset(end));
  to.row_starts.push_back(to.values.size());
}

}  // namespace

Table shard_of(const Table& table, int rank, int world_size) {
  const auto first = static_cast<std::size_t>(rank);
  const auto step = static_cast<std::size_t>(world_size);
  Table shard;
  shard.columns = table.columns;
  shard.sparse = table.sparse;
  if (table.sparse) shard.row_starts.push_back(0);
  if (table.query_sizes.empty()) {
    for (std::size_t row = first; row < table.rows(); row += step) append_row(table, row, shard);
    return shard;
  }
  std::size_t row = 0;
  for (std::size_t query = 0; query < table.query_sizes.size(); ++query) {
    const std::size_t end = row + table.query_sizes[query];
    const bool mine = query % step == first;
    if (mine) shard.query_sizes.push_back(table.query_sizes[query]);
    for (; row < end; ++row) {
      if (mine) append_row(table, row, shard);
    }
  }
  return shard;
}

}  // namespace tuneband::workers

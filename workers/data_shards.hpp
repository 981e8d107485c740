// The part of a table that one rank of a group trains on.
#pragma once

#include "workers/data_table.hpp"

namespace tuneband::workers {

// Every world_size-th row, from row `rank` on; where rows belong to queries, every world_size-th query.
Table shard_of(const Table& table, int rank, int world_size);

}  // namespace tuneband::workers

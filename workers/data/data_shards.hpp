// The part of a table that one rank of a group trains on.
#pragma once

#include "workers/data/data_table.hpp"

namespace tuneband::workers {

// Of tables.train. By rows: every world_size-th, from row `rank` on; where rows belong to queries, every world_size-th query. By
// files: the rows of every world_size-th training file.
Table shard_of(const LoadedTables& tables, Sharding sharding, int rank, int world_size);

}  // namespace tuneband::workers

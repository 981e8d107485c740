// The part of a table that one rank of a group trains on.
#pragma once

#include "workers/data/data_table.hpp"

namespace tuneband::workers {

// Of tables.train. By rows: every world_size-th, from row `rank` on; where rows belong to queries, every world_size-th query. By
// files: the rows of every world_size-th training file.
Table shard_of(const LoadedTables& tables, Sharding sharding, int rank, int world_size);

// The same for ranks that train together. With `hist`, XGBoost 1.7 skips a step that takes all ranks where a rank has a value in
// every cell: if others lack one, they wait for each other for ever (https://github.com/dmlc/xgboost/issues/9271). So a row that
// lacks one is lent to such ranks, and its weight is shared among all that have it, which changes no sum. Queries have no such
// weights: there it is lent as a query of one row, which has no pairs.
Table shard_in_step(const LoadedTables& tables, Sharding sharding, int rank, int world_size);

}  // namespace tuneband::workers

// The queries of rankings whose rows are in groups.
#pragma once

#include "workers/data/data_table.hpp"

namespace tuneband::workers {

// Makes each group a query: its rows follow one another, in the order of its first row and of theirs. A group in two training
// files is two queries, so that files can be shared out. Does nothing where rows have no groups.
void make_queries(LoadedTables& tables);

}  // namespace tuneband::workers

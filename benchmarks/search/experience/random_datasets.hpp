// Data sets of random structure, from which it is learned where good configurations of XGBoost lie. None is one of the
// real benchmark's (../real), which judges what was learned.
#pragma once

#include "benchmarks/search/real/datasets.hpp"

namespace tuneband {

// The `index`-th: its task, rows, features, signal and noise are drawn; nothing but this code decides it. The search space is
// wider than a user's would be, the metric any of those that users name. `large`: eight times as many rows to train on, five
// times as many to validate on.
RealDataset random_dataset(std::size_t index, bool large = false);

// After how many rounds its full trainings end: 27, 81 or 243.
std::int64_t rounds_of_random_dataset(std::size_t index);

}  // namespace tuneband

// The memory that a job's XGBoost trainings will take, before the first of them: data and histograms, of all workers at once.
#pragma once

#include "core/error.hpp"
#include "core/json.hpp"
#include "jobs/trainer_spec.hpp"
#include "workers/data/data_table.hpp"

namespace tuneband::workers {

// The machine that a job is checked on, and how many workers share it.
struct CheckedMachine {
  double cores = 1;
  double memory_bytes = 0;
  int workers = 1;
};
// Of which its control groups may leave this process less.
CheckedMachine this_machine(int workers);

// Bytes that a worker needs to read the data and to hand it to XGBoost; of a sample, what the whole would need.
double memory_to_load(const LoadedTables& tables);

// Bins of all features together: of each as many as it has values, at most `max_bin`.
double bins_of(const Table& table, int max_bin);

// What `hist` keeps of a tree while it grows: a pair of doubles for each bin in each node that is split, of which there are at
// most 2^max_depth and at most one a row. Measured with XGBoost 1.7.4: 50 features of 256 bins, 20,000 rows: 0.9 of it at depth
// 10, half of it at depth 12, where rows run out first.
double histogram_bytes(int max_depth, double rows, double bins);

// What a training keeps of each row and output (a class has one of its own): margin, gradient pair and their copies for the
// metrics; of a validation row no gradient. Measured with XGBoost 1.7.4, 200,000 rows of 50 and 100 classes, a quarter of them
// for validation besides: 0.97 of it.
double margin_bytes(double train_rows, double validation_rows, int outputs);

// How many of the workers train at once, and not only hold data: as many as max_parallel_trials of so many replicas take.
int training_at_once(const Json& job, int replicas, int workers);

// Warns where one worker needs more than the machine has, or all of them together.
void check_memory(const LoadedTables& tables, const CheckedMachine& machine, Diagnostics& diagnostics);
// The same of what the trainings need besides the data: `training` of the machine's workers at once.
void check_training_memory(const XgboostSpec& spec, const Json& job, const LoadedTables& tables, const CheckedMachine& machine,
                           int training, Diagnostics& diagnostics);

}  // namespace tuneband::workers

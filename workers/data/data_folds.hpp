// The rows of a table in folds, for cross-validation.
#pragma once

#include <vector>

#include "core/error.hpp"
#include "jobs/xgboost_parameters.hpp"
#include "workers/data/data_table.hpp"
#include "workers/data/label_check.hpp"

namespace tuneband::workers {

// Whether the folds have the classes in equal shares: of classification, whose labels are whole numbers.
bool are_stratified(XgboostTask task, const DataLabels& labels);

// The fold that holds each row out, from 0. A function of the seed, the rows' numbers and, where stratified, their labels. Rows
// of a query or a group stay together, and nothing is stratified then. Of groups the largest is dealt out first, to the fold with
// the fewest rows. Else the numbers of rows (of queries) of two folds differ by 1 at most; so
// do, where stratified, those of each class (Kohavi 1995, "A study of cross-validation and bootstrap", section 2.2).
// Errors at "trainer.data.folds": fewer rows, queries, groups, or rows of a class, than folds; a fold whose rows all have the
// weight 0. `column` has the classes' texts.
Result<std::vector<int>> folds_of_rows(const Table& table, const FoldsSpec& spec, bool stratified,
                                       const LabelColumn& column = {});

// What one fold trains on and holds out: rows of the table, in its order, and the sizes of their queries where it has any.
struct FoldRows {
  std::vector<int> train;
  std::vector<int> validation;
  std::vector<unsigned> train_queries;
  std::vector<unsigned> validation_queries;
};

FoldRows rows_of_fold(const Table& table, const std::vector<int>& folds, int fold);

}  // namespace tuneband::workers

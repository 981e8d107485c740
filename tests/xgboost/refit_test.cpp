#include "workers/xgboost/refit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tuneband::workers {
namespace {

using testing::ElementsAre;

TEST(Refit, HasAsManyRoundsForEachRowUpToTwiceAsMany) {
  EXPECT_EQ(refit_rounds(8, 600, 900), 12);
  EXPECT_EQ(refit_rounds(3, 80, 100), 4) << "of 3.75";
  EXPECT_EQ(refit_rounds(1, 80, 100), 1);
  EXPECT_EQ(refit_rounds(5, 100, 200), 10);
  EXPECT_EQ(refit_rounds(5, 100, 1000), 10);
}

TEST(Refit, IsOfTheRowsOfBothTablesWithTheirWeightsAndQueries) {
  Table train;
  train.columns = 2;
  train.sparse = true;
  train.labels = {0, 1, 1};
  train.weights = {1, 2, 3};
  train.row_starts = {0, 1, 3, 3};
  train.values = {10, 20, 21};
  train.entry_columns = {0, 0, 1};
  train.query_sizes = {2, 1};
  Table validation = empty_like(train);
  validation.labels = {5};
  validation.weights = {4};
  validation.row_starts = {0, 1};
  validation.values = {30};
  validation.entry_columns = {1};
  validation.query_sizes = {1};
  const Table all = all_rows(train, validation);
  EXPECT_EQ(all.rows(), 4U);
  EXPECT_THAT(all.labels, ElementsAre(0, 1, 1, 5));
  EXPECT_THAT(all.weights, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(all.values, ElementsAre(10, 20, 21, 30));
  EXPECT_THAT(all.entry_columns, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(all.row_starts, ElementsAre(0, 1, 3, 3, 4));
  EXPECT_THAT(all.query_sizes, ElementsAre(2, 1, 1));
}

}  // namespace
}  // namespace tuneband::workers

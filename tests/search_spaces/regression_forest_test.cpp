#include "search_spaces/regression_forest.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tuneband {
namespace {

TEST(RegressionForest, SplitsBetweenNeighbouringNumbers) {
  for (const double lower : {0.5, std::nextafter(0.5, 1)}) {
    const double upper = std::nextafter(lower, 1);
    const std::vector<const double*> points{&lower, &lower, &upper, &upper};
    const RegressionForest forest({RegressionForest::Kind::number}, points, {0, 0, 1, 1},
                                  {.trees = 1, .leaf_min = 1, .bootstrap = false}, 1);
    EXPECT_EQ(forest.predict(&lower).mean, 0);
    EXPECT_EQ(forest.predict(&upper).mean, 1);
  }
}

}  // namespace
}  // namespace tuneband

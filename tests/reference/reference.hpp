// A second implementation of what the samplers and rankings compute: reference.py, with NumPy.
#pragma once

#include "core/json.hpp"
#include "search_spaces/regression_forest.hpp"

namespace tuneband::test {

// The answer to `question`, whose "what" names a function of reference.py. Fails the test where there is none.
Json reference(Json question);

// The nodes of each tree.
Json trees_of(const RegressionForest& forest);

}  // namespace tuneband::test

// Search spaces for tests, written as a user writes them.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "search_spaces/search_space.hpp"

namespace tuneband::testing_spaces {

inline SearchSpace space_of(const std::string& text) {
  Diagnostics diagnostics;
  SearchSpace space = SearchSpace::parse(Json::parse(text), "search_space", diagnostics);
  for (const Error& error : diagnostics.errors()) ADD_FAILURE() << describe(error);
  return space;
}

// Three levels of conditions: rate_drop under booster, one_drop under normalize_type under booster.
inline SearchSpace boosters() {
  return space_of(R"({
    "booster": {"type": "categorical", "values": ["gbtree", "dart", "gblinear"]},
    "eta": {"type": "float", "min": 0.01, "max": 1, "scale": "log"},
    "max_depth": {"type": "int", "min": 1, "max": 4, "when": {"booster": ["gbtree", "dart"]}},
    "normalize_type": {"type": "categorical", "values": ["tree", "forest"], "when": {"booster": "dart"}},
    "a_drop": {"type": "float", "min": 0, "max": 1, "when": {"normalize_type": ["forest"]}},
    "lambda": 1})");
}

}  // namespace tuneband::testing_spaces

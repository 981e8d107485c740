// What a model may do with its features: XGBoost's `monotone_constraints` and `interaction_constraints`, as a job says them. By
// the places of the features, as XGBoost reads it ("(1,0,-1)", "[[0, 1], [2]]"), or by the names of columns ({"age": 1},
// [["age", "job"], ["balance"]]), which the worker that has the data makes places of.
#pragma once

#include <string>
#include <string_view>

#include "core/json.hpp"

namespace tuneband {

// The directions that a feature's influence may have.
inline constexpr int kFalls = -1;
inline constexpr int kRises = 1;

// As text, which is what parameters are: XGBoost's own, or JSON.
std::string fault_of_monotone_constraints(std::string_view text);
std::string fault_of_interaction_constraints(std::string_view text);

// Of a text without fault the JSON: of monotone constraints an object by names or a list by places, of interaction constraints a
// list of lists of both; "" is an empty list.
Json constraints_from(std::string_view text);

}  // namespace tuneband

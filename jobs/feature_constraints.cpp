#include "jobs/feature_constraints.hpp"

#include <algorithm>

#include "core/text.hpp"

namespace tuneband {

namespace {

constexpr const char* kMonotone =
    R"(expected 1 (rises), 0 or -1 (falls) for each column, as {"age": 1}, or for each feature, as (1,0,-1))";
constexpr const char* kInteraction =
    R"(expected lists of columns, as [["age", "job"], ["balance"]], or of the places of features, as [[0, 1], [2]])";

std::string but_got(const char* expected, std::string_view text) {
  constexpr std::size_t kShownMax = 100;
  return std::string(expected) + ", got " + shortened(std::string(text), kShownMax);
}

bool is_direction(const Json& value) { return value.is_number_integer() && value >= kFalls && value <= kRises; }

bool is_feature(const Json& value) { return value.is_string() || (value.is_number_integer() && value >= 0); }

bool is_group(const Json& value) { return value.is_array() && std::all_of(value.begin(), value.end(), is_feature); }

}  // namespace

Json constraints_from(std::string_view text) {
  if (text.empty()) return Json::array();
  std::string json(text);
  if (json.front() == '(' && json.back() == ')') {
    json.front() = '[';
    json.back() = ']';
  }
  return Json::parse(json, nullptr, false);
}

std::string fault_of_monotone_constraints(std::string_view text) {
  const Json json = constraints_from(text);
  const bool fits = (json.is_array() || json.is_object()) && std::all_of(json.begin(), json.end(), is_direction);
  return fits ? "" : but_got(kMonotone, text);
}

std::string fault_of_interaction_constraints(std::string_view text) {
  const Json json = constraints_from(text);
  const bool fits = json.is_array() && std::all_of(json.begin(), json.end(), is_group);
  return fits ? "" : but_got(kInteraction, text);
}

}  // namespace tuneband

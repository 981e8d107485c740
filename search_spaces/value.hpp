// A hyperparameter's value and a configuration: what one trial is given.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>

#include "core/json.hpp"

namespace tuneband {

using Value = std::variant<bool, std::int64_t, double, std::string>;

// Values by parameter name. An inactive conditional parameter is absent.
using Configuration = std::map<std::string, Value>;

std::string to_string(const Value& value);  // as in argv: 3, 0.1, true, gbtree
Json to_json(const Value& value);
Json to_json(const Configuration& configuration);

// A scalar (finite number, text, boolean), or nothing.
std::optional<Value> value_from_json(const Json& json);

// The inverse of to_json for documents that we wrote ourselves. Aborts on anything else.
Configuration configuration_from_json(const Json& json);

}  // namespace tuneband

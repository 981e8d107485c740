// A hyperparameter's value and a configuration: what one trial is given.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
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

inline constexpr std::size_t kValueTextSizeMax = 1000;  // bytes

// A scalar, or nothing: a finite number, a boolean, or a text of at most kValueTextSizeMax bytes without a NUL (a command's
// argument or an XGBoost parameter could not carry one). An integer beyond 64 bits with sign is nothing too.
std::optional<Value> value_from_json(const Json& json);

// The inverse of to_json for documents that we wrote ourselves. Aborts on anything else.
Configuration configuration_from_json(const Json& json);

// Nothing for a text or a boolean.
std::optional<double> number_of(const Value& value);

// Equal, where 1 and 1.0 are the same number. A text or a boolean never equals a number.
bool same(const Value& a, const Value& b);

}  // namespace tuneband

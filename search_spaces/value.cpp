#include "search_spaces/value.hpp"

#include <cmath>
#include <limits>

#include "core/check.hpp"
#include "core/text.hpp"

namespace tuneband {

std::string to_string(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* number = std::get_if<double>(&value)) return format_number(*number);
  return std::get<std::string>(value);
}

Json to_json(const Value& value) {
  return std::visit([](const auto& held) { return Json(held); }, value);
}

Json to_json(const Configuration& configuration) {
  Json json = Json::object();
  for (const auto& [name, value] : configuration) json[name] = to_json(value);
  return json;
}

std::optional<Value> value_from_json(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_unsigned()) {
    const auto number = json.get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
    return static_cast<std::int64_t>(number);
  }
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number_float()) {
    const double number = json.get<double>();
    if (!std::isfinite(number)) return std::nullopt;
    return number;
  }
  if (json.is_string()) {
    const auto& text = json.get_ref<const std::string&>();
    if (text.size() > kValueTextSizeMax || text.find('\0') != std::string::npos) return std::nullopt;
    return text;
  }
  return std::nullopt;
}

Configuration configuration_from_json(const Json& json) {
  TUNEBAND_CHECK(json.is_object(), "a stored configuration is an object");
  Configuration configuration;
  for (const auto& [name, value] : json.items()) {
    const auto read = value_from_json(value);
    TUNEBAND_CHECK(read.has_value(), "a stored value is a scalar");
    configuration.emplace(name, *read);
  }
  return configuration;
}

std::optional<double> number_of(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  return std::nullopt;
}

bool same(const Value& a, const Value& b) {
  const auto* a_number = std::get_if<double>(&a);
  const auto* b_number = std::get_if<double>(&b);
  const auto* a_integer = std::get_if<std::int64_t>(&a);
  const auto* b_integer = std::get_if<std::int64_t>(&b);
  if (a_number && b_integer) return *a_number == static_cast<double>(*b_integer);
  if (a_integer && b_number) return static_cast<double>(*a_integer) == *b_number;
  return a == b;
}

}  // namespace tuneband

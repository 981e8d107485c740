#include "tests/api/api_description.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

namespace tuneband::test {

namespace {

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  std::istringstream stream(path.substr(0, path.find('?')));
  for (std::string part; std::getline(stream, part, '/');) parts.push_back(part);
  return parts;
}

bool fits(const std::string& pattern, const std::string& target) {
  const auto expected = parts_of(pattern);
  const auto given = parts_of(target);
  if (expected.size() != given.size()) return false;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!expected[i].starts_with('{') && expected[i] != given[i]) return false;
  }
  return true;
}

bool is_of_type(const Json& value, const std::string& type) {
  if (type == "null") return value.is_null();
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  return type == "number" && value.is_number();
}

std::string mismatch(const std::string& place, const Json& expected, const Json& value) {
  return place + ": expected " + expected.dump() + ", got " + value.dump().substr(0, 200);
}

}  // namespace

const ApiDescription& ApiDescription::ours() {
  static const ApiDescription description = [] {
    std::ifstream file(TUNEBAND_SOURCE_DIR "/server/openapi.json");
    return ApiDescription(Json::parse(file));
  }();
  return description;
}

const Json& ApiDescription::resolved(const Json& value) const {
  const auto reference = value.find("$ref");
  return reference == value.end() ? value : resolved(document_.at(Json::json_pointer(reference->get<std::string>().substr(1))));
}

const Json* ApiDescription::operation(const std::string& method, const std::string& target) const {
  std::string name = method;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const auto& [pattern, operations] : document_.at("paths").items()) {
    if (fits(pattern, target) && operations.contains(name)) return &operations.at(name);
  }
  return nullptr;
}

std::string ApiDescription::fault_of(const SentReply& reply) const {
  const bool json = reply.body.starts_with('{');
  if (reply.status >= 400) return json ? fault_of_shape(Json::parse(reply.body), "Error") : "";
  const Json* route = operation(reply.method, reply.target);
  if (route == nullptr) return "";
  const auto& responses = route->at("responses");
  const auto described = responses.find(std::to_string(reply.status));
  if (described == responses.end()) return "status " + std::to_string(reply.status) + " is not described";
  if (!json) return "";
  const Json& content = resolved(*described).value("content", Json::object());
  const auto kind = content.find("application/json");
  return kind == content.end() ? "" : fault_of(Json::parse(reply.body), kind->at("schema"));
}

std::vector<std::string> ApiDescription::shapes() const {
  std::vector<std::string> names;
  for (const auto& [name, schema] : document_.at("components").at("schemas").items()) names.push_back(name);
  return names;
}

std::string ApiDescription::fault_of_shape(const Json& value, const std::string& name) const {
  return fault_of(value, document_.at("components").at("schemas").at(name));
}

std::string ApiDescription::fault_of(const Json& value, const Json& schema) const { return fault_at("", value, schema); }

// Of "allOf" one schema with the fields of all.
Json ApiDescription::merged(const Json& schema) const {
  Json all = {{"type", "object"}, {"properties", Json::object()}, {"required", Json::array()}};
  for (const Json& part : schema.at("allOf")) {
    const Json& one = resolved(part);
    const Json whole = one.contains("allOf") ? merged(one) : one;
    all["properties"].update(whole.value("properties", Json::object()));
    for (const Json& field : whole.value("required", Json::array())) all["required"].push_back(field);
  }
  return all;
}

std::string ApiDescription::fault_at(const std::string& place, const Json& value, const Json& referring) const {
  const Json& schema = resolved(referring);
  if (schema.contains("allOf")) return fault_at(place, value, merged(schema));
  if (const auto choices = schema.find("oneOf"); choices != schema.end()) {
    std::string faults;
    for (const Json& choice : *choices) {
      const std::string fault = fault_at(place, value, choice);
      if (fault.empty()) return "";
      faults += (faults.empty() ? "" : "; or ") + fault;
    }
    return faults;
  }
  if (const auto constant = schema.find("const"); constant != schema.end() && value != *constant)
    return mismatch(place, *constant, value);
  if (const auto type = schema.find("type"); type != schema.end()) {
    const Json types = type->is_array() ? *type : Json::array({*type});
    const bool fit = std::any_of(types.begin(), types.end(), [&](const Json& one) { return is_of_type(value, one); });
    if (!fit) return mismatch(place, *type, value);
  }
  if (const auto choices = schema.find("enum"); choices != schema.end()) {
    if (std::find(choices->begin(), choices->end(), value) == choices->end()) return mismatch(place, *choices, value);
  }
  if (value.is_object()) return fault_of_object(place, value, schema);
  return value.is_array() ? fault_of_items(place, value, schema) : "";
}

std::string ApiDescription::fault_of_object(const std::string& place, const Json& value, const Json& schema) const {
  for (const Json& field : schema.value("required", Json::array())) {
    if (!value.contains(field.get<std::string>())) return place + ": lacks " + field.dump();
  }
  const Json properties = schema.value("properties", Json::object());
  const Json others = schema.value("additionalProperties", Json(properties.empty() && !schema.contains("required")));
  for (const auto& [name, field] : value.items()) {
    const std::string its = place + "/" + name;
    const auto described = properties.find(name);
    if (described == properties.end() && others == Json(false)) return its + ": is not described";
    const Json& schema_of_field = described != properties.end() ? *described : others;
    const std::string fault = schema_of_field.is_object() ? fault_at(its, field, schema_of_field) : "";
    if (!fault.empty()) return fault;
  }
  return "";
}

std::string ApiDescription::fault_of_items(const std::string& place, const Json& value, const Json& schema) const {
  if (value.size() < schema.value("minItems", std::size_t{0})) return place + ": has too few items";
  const auto items = schema.find("items");
  if (items == schema.end()) return "";
  for (std::size_t i = 0; i < value.size(); ++i) {
    const std::string fault = fault_at(place + "/" + std::to_string(i), value[i], *items);
    if (!fault.empty()) return fault;
  }
  return "";
}

}  // namespace tuneband::test

#include "core/masked_document.hpp"

#include "core/json.hpp"

namespace tuneband {

std::string masked_document(std::string_view document) {
  if (document.find("environment\"") == std::string_view::npos) return std::string(document);
  auto json = parse_json(document);
  if (!json || !json->is_object()) return "{}";
  const auto trainer = json->find("trainer");
  if (trainer == json->end() || !trainer->is_object()) return json->dump();
  const auto environment = trainer->find("environment");
  if (environment == trainer->end() || !environment->is_object()) return json->dump();
  for (Json& value : *environment) {
    if (!value.is_object()) value = kMaskedValue;
  }
  return json->dump();
}

}  // namespace tuneband

#include "cli/commands/document_changes.hpp"

#include <string_view>

#include "core/text.hpp"

namespace tuneband::cli {

namespace {

// {"a": {"b": value}} for "a.b".
Json nested(std::string_view path, Json value) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return Json{{std::string(path), std::move(value)}};
  return nested(path.substr(0, dot), Json{{std::string(path.substr(dot + 1)), std::move(value)}});
}

Outcome<Json> change_of(const std::string& text) {
  if (const std::string readable = valid_utf8(text); readable != text)
    return bad_input("expected UTF-8, got `" + readable + "`", "--set");
  const std::size_t sign = text.find('=');
  const std::string path = text.substr(0, sign);
  const bool has_gap = path.empty() || path.front() == '.' || path.back() == '.' || path.find("..") != std::string::npos;
  if (sign == std::string::npos || has_gap) {
    return bad_input("expected PATH=VALUE, got `" + text + "`", "--set", "like scheduler.max_resource=81");
  }
  auto value = parse_json(text.substr(sign + 1));
  return nested(path, value ? std::move(*value) : Json(text.substr(sign + 1)));
}

}  // namespace

void join_changes(Json& to, const Json& from) {
  for (const auto& [name, value] : from.items()) {
    if (value.is_object() && to.contains(name) && to[name].is_object()) {
      join_changes(to[name], value);
    } else {
      to[name] = value;
    }
  }
}

Outcome<Json> changes_in_words(const std::vector<std::string>& words) {
  Json changes = Json::object();
  for (const std::string& text : words) {
    const auto change = change_of(text);
    if (!change) return change.error();
    join_changes(changes, *change);
  }
  return changes;
}

}  // namespace tuneband::cli

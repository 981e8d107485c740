#include "analytics/flat_json.hpp"

#include <charconv>

namespace tuneband {

namespace {

// The text from `begin`, a quotation mark, up to the mark that ends it; empty when none does.
std::string_view quoted_at(std::string_view text, std::size_t begin) {
  if (text[begin] != '"') return {};
  for (std::size_t end = begin + 1; end < text.size(); ++end) {
    if (text[end] == '\\') {
      ++end;
    } else if (text[end] == '"') {
      return text.substr(begin, end + 1 - begin);
    }
  }
  return {};
}

// from_chars takes what JSON does not: "inf", "nan", ".5", "5.", "05".
bool is_number(std::string_view text) {
  std::size_t digits = text.starts_with('-') ? 1 : 0;
  const std::size_t first = digits;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
  if (digits == first || (text[first] == '0' && digits > first + 1)) return false;
  if (digits < text.size() && text[digits] == '.' &&
      !(digits + 1 < text.size() && text[digits + 1] >= '0' && text[digits + 1] <= '9'))
    return false;
  double number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  return fault == std::errc() && end == text.data() + text.size();
}

std::string_view value_at(std::string_view text, std::size_t begin) {
  if (text[begin] == '"') return quoted_at(text, begin);
  const std::string_view word = text.substr(begin, text.find_first_of(",}", begin) - begin);
  return word == "true" || word == "false" || is_number(word) ? word : std::string_view();
}

}  // namespace

bool read_flat_json(std::string_view text, std::vector<FlatMember>& members) {
  members.clear();
  if (text == "{}") return true;
  if (!text.starts_with('{') || !text.ends_with('}')) return false;  // which ends no name and no value: `at` stays within
  for (std::size_t at = 1;;) {
    const std::string_view name = quoted_at(text, at);
    at += name.size();
    if (name.empty() || text[at] != ':') return false;
    const std::string_view value = value_at(text, ++at);
    at += value.size();
    if (value.empty()) return false;
    members.push_back({name, value});
    if (text[at] == '}') return at + 1 == text.size();
    if (text[at++] != ',') return false;
  }
}

}  // namespace tuneband

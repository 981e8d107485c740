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
  constexpr std::string_view kDigits = "0123456789";
  const std::string_view number = text.substr(text.starts_with('-') ? 1 : 0);
  const auto digit_at = [&](std::size_t at) { return number.find_first_of(kDigits, at) == at; };
  if (!digit_at(0) || (number.starts_with('0') && digit_at(1))) return false;
  if (const std::size_t point = number.find('.'); point != std::string_view::npos && !digit_at(point + 1)) return false;
  double value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, fault] = std::from_chars(text.data(), last, value);
  return fault == std::errc() && end == last;
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

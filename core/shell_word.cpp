#include "core/shell_word.hpp"

#include <algorithm>

namespace tuneband {
namespace {

bool is_plain(char c) {
  const bool is_ascii = static_cast<unsigned char>(c) < 0x80;
  const bool is_letter_or_digit = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return !is_ascii || is_letter_or_digit || std::string_view("-_./:@%+,").find(c) != std::string_view::npos;
}

}  // namespace

std::string shell_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string shell_word(std::string_view text) {
  const bool is_plain_text = !text.empty() && std::all_of(text.begin(), text.end(), is_plain);
  return is_plain_text ? std::string(text) : shell_quoted(text);
}

}  // namespace tuneband

#include "analytics/cursor.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>

#include "core/decimal.hpp"

namespace tuneband {

namespace {

constexpr std::size_t kBitsDigits = 16;  // a double's bits in hexadecimal: decimal forms have a '+', which URLs read as a space

std::optional<std::int64_t> number_in(std::string_view text) {
  const std::optional<std::int64_t> number = whole_number(text);
  return number && *number >= 0 ? number : std::nullopt;
}

std::string hexadecimal(std::uint64_t bits) {
  std::array<char, kBitsDigits> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), bits, 16);
  return std::string(digits.data(), end);
}

std::optional<Cursor> value_cursor_from(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  std::uint64_t bits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + dash, bits, 16);
  const std::optional<std::int64_t> number = number_in(text.substr(dash + 1));
  if (error != std::errc() || end != text.data() + dash || !number) return std::nullopt;
  const double value = std::bit_cast<double>(bits);
  if (!std::isfinite(value)) return std::nullopt;
  return ValueCursor{value, *number};
}

}  // namespace

std::string to_text(const Cursor& cursor) {
  if (const auto* value = std::get_if<ValueCursor>(&cursor)) {
    return "v-" + hexadecimal(std::bit_cast<std::uint64_t>(value->value)) + "-" + std::to_string(value->number);
  }
  if (const auto* valueless = std::get_if<ValuelessCursor>(&cursor)) return "w-" + std::to_string(valueless->number);
  return "n-" + std::to_string(std::get<NumberCursor>(cursor).number);
}

std::optional<Cursor> cursor_from(std::string_view text) {
  if (text.size() < 3 || text[1] != '-') return std::nullopt;
  const std::string_view rest = text.substr(2);
  if (text[0] == 'v') return value_cursor_from(rest);
  const std::optional<std::int64_t> number = number_in(rest);
  if (!number) return std::nullopt;
  if (text[0] == 'n') return NumberCursor{*number};
  if (text[0] == 'w') return ValuelessCursor{*number};
  return std::nullopt;
}

}  // namespace tuneband

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

// "BITS-NUMBER".
std::string after_a_double(double value, std::int64_t number) {
  return hexadecimal(std::bit_cast<std::uint64_t>(value)) + "-" + std::to_string(number);
}

// A value cursor, or one of violations.
std::optional<Cursor> cursor_after_a_double(char kind, std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  std::uint64_t bits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + dash, bits, 16);
  const std::optional<std::int64_t> number = number_in(text.substr(dash + 1));
  if (error != std::errc() || end != text.data() + dash || !number) return std::nullopt;
  const double value = std::bit_cast<double>(bits);
  if (kind == 'x') return value > 0 ? std::optional<Cursor>(ViolationCursor{value, *number}) : std::nullopt;
  return std::isfinite(value) ? std::optional<Cursor>(ValueCursor{value, *number}) : std::nullopt;
}

}  // namespace

std::string to_text(const Cursor& cursor) {
  if (const auto* value = std::get_if<ValueCursor>(&cursor)) {
    return "v-" + after_a_double(value->value, value->number);
  }
  if (const auto* outside = std::get_if<ViolationCursor>(&cursor)) {
    return "x-" + after_a_double(outside->violation, outside->number);
  }
  if (const auto* valueless = std::get_if<ValuelessCursor>(&cursor)) return "w-" + std::to_string(valueless->number);
  return "n-" + std::to_string(std::get<NumberCursor>(cursor).number);
}

std::optional<Cursor> cursor_from(std::string_view text) {
  if (text.size() < 3 || text[1] != '-') return std::nullopt;
  const std::string_view rest = text.substr(2);
  if (text[0] == 'v' || text[0] == 'x') return cursor_after_a_double(text[0], rest);
  const std::optional<std::int64_t> number = number_in(rest);
  if (!number) return std::nullopt;
  if (text[0] == 'n') return NumberCursor{*number};
  if (text[0] == 'w') return ValuelessCursor{*number};
  return std::nullopt;
}

}  // namespace tuneband

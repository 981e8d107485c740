// Whole numbers in decimal.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tuneband {

// The whole of `text`, "007" too; nothing for "+1", "1.0", " 1" and what an Integer does not hold.
template <class Integer>
std::optional<Integer> integer_in(std::string_view text) {
  Integer number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// As a URL has them, one text for each number: "0", "-7", "42"; nothing for "007", "-0", "+1", "1e3", "1.0", " 1" and what 64
// bits do not hold.
inline std::optional<std::int64_t> whole_number(std::string_view text) {
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  if (digits.starts_with('0') && text != "0") return std::nullopt;
  return integer_in<std::int64_t>(text);
}

}  // namespace tuneband

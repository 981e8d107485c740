#include "workers/data/text_forms.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "workers/data/csv_columns.hpp"

namespace tuneband::workers {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr std::array<std::string_view, 5> kSigns{"%", "$", "€", "£", "¥"};

// Those of them in front and behind, with spaces between.
std::string_view without_signs(std::string_view text) {
  for (const std::string_view sign : kSigns) {
    if (text.starts_with(sign)) text = trim(text.substr(sign.size()));
    if (text.ends_with(sign)) text = trim(text.substr(0, text.size() - sign.size()));
  }
  return text;
}

bool is_number_with_signs(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  text = without_signs(text);
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) { return is_digit(c) || c == ',' || c == '.'; });
  return plain && !text.empty() && is_digit(text.back());
}

// Takes so many digits off, as many as there are up to `most`. 0: there is none.
std::size_t take_digits(std::string_view& text, std::size_t most) {
  std::size_t count = 0;
  while (count < std::min(most, text.size()) && is_digit(text[count])) ++count;
  text.remove_prefix(count);
  return count;
}

bool is_date(std::string_view text) {
  constexpr std::size_t kYearDigits = 4;
  const std::size_t first = take_digits(text, kYearDigits);
  if (first == 0 || text.empty()) return false;
  const char separator = text.front();
  if (separator != '-' && separator != '.' && separator != '/') return false;
  text.remove_prefix(1);
  const std::size_t second = take_digits(text, 2);
  if (second == 0 || !text.starts_with(separator)) return false;
  text.remove_prefix(1);
  const std::size_t third = take_digits(text, kYearDigits);
  const bool year_first = first == kYearDigits && (third == 1 || third == 2);
  const bool year_last = first <= 2 && (third == 2 || third == kYearDigits);
  return (year_first || year_last) && (text.empty() || text.front() == ' ' || text.front() == 'T');
}

}  // namespace

bool are_numbers_with_signs(const std::vector<std::string>& texts) {
  const auto has_sign = [](std::string_view text) {
    return text.find(',') != text.npos || std::ranges::any_of(kSigns, [text](auto sign) { return text.find(sign) != text.npos; });
  };
  return std::ranges::all_of(texts, is_number_with_signs) && std::ranges::any_of(texts, has_sign);
}

bool are_dates(const std::vector<std::string>& texts) {
  return !texts.empty() && std::all_of(texts.begin(), texts.end(), is_date);
}

}  // namespace tuneband::workers

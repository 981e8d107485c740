#include "workers/data/text_forms.hpp"

#include <algorithm>
#include <string_view>

namespace tuneband::workers {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_number_with_separators(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
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

bool are_numbers_with_commas(const std::vector<std::string>& texts) {
  return std::all_of(texts.begin(), texts.end(), is_number_with_separators) &&
         std::any_of(texts.begin(), texts.end(), [](const std::string& text) { return text.find(',') != std::string::npos; });
}

bool are_dates(const std::vector<std::string>& texts) {
  return !texts.empty() && std::all_of(texts.begin(), texts.end(), is_date);
}

}  // namespace tuneband::workers

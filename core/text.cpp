#include "core/text.hpp"

#include <fmt/format.h>
#include <utf8.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "core/ascii.hpp"
#include "core/time.hpp"

namespace tuneband {

std::string format_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return {buffer, end};
}

std::string short_number(double value) { return fmt::format("{:.6g}", value); }

std::string in_seconds(std::int64_t ms) { return short_number(seconds_of(ms)) + " s"; }

std::optional<double> parse_number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range && end == text.data() + text.size()) {
    // Too large or too small for a double: what strtod says, infinity or zero.
    return std::strtod(std::string(text).c_str(), nullptr);
  }
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

// By edit distance, upper and lower case being the same, when close enough to be meant.
std::optional<std::string> closest(std::string_view word, std::span<const std::string> candidates) {
  constexpr std::size_t kWordSizeMax = 100;  // a longer word is nobody's slip of the pen
  if (word.size() > kWordSizeMax) return std::nullopt;
  const std::string lower = lower_case(word);
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  std::optional<std::string> best;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(lower, lower_case(candidate));
    if (distance < best_distance && distance < std::max(word.size(), candidate.size())) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

// "maximize" for "max", where no other begins so.
std::optional<std::string> sole_beginning_with(std::string_view word, std::span<const std::string> candidates) {
  constexpr std::size_t kWordSizeMin = 3;
  const auto begins = [&](const std::string& candidate) { return word.size() >= kWordSizeMin && candidate.starts_with(word); };
  const auto found = std::find_if(candidates.begin(), candidates.end(), begins);
  const bool sole = found != candidates.end() && std::none_of(std::next(found), candidates.end(), begins);
  return sole ? std::optional(*found) : std::nullopt;
}

std::string asked_of(const std::optional<std::string>& found) { return found ? "did you mean `" + *found + "`?" : ""; }

}  // namespace

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
  const auto goes_on = [&](const std::string& candidate) {  // "asha_promotion" for "asha"
    return !word.empty() && candidate.size() > word.size() && candidate.starts_with(word) && candidate[word.size()] == '_';
  };
  const auto found = std::find_if(candidates.begin(), candidates.end(), goes_on);
  if (found != candidates.end()) return *found;
  auto mistyped = closest(word, candidates);
  return mistyped ? mistyped : sole_beginning_with(word, candidates);
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  return asked_of(nearest(word, candidates));
}

std::string did_you_mistype(std::string_view word, std::span<const std::string> candidates) {
  return asked_of(closest(word, candidates));
}

namespace {

std::string listed_words(std::span<const std::string> words, std::string_view before_last) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? before_last : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace

std::string one_of(std::span<const std::string> words) { return listed_words(words, " or "); }

std::string join_and(const std::vector<std::string>& words) { return listed_words(words, " and "); }

std::string format_resource(std::int64_t resource, std::string_view resource_name) {
  const bool plural = resource_name.size() > 1 && resource_name.back() == 's';
  const std::string_view name = resource == 1 && plural ? resource_name.substr(0, resource_name.size() - 1) : resource_name;
  return fmt::format("{} {}", resource, name);
}

std::string short_worker(std::string_view id) {
  constexpr std::size_t kSuffixSize = 16;
  if (id.size() <= kSuffixSize + 1 || id[id.size() - kSuffixSize - 1] != '-') return std::string(id);
  const std::string_view suffix = id.substr(id.size() - kSuffixSize);
  const bool hex = suffix.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return std::string(hex ? id.substr(0, id.size() - kSuffixSize - 1) : id);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end = text.find(separator); end != std::string_view::npos; end = text.find(separator)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) text.replace(at, what.size(), by);
  return text;
}

std::string shortened(std::string text, std::size_t size_max) {
  if (text.size() <= size_max) return text;
  const auto continues = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U; };
  std::size_t end = size_max;
  while (end > 0 && continues(end)) --end;
  return text.substr(0, end) + "...";
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return text;
}

std::string valid_utf8(std::string_view text) {
  std::string valid;
  utf8::replace_invalid(text.begin(), text.end(), std::back_inserter(valid));
  return valid;
}

}  // namespace tuneband
